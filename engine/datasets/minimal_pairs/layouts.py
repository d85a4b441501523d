"""The layouts of published minimal pairs: which columns hold the sentences, and which group the pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from engine.datasets.formats.columns import JOIN, normalize_name
from engine.messages.message import Message, named

OTHER = named("two sentence columns")
# Any other column groups pairs if its values repeat: at most so many, each for two pairs on average.
MAX_GROUPS = 200


@dataclass(frozen=True)
class PairFormat:
    """One published layout; names as `columns.normalize_name` returns them.

    `fields`: columns that group its pairs, `hidden`: columns that do not although their values repeat. `source`: where
    the pairs are published with these columns. `marks`: further columns that a file of this layout has; without
    them two sentence columns of these names are somebody's own.
    """

    name: str
    acceptable: str
    unacceptable: str
    fields: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    source: str = ""
    marks: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, str]:
        """The columns of the acceptable and of the unacceptable sentence; each may be several, joined."""
        return self.acceptable, self.unacceptable


FORMATS: Mapping[str, PairFormat] = {
    pair_format.name: pair_format
    for pair_format in (
        PairFormat(
            "BLiMP",
            "sentence_good",
            "sentence_bad",
            ("uid", "field", "linguistics_term"),
            ("pairid",),
            "https://github.com/alexwarstadt/blimp",
        ),
        # As its own data_gen writes it: BLiMP itself names no column phenomenon.
        PairFormat(
            "ZhoBLiMP",
            "sentence_good",
            "sentence_bad",
            ("uid", "phenomenon"),
            ("pairid",),
            "https://github.com/sjtu-compling/ZhoBLiMP",
            ("uid", "phenomenon", "pairid"),
        ),
        PairFormat(
            "SLING",
            "sentence_good",
            "sentence_bad",
            ("phenomenon", "paradigm", "field"),
            ("pair_id",),
            "https://github.com/Yixiao-Song/SLING_Data_Code",
            ("phenomenon", "paradigm", "pair_id"),
        ),
        PairFormat(
            "JBLiMP",
            "good_sentence",
            "bad_sentence",
            ("type", "phenomenon", "phenomenon_2", "paradigm"),
            ("id",),
            "https://github.com/osekilab/JBLiMP",
            ("type", "phenomenon", "paradigm"),
        ),
        # Sprouse, Schütze and Almeida's (2013) sentences from the journal, as MORCELA's authors publish them.
        PairFormat(
            Message("Linguistic Inquiry"),
            "good_sentence",
            "bad_sentence",
            ("bad_sentence_gold_judgment",),
            ("bad_id", "good_id", "bad_sentence_fc_mean"),
            "https://aclanthology.org/2025.naacl-long.109",
            ("bad_sentence_gold_judgment", "good_sentence_ls", "bad_sentence_ls"),
        ),
        PairFormat(
            "CrowS-Pairs",
            "sent_more",
            "sent_less",
            ("bias_type", "stereo_antistereo"),
            ("annotations", "anon_writer", "anon_annotators"),
            "https://github.com/nyu-mll/crows-pairs",
        ),
        PairFormat(
            "COMPS",
            f"prefix_acceptable{JOIN}property_phrase",
            f"prefix_unacceptable{JOIN}property_phrase",
            ("negative_sample_type", "distraction_type", "property", "acceptable_concept", "unacceptable_concept"),
            (
                "prefix_acceptable",
                "prefix_unacceptable",
                "property_phrase",
                "id",
                "base_id",
                "nonsense_words",
                "similarity",
            ),
            "https://arxiv.org/abs/2210.01963",
        ),
        # The sentences with the first context; BabyLM's files have each pair again with the contexts exchanged.
        PairFormat(
            "EWoK",
            f"context1{JOIN}target1",
            f"context1{JOIN}target2",
            ("domain", "contexttype", "contextdiff", "targetdiff"),
            ("context1", "context2", "target1", "target2", "concepta", "conceptb", "contextsoriginals", "metacontexts"),
            "https://huggingface.co/datasets/ewok-core/ewok-core-1.0",
            ("domain", "context2"),
        ),
        PairFormat(
            "RuBLiMP",
            "source_sentence",
            "target_sentence",
            ("level", "phenomenon", "pid", "subtype", "domain"),
            ("id", "source_word", "target_word"),
            "https://github.com/RussianNLP/RuBLiMP",
            ("source_word", "target_word", "pid"),
        ),
        PairFormat(
            "TurBLiMP",
            "good_sentence",
            "bad_sentence",
            ("phenomenon",),
            ("good_cue", "bad_cue", "critical_region"),
            "https://github.com/ezgibasar/TurBLiMP",
            ("good_cue", "bad_cue", "critical_region"),
        ),
        PairFormat(
            "MultiBLiMP",
            "sen",
            "wrong_sen",
            ("phenomenon", "grammatical_feature", "ungrammatical_feature", "wo", "inflect_item"),
            (
                "verb",
                "verb_idx",
                "cop",
                "cop_idx",
                "child",
                "child_idx",
                "child_features",
                "head",
                "head_idx",
                "head_features",
                "attractors",
                "metadata",
                "swap_head",
                "prefix",
                "congruent_attractors",
                "incongruent_attractors",
                "sample_weight",
            ),
            "https://github.com/jumelet/multiblimp",
        ),
        PairFormat(
            "BLiMP-NL",
            "sentence_good",
            "sentence_bad",
            ("linguistic_phenomenon", "paradigm"),
            ("item_id", "critical_word", "cue_word"),
            "https://huggingface.co/datasets/juletxara/blimp-nl",
            ("linguistic_phenomenon", "item_id"),
        ),
        PairFormat(
            "LINDSEA",
            "correct",
            "wrong",
            ("linguistic_phenomenon", "category", "subcategory"),
            ("id",),
            "https://github.com/aisingapore/BHASA",
        ),
        # As `reshaping.of_climp` writes its sentences in turn.
        PairFormat(
            "CLiMP",
            "acceptable",
            "unacceptable",
            ("phenomenon", "paradigm"),
            ("climp's_index",),
            "https://github.com/beileixiang/CLiMP",
            ("climp's_index", "phenomenon", "paradigm"),
        ),
    )
}

# Those of FORMATS that test for stereotypes: A is the sentence that stereotypes more, not the better one.
OF_STEREOTYPES = frozenset(("CrowS-Pairs",))


@dataclass(frozen=True)
class JudgedFormat:
    """One layout of single sentences that people judged acceptable (1) or not (0); names as in `PairFormat`.

    `marks`: further columns that a file of this layout has; `hidden`: columns that do not group its sentences.
    """

    name: str
    sentence: str
    label: str
    marks: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    source: str = ""


# The columns of CoLA's files, which have no header.
COLA_COLUMNS = ("source", "label", "original_annotation", "sentence")
JUDGED: Mapping[str, JudgedFormat] = {
    layout.name: layout
    for layout in (
        JudgedFormat(
            "JCoLA",
            "sentence",
            "label",
            ("source", "diacritic"),
            ("uid", "original", "translation", "gloss"),
            "https://github.com/osekilab/JCoLA",
        ),
        JudgedFormat(
            "CoLA", "sentence", "label", ("source", "original_annotation"), (), "https://nyu-mll.github.io/CoLA"
        ),
        JudgedFormat(
            "RuCoLA",
            "sentence",
            "acceptable",
            ("error_type", "detailed_source"),
            ("id",),
            "https://github.com/RussianNLP/RuCoLA",
        ),
        JudgedFormat(
            "ItaCoLA",
            "sentence",
            "acceptability",
            ("uniqueindexid", "source"),
            ("uniqueindexid",),
            "https://github.com/dhfbk/ItaCoLA-dataset",
        ),
        JudgedFormat(
            Message("ItaCoLA, judged by non-experts"),
            "sentence",
            "expertacceptability",
            ("uniqueindexid_itacola", "playersacceptability"),
            ("uniqueindexid_itacola", "disaggragatedannotations", "playersid"),
            "https://github.com/dhfbk/ItaCoLA-dataset",
        ),
        JudgedFormat(named("judged sentences"), "sentence", "label"),
    )
}


@dataclass(frozen=True)
class OptionsFormat:
    """One layout of rows that hold several sentences in a cell; names as in `PairFormat`.

    `sentences`: the column of them. `holds`: how, and which is read as the acceptable one.
    """

    name: str
    sentences: str
    marks: tuple[str, ...]
    holds: Message
    fields: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    source: str = ""


ENTITIES, FORMS = "Entity tracking", "WUG"
OPTIONS: Mapping[str, OptionsFormat] = {
    layout.name: layout
    for layout in (
        OptionsFormat(
            ENTITIES,
            "options",
            ("input_prefix", "numops"),
            Message("a list of how the beginning may go on, the right one first"),
            ("numops",),
            ("sample_id", "options", "option", "right_option", "other_option"),
            "https://github.com/babylm-org/babylm-eval",
        ),
        OptionsFormat(
            FORMS,
            "sentences",
            ("ratio",),
            Message("two sentences with a tab between them, the one that more people choose is acceptable"),
            (),
            ("sentences", "ratio"),
            "https://github.com/babylm-org/babylm-eval",
        ),
    )
}

# Words in contexts whose learning is followed over checkpoints, as `acquisition` reads them.
ACQUISITION = named("words in contexts")

# Items of sentences in conditions with predictions over regions, as `designs` reads them; a table of one's own, too.
DESIGN = "SyntaxGym"
# Documents, each a row or a plain text file, as `texts` reads them.
RUNNING_TEXT = named("running text")


@dataclass(frozen=True)
class ReadingFormat:
    """One layout of words with their reading times; names as in `PairFormat`.

    `columns`: by role of `forms.READING`, but the times, which are all that are known. `marks`: columns that a file of
    this layout has.
    """

    name: str
    columns: Mapping[str, str]
    marks: tuple[str, ...]
    source: str = ""


READING_TIMES = named("reading times")
BABYLM_READING = Message("BabyLM, reading")
# Names of columns that hold a reading time, or another measure of how hard a word was to read.
TIMES = (
    "rt",
    "reading_time",
    "self_paced_reading_time",
    "rtfirstfix",
    "rtfirstpass",
    "rtgopast",
    "rtrightbound",
    "first_fixation_duration",
    "gaze_duration",
    "first_pass_time",
    "go_past_time",
    "total_reading_time",
    "elan",
    "lan",
    "n400",
    "p600",
    "epnp",
    "pnp",
    "読み時間",
)
READING: Mapping[str, ReadingFormat] = {
    layout.name: layout
    for layout in (
        # Its column item is what stands before the word.
        ReadingFormat(
            BABYLM_READING,
            {
                "context": "item",
                "word": "word",
                "position": "context_length",
                "frequency": "subtlex_log10",
                "length": "length",
            },
            ("item", "word", "prev_item", "prev_word"),
            "https://github.com/babylm-org/babylm-eval",
        ),
        ReadingFormat(
            Message("Natural Stories"),
            {"item": "item", "position": "zone", "word": "word"},
            ("item", "zone", "word", "rt", "workerid"),
            "https://github.com/languageMIT/naturalstories",
        ),
        ReadingFormat(
            Message("UCL corpus"),
            {"item": "sent_nr", "position": "word_pos", "word": "word"},
            ("subj_nr", "sent_nr", "word_pos", "word"),
            "https://doi.org/10.3758/s13428-012-0313-y",
        ),
        ReadingFormat(READING_TIMES, {}, ()),
    )
}


def reading_format(columns: Iterable[str]) -> ReadingFormat:
    """The layout of reading times that has these columns, the one of no publication where none has.

    >>> reading_format(["subj_nr", "sent_nr", "word_pos", "word", "RT"]).source[-14:]
    '428-012-0313-y'
    """
    names = set(map(normalize_name, columns))
    return next(layout for layout in READING.values() if names.issuperset(layout.marks))


def judged_format(columns: Iterable[str]) -> JudgedFormat | None:
    """The layout of single judged sentences that has these columns, the one with the most `marks`; None for none.

    >>> [getattr(judged_format(names), "name", None) for names in (["sentence", "label"], ["text", "label"])]
    ['judged sentences', None]
    """
    names = set(map(normalize_name, columns))
    fitting = [layout for layout in JUDGED.values() if names >= {layout.sentence, layout.label, *layout.marks}]
    return max(fitting, key=lambda layout: len(layout.marks)) if fitting else None


def format_of_columns(acceptable: str, unacceptable: str, columns: Iterable[str] = ()) -> str:
    """The name of the layout with these sentence columns, or OTHER.

    `columns`: all columns of the file. Where two layouts name their sentences alike, the one with more `marks` there.

    >>> format_of_columns("sent_more", "sent_less"), format_of_columns("good", "bad")
    ('CrowS-Pairs', 'two sentence columns')
    """
    sentences = tuple(JOIN.join(map(normalize_name, column.split(JOIN))) for column in (acceptable, unacceptable))
    names = set(map(normalize_name, columns))
    fitting = [
        pair_format
        for pair_format in FORMATS.values()
        if pair_format.sentences == sentences and names.issuperset(pair_format.marks)
    ]
    return max(fitting, key=lambda pair_format: len(pair_format.marks)).name if fitting else OTHER


def published_sentences(columns: Iterable[str]) -> tuple[str, str] | None:
    """The sentence columns, as spelled in a file, of the layout that all its needed columns are of, if any.

    >>> published_sentences(["id", "sen", "Wrong_sen"]), published_sentences(["source_sentence", "target_sentence"])
    (('sen', 'Wrong_sen'), None)
    """
    spelling = {normalize_name(column): column for column in columns}
    for pair_format in FORMATS.values():
        parts = [side.split(JOIN) for side in pair_format.sentences]
        if spelling.keys() >= {*pair_format.marks, *parts[0], *parts[1]}:
            acceptable, unacceptable = (JOIN.join(spelling[part] for part in side) for side in parts)
            return acceptable, unacceptable
    return None


def field_columns(frame: pd.DataFrame, format_name: str, taken: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table that group its pairs, in the order of the file.

    Those of the published layout, and others whose values repeat; never the columns of the sentences (`taken`).
    """
    pair_format = FORMATS.get(format_name) or OPTIONS.get(format_name)
    grouping_columns, hidden = (
        (pair_format.fields, pair_format.hidden)
        if pair_format
        else ((), JUDGED[format_name].hidden if format_name in JUDGED else ())
    )

    def groups_pairs(column: str) -> bool:
        name = normalize_name(column)
        if column in taken or name in hidden:
            return False
        n_values = frame[column].nunique()
        return name in grouping_columns or (n_values <= MAX_GROUPS and 2 * n_values <= len(frame))

    return tuple(str(column) for column in frame.columns if groups_pairs(str(column)))
