"""The layouts of published minimal pairs: which columns hold the sentences, and which group the pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from engine.datasets.formats.columns import JOIN, normalize_name

OTHER = "two sentence columns"
# Any other column groups pairs if its values repeat: at most so many, each for two pairs on average.
MAX_GROUPS = 200


@dataclass(frozen=True)
class PairFormat:
    """One published layout; names as `columns.normalize_name` returns them.

    `fields`: columns that group its pairs, `hidden`: columns that do not although their values repeat.
    `stereotypes`: A is the sentence that stereotypes more, not the better one.
    """

    name: str
    acceptable: str
    unacceptable: str
    fields: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    stereotypes: bool = False


FORMATS: Mapping[str, PairFormat] = {pair_format.name: pair_format for pair_format in (
    PairFormat("BLiMP", "sentence_good", "sentence_bad", ("uid", "field", "linguistics_term"), ("pairid",)),
    PairFormat("JBLiMP", "good_sentence", "bad_sentence", ("type", "phenomenon", "phenomenon_2", "paradigm"), ("id",)),
    PairFormat("CrowS-Pairs", "sent_more", "sent_less", ("bias_type", "stereo_antistereo"),
               ("annotations", "anon_writer", "anon_annotators"), stereotypes=True),
    PairFormat("COMPS", f"prefix_acceptable{JOIN}property_phrase", f"prefix_unacceptable{JOIN}property_phrase",
               ("negative_sample_type", "distraction_type", "property", "acceptable_concept", "unacceptable_concept"),
               ("prefix_acceptable", "prefix_unacceptable", "property_phrase", "id")),
)}


def format_of_columns(acceptable: str, unacceptable: str) -> str:
    """The name of the layout with these sentence columns, or OTHER.

    >>> format_of_columns("sent_more", "sent_less"), format_of_columns("good", "bad")
    ('CrowS-Pairs', 'two sentence columns')
    """
    normalized = tuple(JOIN.join(map(normalize_name, column.split(JOIN))) for column in (acceptable, unacceptable))
    return next((pair_format.name for pair_format in FORMATS.values()
                 if (pair_format.acceptable, pair_format.unacceptable) == normalized), OTHER)


def is_about_stereotypes(formats: Sequence[str]) -> bool:
    """Whether all pairs are from layouts that test for stereotypes; False for no pairs."""
    return bool(formats) and all(name in FORMATS and FORMATS[name].stereotypes for name in set(formats))


def field_columns(frame: pd.DataFrame, format_name: str, taken: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table that group its pairs, in the order of the file.

    Those of the published layout, and others whose values repeat; never the columns of the sentences (`taken`).
    """
    pair_format = FORMATS.get(format_name)
    grouping_columns, hidden = (pair_format.fields, pair_format.hidden) if pair_format else ((), ())

    def groups_pairs(column: str) -> bool:
        name = normalize_name(column)
        if column in taken or name in hidden:
            return False
        n_values = frame[column].nunique()
        return name in grouping_columns or (n_values <= MAX_GROUPS and 2 * n_values <= len(frame))

    return tuple(str(column) for column in frame.columns if groups_pairs(str(column)))
