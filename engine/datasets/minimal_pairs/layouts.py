"""The layouts that minimal pairs are published in: which columns hold the sentences, and which sort the pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from engine.datasets.formats.columns import JOIN, fold

OTHER = "two sentence columns"
# A column that is not known sorts pairs when its values repeat: at most so many, each for two pairs on average.
MOST_VALUES = 200


@dataclass(frozen=True)
class PairFormat:
    """One published layout; names as `columns.fold` leaves them.

    `fields`: columns that sort its pairs, `hidden`: columns that do not although their values repeat.
    `stereotypes`: A is the sentence that stereotypes more, not a better one.
    """

    name: str
    acceptable: str
    unacceptable: str
    fields: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    stereotypes: bool = False


FORMATS: Mapping[str, PairFormat] = {form.name: form for form in (
    PairFormat("BLiMP", "sentence_good", "sentence_bad", ("uid", "field", "linguistics_term"), ("pairid",)),
    PairFormat("JBLiMP", "good_sentence", "bad_sentence", ("type", "phenomenon", "phenomenon_2", "paradigm"), ("id",)),
    PairFormat("CrowS-Pairs", "sent_more", "sent_less", ("bias_type", "stereo_antistereo"),
               ("annotations", "anon_writer", "anon_annotators"), stereotypes=True),
    PairFormat("COMPS", f"prefix_acceptable{JOIN}property_phrase", f"prefix_unacceptable{JOIN}property_phrase",
               ("negative_sample_type", "distraction_type", "property", "acceptable_concept", "unacceptable_concept"),
               ("prefix_acceptable", "prefix_unacceptable", "property_phrase", "id")),
)}


def recognised(acceptable: str, unacceptable: str) -> str:
    """The name of the layout whose sentences stand in these columns, or OTHER.

    >>> recognised("sent_more", "sent_less"), recognised("good", "bad")
    ('CrowS-Pairs', 'two sentence columns')
    """
    folded = tuple(JOIN.join(map(fold, column.split(JOIN))) for column in (acceptable, unacceptable))
    return next((form.name for form in FORMATS.values() if (form.acceptable, form.unacceptable) == folded), OTHER)


def is_about_stereotypes(formats: Sequence[str]) -> bool:
    """Whether all pairs stand in a layout that asks for stereotypes; False for no pairs."""
    return bool(formats) and all(name in FORMATS and FORMATS[name].stereotypes for name in set(formats))


def field_columns(frame: pd.DataFrame, format_name: str, taken: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table that sort its pairs, in the order of the file.

    Those that the layout is published with, and others whose values repeat; never the sentences' own (`taken`).
    """
    form = FORMATS.get(format_name)
    known, hidden = (form.fields, form.hidden) if form else ((), ())

    def sorts(column: str) -> bool:
        name = fold(column)
        if column in taken or name in hidden:
            return False
        n_values = frame[column].nunique()
        return name in known or (n_values <= MOST_VALUES and 2 * n_values <= len(frame))

    return tuple(str(column) for column in frame.columns if sorts(str(column)))
