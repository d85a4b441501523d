"""The records of alignment: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.shared.common_columns import LEFT_OUT_BY, MODEL, REASON, ROW
from engine.evaluations.shared.declared_tables import Column, Table, declared, documented, measured
from engine.evaluations.shared.precision import computed_in_fp32, precision_option
from engine.layer_numbers import layer_number
from engine.messages.message import Message, list_of, named
from engine.options import Choice, Option, option, option_of

WITHOUT_DICTIONARY = ("none", "references")
OWN_SENTENCES = "own"  # where `Settings.rescale` has the baseline from
AS_BERT_SCORE, LEFT_OUT = "as-bert-score", "left-out"
# Where low-frequency tokens begin, by `Scoring.threshold_kind`.
THRESHOLDS: Mapping[str, Option] = {
    "quantile": Option(
        "Share of the dictionary's entries that is not low-frequency; the paper has 0.7.",
        0.7,
        least=0,
        most=1,
        unit="share of the entries",
        flag="threshold",
        metavar="SHARE",
        name="threshold",
        kind=float,
    ),
    "value": Option(
        "idf above which a token is low-frequency.",
        3.0,
        least=0,
        shown_most=15,
        unit="nats",
        flag="threshold-value",
        metavar="IDF",
        name="threshold",
        kind=float,
    ),
}


@dataclass(frozen=True)
class Scoring:
    """How similarities become P, R and F1; every field has the paper's or bert_score's choice as its default."""

    idf: str = option(
        "none",
        "Weights of the tokens: none (equal weights), references (rareness among "
        "the references of the run, as in bert_score; with one pair all weights are 0), novel or "
        "wiki (rareness in a corpus, counted with the tokenizer of the model), novel-words or "
        "wiki-words (the same counted in words of MeCab: a token has the weight of its word), or "
        "the file of a dictionary.",
        metavar="D",
        names_file=True,
    )
    threshold: float = option(
        THRESHOLDS["quantile"].default,
        "Where low-frequency tokens begin: a "
        "share of the dictionary's entries, or an idf, as the kind of threshold says.",
        least=0,
        metavar="X",
    )
    threshold_kind: str = option(
        "quantile",
        "How the threshold of low-frequency tokens is given.",
        choices=(
            Choice(
                "quantile",
                "share of entries",
                "as the share of the dictionary's entries that is not low-frequency (the paper: 0.7)",
            ),
            Choice("value", "idf", "as an idf in nats"),
        ),
    )
    penalty: str = option(
        "names",
        "Penalty on P and R.",
        choices=(
            Choice("none", "none"),
            Choice(
                "reading",
                "as in the paper",
                "tokens that are read otherwise than their best match count against P and R",
            ),
            Choice(
                "names",
                "names by reading",
                "names are as alike as their readings, not as their vectors, which lifts P and R where names are read "
                "alike and mostly lowers them where they are not; names are looked for in Japanese alone",
            ),
        ),
    )
    criterion: str = option(
        "idf",
        "Tokens that the penalty concerns.",
        choices=(
            Choice("idf", "low-frequency tokens", "low-frequency tokens, as in the paper", "low-frequency tokens"),
            Choice(
                "proper-nouns",
                "proper nouns",
                "what MeCab tags as names, which the paper suggests next: rare words such as ハンター are no names",
                "proper nouns",
            ),
            Choice(
                "either",
                "either",
                "tokens that are the one or the other",
                "tokens that are low-frequency or proper nouns",
            ),
            Choice(
                "both", "tokens that are both", "tokens that are both", "tokens that are low-frequency and proper nouns"
            ),
            Choice(
                "names",
                "names",
                "names by words: proper nouns, words that UniDic lacks, and numbers with counters, in Japanese",
                "proper nouns, words that UniDic lacks, and numbers with their counters",
            ),
        ),
    )
    pairing: str = option(
        "token",
        "What readings are compared.",
        choices=(
            Choice(
                "token",
                "token by token",
                "those of each token and its match, with one M for each",
                "each token is compared with its match",
            ),
            Choice(
                "joined",
                "whole sentence",
                "those of all such tokens of a sentence together, so that the pieces of a name count as the name",
                "the readings of all such tokens of a sentence are joined before they are compared",
            ),
        ),
    )
    special_tokens: str = option(
        AS_BERT_SCORE,
        "Weight of the special tokens.",
        choices=(
            Choice(
                AS_BERT_SCORE,
                "as in bert_score",
                "cls_token and sep_token of the tokenizer have none; BOS, EOS and "
                "others weigh as much as any token, with idf nothing where they occur in every text",
                "Special tokens are weighted as in the published implementation.",
            ),
            Choice(
                LEFT_OUT,
                "left out",
                "none has a weight, and none is the match of another token",
                "Special tokens have no weight and are the match of no other token.",
            ),
        ),
    )
    match_special: bool = option(
        True,
        "Let a token take a special token of the other sentence, such as [CLS], as its best match, as in bert_score.",
        off="no-special-matches",
    )
    reading_engine: str = option(
        "pykakasi",
        "What reads the tokens.",
        choices=(
            Choice("pykakasi", meaning="reads a string by itself", phrase="pykakasi"),
            Choice("unidic", "UniDic", "UniDic (MeCab), which reads a word in its sentence", "MeCab with UniDic"),
        ),
    )
    reading_scope: str = option(
        "piece",
        "What is read.",
        choices=(
            Choice("piece", "token", "the token alone (斉 is せい)", "tokens"),
            Choice(
                "word",
                "word",
                "the whole word that it belongs to (斉藤 is さいとう); a token across several words joins them",
                "the words that tokens belong to",
            ),
        ),
    )
    sounds: str = option(
        "auto",
        "Spellings of one sound when readings are compared.",
        choices=(
            Choice("auto", "automatic", "merged where names are compared, apart under the penalty of the paper"),
            Choice("apart", "kept apart", "たろう and たろー differ by one kana"),
            Choice("merged", "merged", "long vowels (たろう, たろー), ヴ and バ, ヂ and ジ, ヅ and ズ are one sound"),
        ),
    )
    readings: str = option(
        "",
        "Readings of one's own, before all others: 斉藤=さいとう;東=ひがし/あずま, or a file "
        "with such lines (CSV). Where names are compared, a text of the list is a name wherever "
        "it stands, and all its readings are compared; else the first of them is that of tokens "
        "and words that are just this text.",
        metavar="LIST",
    )
    unit: str = option(
        "subword",
        "What is matched and weighted.",
        choices=(
            Choice("subword", "subword", "the pieces of the tokenizer"),
            Choice(
                "word",
                "word",
                "the words of MeCab: two are as similar as their pieces are in the mean, and a word has "
                "the weights of its pieces together, or its own idf by a dictionary of words",
            ),
        ),
    )

    @property
    def dictionary(self) -> str | None:
        """The name or path of the dictionary, None where `idf` needs none."""
        return None if self.idf in WITHOUT_DICTIONARY else self.idf

    @property
    def by_sound(self) -> bool:
        """Whether spellings of one sound are one reading."""
        return self.sounds == "merged" or (self.sounds == "auto" and self.penalty == "names")


@dataclass(frozen=True)
class Settings:
    """What to align and how; `scoring` is what the result is first shown with."""

    models: tuple[str, ...]
    layer: int | None = option(None, "Hidden state that is compared: 0 = embeddings, -1 = the last.", unset="the last")
    all_layers: bool = option(
        False,
        "Keep the similarities of every layer, to choose among them afterwards: no second "
        "forward pass, but memory for each layer.",
    )
    precision: str = precision_option()
    scoring: Scoring = field(default_factory=Scoring)
    rescale: str = option(
        "",
        "Rescaled scores beside, (score - baseline) / (1 - baseline) as in bert_score: own = the baseline is the "
        "mean of random pairs of the run's own sentences; or a list of baselines, LAYER,P,R,F;0,0.1,0.1,0.1, or a file "
        "with such lines.",
        metavar="LIST",
        unset="none",
    )
    rescale_pairs: int = option(1000, "Random pairs of the baseline.", least=10, most=10_000, unit="pairs")
    rescale_seed: int = option(0, "Seed of the random pairs of the baseline.", least=0)

    upgraded = staticmethod(computed_in_fp32)


# A single typed pair is small enough to be kept at every layer.
ONE_PAIR = Settings((), all_layers=True)


PAIR_ROW = replace(ROW, meaning="number of the pair's row in the file")
UNNAMED_IDF = {"none": Message("none"), "references": Message("references")}  # weights that no dictionary gives
SIDE = Column("side", "text", "reference or candidate", words=named)

PAIRS = Table(
    "pairs",
    Message("A row for each pair of the dataset."),
    (
        PAIR_ROW,
        Column("reference", "text", "the reference"),
        Column("candidate", "text", "the candidate"),
        Column("category", "text", 'the category; "" where the file names none'),
        Column("reference <n>", "text", 'a further reference; "" where there is none'),
        Column("human:<name>", "number", "the score of an annotator; NaN where there is none", better="higher"),
    ),
)
TOKENS = Table(
    "tokens",
    Message("A row for each token of each side of each pair and reference under each model."),
    (
        replace(MODEL, dtype="category"),
        PAIR_ROW,
        Column("reference", "integer", "which of the row's references, 1 the first", dtype="int32"),
        replace(SIDE, dtype="category"),
        Column("position", "integer", "place in the sentence, from 0", dtype="int32"),
        Column("token", "text", "the token, as the tokenizer writes it", dtype="category"),
        Column("surface", "text", "the characters that it stands for, or the token itself", dtype="category"),
        Column(
            "start", "integer", "where these begin in the sentence; -1 for special tokens", "characters", dtype="int32"
        ),
        Column("end", "integer", "where these end", "characters", dtype="int32"),
        Column("special", "boolean", "whether it is a special token"),
        Column("word", "integer", "number of its word in the sentence, from 0; -1 for special tokens", dtype="int32"),
        Column("proper_noun", "boolean", "whether it touches a proper noun, by part of speech"),
        *(
            Column(
                f"{engine}_{scope}",
                "text",
                Message("reading of the {scope} by {engine}", scope=scope, engine=engine),
                dtype="category",
            )
            for engine in option_of(Scoring, "reading_engine").choices
            for scope in option_of(Scoring, "reading_scope").choices
        ),
        Column(
            "name",
            "integer",
            "number of the name that it belongs to in the sentence, from 0; -1 for none",
            since="0.3.0",
            dtype="int32",
        ),
        Column(
            "name_text", "text", 'the name as written in the sentence; "" for none', since="0.3.0", dtype="category"
        ),
        Column(
            "name_kind",
            "text",
            "proper noun, unknown word, number, or counterpart: words that are read like a name of the other sentence",
            since="0.3.0",
            dtype="category",
        ),
        Column(
            "name_readings",
            "text",
            'the readings of the name, separated by |; "" where none is whole',
            since="0.3.0",
            dtype="category",
        ),
        Column("name_source", "text", "where they are from", since="0.3.0", dtype="category"),
        Column(
            "words",
            "text",
            "the words that it touches, as a dictionary of words has them, separated by spaces; "
            'for special tokens and white space ""',
            since="0.3.0",
            dtype="category",
        ),
    ),
)
SHAPES = Table(
    "shapes",
    Message("A row for each pair and reference under each model: where its similarities are."),
    (
        MODEL,
        PAIR_ROW,
        Column("reference", "integer", "which of the row's references, 1 the first"),
        Column("n_reference", "integer", "tokens of the reference", "tokens"),
        Column("n_candidate", "integer", "tokens of the candidate", "tokens"),
        Column("offset", "integer", "where the block (n_reference, n_candidate) begins in each layer of `similarity`"),
    ),
)
EXCLUDED = Table(
    "excluded",
    Message("A row for each pair that a model left out, and for each row of the file that could not be used."),
    (
        LEFT_OUT_BY,
        PAIR_ROW,
        REASON,
    ),
)

# What a scoring makes of a result: the tables of the command.
PAIR_SCORES = Table(
    "pairs",
    Message("A row for each pair under each model."),
    (
        MODEL,
        PAIR_ROW,
        measured("precision"),
        measured("recall"),
        measured("f1"),
        measured("precision_penalty"),
        measured("recall_penalty"),
        measured("penalized_precision"),
        measured("penalized_recall"),
        measured("penalized_f1"),
        Column(
            "best_reference",
            "integer",
            "which of the row's references, 1 the first, the penalties and the rows of tokens.csv are of",
        ),
        measured(
            "rescaled_bertscore",
            "rescaled_<score>",
            "precision, recall and f1 rescaled with a baseline, where the run has one; the penalised scores are not",
            since="0.3.0",
        ),
    ),
    promised=10,
)
BASELINES = Table(
    "baselines",
    Message("A row for each model and layer: what scores are rescaled with; none without `rescale`."),
    (
        MODEL,
        Column("layer", "integer", "hidden state, 0 the embeddings"),
        Column("precision", "number", "mean precision of random pairs"),
        Column("recall", "number", "their mean recall"),
        Column("f1", "number", "their mean F1"),
        Column("n", "integer", "random pairs with a score; 0 where the baseline is from a list", "pairs"),
        *(
            Column(
                f"{name}_error",
                "number",
                Message("standard error of {name}, that is over seeds; NaN where it is from a list", name=name),
                better="lower",
            )
            for name in ("precision", "recall", "f1")
        ),
    ),
    since="0.3.0",
    only_with_rows=True,
)
TOKEN_SCORES = Table(
    "tokens",
    Message("A row for each token of each side of each pair under each model, or for each word."),
    (
        MODEL,
        PAIR_ROW,
        SIDE,
        Column("position", "integer", "place in the sentence, from 0"),
        Column("token", "text", "the token as the tokenizer writes it, or the word"),
        Column("reading", "text", "its reading"),
        replace(measured("idf"), meaning="its idf, or that of its word; NaN without a dictionary"),
        Column("low_frequency", "boolean", "whether its idf is above the threshold"),
        Column("match_position", "integer", "position of its best match on the other side, -1 for none"),
        Column("match_token", "text", "its best match"),
        Column(
            "similarity",
            "number",
            "cosine of the two; of names that are compared by reading, and of unknown tokens that match each other, M²",
            better="higher",
        ),
        Column(
            "reading_distance",
            "number",
            "edit distance of the two readings; NaN where the penalty asks for none",
            "characters",
            "lower",
        ),
        replace(measured("agreement"), meaning="agreement coefficient M of the readings; NaN for special tokens"),
        Column("surface", "text", "the characters that it stands for"),
        Column("start", "integer", "where these begin in the sentence", "characters"),
        Column("end", "integer", "where these end", "characters"),
        Column("special", "boolean", "whether it is a special token"),
        Column("match_reading", "text", "reading of the match"),
        Column("match_special", "boolean", "whether the match is a special token"),
        Column("weight", "number", "its share of the score of its side"),
        Column("proper_noun", "boolean", "whether it is a proper noun, by part of speech"),
        Column("penalised", "boolean", "whether the penalty counts it"),
        Column("word", "integer", "number of its word in the sentence, from 0; -1 for special tokens"),
        Column("best_reference", "integer", "which of the row's references, 1 the first, the pair's tokens are of"),
        Column(
            "unknown",
            "boolean",
            "whether it stands for text out of the vocabulary: it is low-frequency whatever its "
            "idf, and the penalty counts it under every criterion",
            since="0.3.0",
        ),
        Column(
            "read_whole",
            "boolean",
            "whether its reading leaves out nothing; where one of a token and its match has no "
            "whole reading, the two are compared as they are written",
            since="0.3.0",
        ),
        Column(
            "name", "boolean", "whether it belongs to a name: a proper noun, an unknown word, a number", since="0.3.0"
        ),
        Column(
            "name_text",
            "text",
            'the name, as written in the sentence, or the text of an unknown token; "" for other tokens',
            since="0.3.0",
        ),
        Column("reading_source", "text", 'where the readings of the name are from; "" for other tokens', since="0.3.0"),
        Column(
            "word_reading",
            "text",
            "reading of its word in the sentence, by UniDic: what a reader would write above it",
            since="0.3.0",
        ),
    ),
    promised=13,
)
# The pairs as files have them: with their sentences, categories and human scores, and what else the input has.
PAIR_FILE = PAIR_SCORES.with_input(*(column for column in PAIRS.columns if column != PAIR_ROW))
FILES = (PAIR_FILE, TOKEN_SCORES, EXCLUDED, BASELINES)


@documented
@dataclass(frozen=True)
class Result:
    """Similarities of every pair under every model; `rescore` makes numbers of them.

    similarity: by model, float32 (n_layers, n_cells): cosines, the pairs of `shapes` concatenated. layers: the
    layers held, by number, for each model. template_tokens, cls_and_sep, unknown_tokens: by model, as in `ModelFacts`;
    a run that was stored before they were has none of them: none of its special tokens has a weight, and its unknown
    tokens are told by their usual names (`pair_tokens`).
    """

    settings: Settings
    dataset_name: str
    pairs: pd.DataFrame = field(metadata=declared(PAIRS))
    tokens: pd.DataFrame = field(metadata=declared(TOKENS))
    shapes: pd.DataFrame = field(metadata=declared(SHAPES))
    similarity: dict[str, np.ndarray]
    layers: dict[str, tuple[int, ...]]
    n_layers: dict[str, int]
    tokenizers: dict[str, str]
    excluded: pd.DataFrame = field(metadata=declared(EXCLUDED))
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
    template_tokens: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cls_and_sep: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unknown_tokens: dict[str, str] = field(default_factory=dict)
    baselines: pd.DataFrame = field(metadata=declared(BASELINES), default_factory=BASELINES.frame)

    def layer_index(self, model: str, layer: int | None = None) -> int:
        """Where `similarity[model]` has a layer; None is the one of the settings. InputError when it is not held."""
        held, n_layers = self.layers[model], self.n_layers[model]
        number = layer_number(self.settings.layer if layer is None else layer, n_layers)
        if number not in held:
            raise InputError(
                Message(
                    "The run holds layer {held} of {model}; got layer {layer}. Evaluate with all "
                    "layers to choose among them.",
                    held=list_of(map(str, held)),
                    model=model,
                    layer=layer,
                )
            )
        return held.index(number)
