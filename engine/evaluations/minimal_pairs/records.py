"""The records of minimal pairs: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from engine.datasets.minimal_pairs.kinds import JUDGED, DataKind, kind_of
from engine.evaluations.shared.common_columns import LEFT_OUT_BY, MODEL, REASON, ROW, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import (
    Column,
    Table,
    Type,
    declared,
    documented,
    measured,
)
from engine.evaluations.shared.precision import computed_in_fp32, precision_option
from engine.evaluations.shared.stored_table import ManyRows
from engine.measures.minimal_pairs.judged_sentences import FOLDS
from engine.measures.minimal_pairs.normalizations import ALPHA, ALPHAS, BOUNDED, NORMALIZATIONS
from engine.messages.message import Message, named
from engine.options import Choice, option
from engine.precision import EXACT_DECISIONS
from engine.version import FIRST_VERSION

# The scores whose decisions are exact unless others are asked for.
DEFAULT_SCORES = ("LP", "MeanLP", "PenLP")
# The corpus of unigrams that the scored sentences themselves are.
THESE = named("these sentences")
CATEGORY = "category"
ALL = named("all pairs")
EQUAL, EQUAL_FOR_ALL, MATCHED = "A=U", named("A=U for all models"), "matched"
CUT_ALIKE, CUT_DIFFERENTLY = named("cut alike"), named("cut differently")
SUBSETS: Mapping[str, Choice] = {
    choice.value: choice
    for choice in (
        Choice(ALL, "all pairs", "Every pair that the model scored."),
        Choice(
            EQUAL,
            "A = U",
            "The pairs whose sentences have as many tokens to the model; other pairs for another model.",
            "the pairs whose two sentences have equally many tokens to the model",
        ),
        Choice(
            EQUAL_FOR_ALL,
            "A = U for all models",
            "The pairs whose sentences have as many tokens to every model: the same pairs for all.",
            "the pairs whose two sentences have equally many tokens to every model",
        ),
        Choice(
            MATCHED,
            "matched",
            "The equal pairs, and of each difference as many with the longer acceptable sentence as with the shorter "
            "one, drawn at random; other pairs for another model.",
            "as many pairs with the longer acceptable sentence as with the shorter one, drawn at random",
        ),
        Choice(
            CUT_ALIKE,
            "cut alike",
            "The pairs whose shared words are cut into the same tokens in both sentences, without unknown tokens "
            "and without tokens that are a part of a character; other pairs for another model.",
            "the pairs whose shared words the tokenizer cuts alike in both sentences, without unknown tokens and parts "
            "of characters",
        ),
        Choice(
            CUT_DIFFERENTLY,
            "cut differently",
            "The other pairs: they compare how words are cut, too, not only what differs.",
            "the pairs in which the tokenizer cuts a shared word differently, or that hold unknown tokens or parts of "
            "characters",
        ),
    )
}


# What of a sentence is counted, by `PairScoring.region`.
WHOLE, DIFFERING, ONE_PREFIX, TWO_PREFIX, MARKED = (
    named("whole sentence"),
    named("words that differ"),
    "one-prefix",
    "two-prefix",
    "marked",
)
REGIONS: Mapping[str, Choice] = {
    choice.value: choice
    for choice in (
        Choice(WHOLE, "whole sentence"),
        Choice(
            DIFFERING,
            "words that differ",
            "the words that the other sentence does not have at that place",
            "the words that differ between the two sentences",
        ),
        Choice(
            ONE_PREFIX,
            "",
            "BLiMP's one-prefix method: the word after the prefix that both sentences share "
            "(one_prefix_prefix, one_prefix_word_good, one_prefix_word_bad)",
            "the word that follows the same prefix in both sentences",
        ),
        Choice(
            TWO_PREFIX,
            "",
            "BLiMP's two-prefix method: the same word after the two prefixes (two_prefix_prefix_good, "
            "two_prefix_prefix_bad, two_prefix_word)",
            "the same word, which follows another prefix in each sentence",
        ),
        Choice(
            MARKED,
            "marked region",
            "what the columns acceptable_region and unacceptable_region (or good_region and bad_region) hold, "
            "TurBLiMP's critical_region and BLiMP-NL's critical_word, or what follows the context in EWoK, COMPS and "
            "entity tracking",
            "the words that the data mark",
        ),
    )
}
PREFIXES = (
    Choice(
        "auto", "automatic", "As lm-evaluation-harness: the BOS token, or the EOS token of a tokenizer that has no BOS."
    ),
    Choice("bos", "BOS", "The BOS token; nothing for a tokenizer that has none."),
    Choice("eos", "EOS", "The EOS token; nothing for a tokenizer that has none."),
    Choice(
        "template",
        "tokenizer's own",
        "What the tokenizer itself puts before a text, which may be several tokens, or nothing.",
    ),
    Choice("none", "nothing", "Nothing: a difference between two sentences in their first token is not measured."),
)

ENCODER_READS = (
    Choice(
        "nothing",
        "",
        "An empty text, as the tokenizer writes it: the sentence is scored by itself.",
        "the encoder was given an empty text",
    ),
    Choice(
        "sentence",
        "the sentence",
        "The sentence itself: how well the decoder gives it back, which is no probability of the sentence.",
        "the encoder was given the sentence itself",
    ),
    Choice("text", "a text", "The text of encoder_text, the same for every sentence."),
    Choice(
        "masked",
        "the sentence, masked",
        "The sentence with one token masked, each in turn, which the decoder predicts: a pseudo-log-likelihood, as a masked "
        "model has one (enc_dec_mask of BabyLM).",
    ),
)

NO_PROMPTS, OWN_PROMPTS = "none", "own"
PROMPTS = (
    Choice(NO_PROMPTS, "none", "Sentences are scored as they are."),
    Choice(
        "en",
        "English",
        "In three English templates for in-template LP and after two English questions, whose answers are Yes and No.",
    ),
    Choice(
        "ja",
        "Japanese",
        "In three Japanese templates for in-template LP and after two Japanese questions, whose answers are はい and いいえ.",
    ),
    Choice(
        OWN_PROMPTS,
        "your own",
        "In templates of your own: in_template and yes_no, or on the command line the name of a table of them in place of "
        "own, such as the templates.csv of a run.",
    ),
)

LONGEST_WINDOW = 2048
WINDOW_PREFIXES = (
    Choice("each", "every window", "Every window is read after the prefix, as a text of its own."),
    Choice(
        "first",
        "the text alone",
        "The prefix stands before the text alone and a window begins with tokens of the text, as in the documentation of "
        "Hugging Face transformers (Perplexity of fixed-length models).",
    ),
)


@dataclass(frozen=True)
class Settings:
    """How sentences are scored; `scoring_rules` says each rule in words."""

    models: tuple[str, ...]
    pll: str = option(
        "word-l2r",
        "Pseudo-log-likelihood of masked models.",
        choices={
            "word-l2r": "Each token is masked together with the later tokens of its word, so that the pieces of a word do "
            "not give each other away (Kauf and Ivanova 2023).",
            "original": "Each token is masked alone. The other pieces of a long word give it away, which favours sentences "
            "with rare words (Salazar et al. 2020).",
        },
    )
    words: str = option(
        "auto",
        "What a word is to word-l2r.",
        choices=(
            Choice(
                "auto",
                "automatic",
                "MeCab's words where the text holds kana or kanji, which are written without spaces; elsewhere the "
                "tokenizer's own.",
                "those of MeCab in text with kana or kanji, elsewhere those of the tokenizer",
            ),
            Choice(
                "tokenizer",
                "",
                "The tokenizer's own words: a WordPiece with the ## pieces after it, or what the "
                "pre-tokenizer of a byte-level BPE or SentencePiece keeps together; white space always begins a new "
                "word.",
                "those of the tokenizer",
            ),
            Choice(
                "mecab",
                "",
                "MeCab's words (unidic-lite), placed on the tokens by their characters. A token that "
                "crosses a boundary joins the words it touches into one; a token of white space alone is a word of its "
                "own.",
                "those of MeCab",
            ),
        ),
    )
    predicted_at: str = option(
        "auto",
        "Where a masked model predicts a masked token.",
        choices=(
            Choice(
                "auto",
                "automatic",
                "At the mask; of a decoder that reads in both directions (is_causal: false, with a mask token), at the "
                "token before it.",
            ),
            Choice("mask", "at the mask", "At the mask itself, as BERT was trained."),
            Choice(
                "before",
                "before the mask",
                "At the token before the mask (masked next-token prediction, MNTP), as GPT-BERT was trained (Charpentier "
                "and Samuel 2024). A first token without one before it is not scored.",
            ),
        ),
    )
    precision: str = precision_option(
        Choice(
            EXACT_DECISIONS,
            "Exact decisions",
            "bfloat16 first, then float32 again for every pair whose winner the measured error could change under the "
            "scores chosen: every decision is float32's. Usually about a tenth of the pairs are scored twice; it pays "
            "where bfloat16 is faster.",
        )
    )
    exact_scores: tuple[str, ...] = option(
        DEFAULT_SCORES,
        "Scores whose winners are float32's with exact decisions; with fewer of them fewer pairs are scored twice.",
        choices=BOUNDED,
        separator=",",
        least_items=1,
    )
    exact_alpha: float = option(
        ALPHA, "alpha of PenLP at which its winners are float32's with exact decisions.", least=0, shown_most=ALPHAS[1]
    )
    prefix: str = option(
        "auto",
        "What a causal model reads before the first token of a sentence. After nothing the first token is not scored.",
        choices=PREFIXES,
        formerly={"bos": {True: "bos", False: "none"}},
    )
    other_prefixes: tuple[str, ...] = option(
        (),
        "Further prefixes: each causal model is scored again after each of "
        "them, as a condition that is tested against the model like another "
        "model.",
        separator=",",
        choices=[replace(prefix, meaning="") for prefix in PREFIXES],
    )
    leading_space: bool = option(False, "Put a space before each sentence (causal models).", both=True)
    encoder_reads: str = option(
        "nothing",
        "What the encoder of an encoder-decoder is given; its decoder scores the sentence.",
        choices=ENCODER_READS,
    )
    encoder_text: str = option(
        "",
        "The text for the encoder, where it is given one; control tokens such as <extra_id_0> are read as these.",
        metavar="TEXT",
    )
    window: int | None = option(
        None,
        "Of running text: how many tokens a model reads at once, special ones included. A longer text is read in windows.",
        least=2,
        metavar="N",
        unit="tokens",
        unset=Message("as many as the model takes, at most {LONGEST_WINDOW:,}", LONGEST_WINDOW=LONGEST_WINDOW),
    )
    stride: int | None = option(
        None,
        "Of running text: how many tokens a window begins after the one before it. Each token is scored once; under a "
        "causal model it has window − stride tokens before it or more, where there are so many.",
        least=1,
        metavar="N",
        unit="tokens",
        unset="half of the window",
    )
    window_prefix: str = option(
        "each", "Of running text: what the prefix of a causal model stands before.", choices=WINDOW_PREFIXES
    )
    all_layers: bool = option(
        False,
        "Of reading times: the surprisal of words at every layer, too, by the logit lens: the model's final norm and head on "
        "the states of the layer. Causal models that are loaded here; a further pass of the head for each layer.",
    )
    shared_tokens: bool = option(
        False,
        "CrowS-Pairs' own measure, too: only the tokens that both sentences share are "
        "scored, each masked alone. A second pass; masked models only.",
    )
    word_boundaries: bool = option(
        False,
        "Score the boundaries of words, too, for WordLP and MeanWordLP: with them "
        "the sum over tokens is that over words; local causal models whose tokenizer "
        "marks with a space how words begin.",
    )
    prompts: str = option(
        NO_PROMPTS,
        "Score the sentences in templates, too, for in-template LP, Yes/No probability and their vote (Ide et al. 2025): a "
        "further pass for each template; local causal models.",
        choices=PROMPTS,
    )
    in_template: tuple[str, ...] = option(
        (),
        "With prompts of your own: a template for in-template LP, with {sentence} where the sentence stands, best after "
        "white space; may be repeated.",
        metavar="TEXT",
    )
    yes_no: tuple[str, ...] = option(
        (),
        "With prompts of your own: a question on a sentence, with {sentence} where it stands, up to where the answer "
        "begins; may be repeated.",
        metavar="TEXT",
    )
    answers: tuple[str, ...] = option(
        (),
        "The answers to questions of your own, the one for an acceptable sentence first; of one of several tokens all are "
        "counted.",
        separator=",",
        metavar="YES,NO",
        unset="Yes,No",
    )
    chat_template: bool = option(
        False,
        "Put each question into the chat template of the tokenizer, as the message of a user, for models that were trained "
        "to chat; templates for in-template LP stay as they are.",
    )
    ratings: tuple[str, ...] = option(
        (),
        "The two columns of human judgements, of the acceptable and of the "
        "unacceptable sentences, that MORCELA is fitted to; or one column of "
        "graded judgements of the difference, higher where the acceptable sentence "
        "is preferred. Where none is named, those of published files and of rated "
        "pairs.",
        separator=",",
        metavar="A,U",
    )
    tokenizer: tuple[str, ...] = option(
        (),
        "For scores from a file without tokens: the directory or the name of the tokenizer, loaded without its "
        "model, that counts the scored tokens of each sentence; LABEL= before it names the scores that it is for.",
        metavar="[LABEL=]DIR",
    )
    seed: int = option(
        0,
        "Seed of the matched sample, of the sample that exact decisions measure errors on, and of "
        "the parts that MORCELA, or a threshold on judged sentences, is fitted by.",
        least=0,
    )

    upgraded = staticmethod(computed_in_fp32)


@dataclass(frozen=True)
class PairScoring:
    """How the stored sums become scores and tables: no model is run."""

    alpha: float = option(
        ALPHA, "alpha of PenLP: 0 = length does not count, as in LP; the paper has 0.8.", least=0, shown_most=ALPHAS[1]
    )
    unigrams: str = option(
        THESE,
        "Corpus of SLOR's unigrams, how frequent the tokens of a sentence are: these "
        "sentences, novel, wiki or the file of an idf dictionary.",
        metavar="D",
    )
    by: str = option(
        CATEGORY,
        "Column that sorts the pairs by category: the category, source, or a column of the data such as UID.",
        metavar="COLUMN",
    )
    subset: str = option(
        ALL,
        "The pairs that the tables are computed from; those that compare the fair subsets with all pairs keep all.",
        choices=SUBSETS.values(),
    )
    levels: tuple[str, ...] = option(
        (),
        "Columns that a benchmark's table groups the pairs by, the widest first, such "
        "as field,linguistics_term,UID; with micro and macro averages.",
        separator=",",
        metavar="COLUMNS",
    )
    clustered_by: str = option(
        "",
        "Column that names the template or paradigm of a pair: intervals of accuracies and "
        "slopes, ranges of ranks, and tests of two scores or two models, then take its values "
        "as clusters. Where none is named, pairs are taken as independent.",
        metavar="COLUMN",
    )
    region: str = option(
        WHOLE,
        "What is counted of each sentence: all of it, or the tokens of a part, given what stands before them. Only "
        "pairs whose sentences both have such a part are counted.",
        choices=REGIONS.values(),
    )
    predictions: tuple[str, ...] = option(
        (),
        "Of sentences in conditions: formulas over the surprisals of regions, "
        'such as "(2;%mismatch%) > (2;%match%)"; those of the data where none '
        "is named.",
        separator=",",
        metavar="FORMULAS",
    )
    folds: int = option(
        FOLDS,
        "Of single judged sentences: the parts whose threshold and probabilities are fitted to the other parts. Of reading "
        "times: the parts of texts whose times are predicted from the other parts.",
        least=2,
    )


@dataclass(frozen=True)
class PairView:
    """How a side of minimal pairs is shown: its normalisation, beside alpha and the corpus of SLOR (`PairScoring`)."""

    normalization: str = option(
        "LP", "How a sentence's log-likelihood is normalised by its length.", choices=tuple(NORMALIZATIONS)
    )
    scoring: PairScoring = field(default_factory=PairScoring)


PAIR_ROW = replace(ROW, meaning="number of the pair's row in the file")
CATEGORY_COLUMN = Column("category", "text", 'the category; "" where the file names none')
ITEM = Column("item", "integer", "place of the pair in `items`, from 0")


def of_sides(
    name: str, type: Type, meaning: str, unit: str = "", since: str = FIRST_VERSION, dtype: str = ""
) -> tuple[Column, Column]:
    """A column for the acceptable and one for the unacceptable sentence."""
    return (
        Column(
            f"acceptable_{name}",
            type,
            Message("{meaning} the acceptable sentence", meaning=meaning),
            unit,
            since=since,
            dtype=dtype,
        ),
        Column(
            f"unacceptable_{name}",
            type,
            Message("{meaning} the unacceptable sentence", meaning=meaning),
            unit,
            since=since,
            dtype=dtype,
        ),
    )


LOG_LIKELIHOODS = of_sides(
    "log_likelihood", "number", Message("sum of the log-likelihoods of the scored tokens of"), "nats"
)
PAIRS = Table(
    "pairs",
    Message("A row for each pair under each model."),
    (
        MODEL,
        PAIR_ROW,
        CATEGORY_COLUMN,
        Column("acceptable", "text", "the acceptable sentence"),
        Column("unacceptable", "text", "the unacceptable sentence"),
        # None are where scores from a file come without tokens.
        *of_sides("tokens", "integer or none", Message("scored tokens, |S|, of"), "tokens", dtype="int64"),
        *LOG_LIKELIHOODS,
        Column("identical", "boolean", "whether both sentences are the same tokens to the model"),
        *of_sides("characters", "integer", Message("length of"), "characters"),
        *of_sides(
            "unknown",
            "integer or none",
            Message("tokens that stand for unknown characters in"),
            "tokens",
            dtype="int64",
        ),
        Column(
            "scored_in",
            "text",
            "the precision of the arithmetic: fp32, tf32, bf16 or fp16; server: what a model's server computes in; file: "
            "the scores are from a file",
        ),
        Column(
            "error_bound",
            "number",
            "bound of the error of the margin; 0 in fp32, NaN in any other precision without "
            "exact decisions, behind a server, and of scores from a file",
            "nats per square root of a token",
            "lower",
        ),
        Column(
            "first_token_differs",
            "boolean",
            "whether the two sentences begin with different tokens; where a causal "
            "model reads nothing before them, this difference is not measured; none where tokens are not known",
            since="0.2.0",
        ),
        ITEM,
        *of_sides("bytes", "integer", Message("length in UTF-8 of"), "bytes", since="0.3.0"),
        Column(
            "shared_words", "integer or none", "words that both sentences hold", "words", since="0.3.0", dtype="int64"
        ),
        Column(
            "cut_words",
            "integer or none",
            "of them, those that are cut into other tokens in one sentence than in the other",
            "words",
            since="0.3.0",
            dtype="int64",
        ),
        *of_sides(
            "parts",
            "integer or none",
            Message("tokens that are a part of a character, such as bytes, in"),
            "tokens",
            since="0.3.0",
            dtype="int64",
        ),
        *of_sides(
            "boundaries",
            "number",
            Message("what the boundaries of words add, NaN where they were not scored, to the log-likelihood of"),
            "nats",
            since="0.3.0",
        ),
        *of_sides(
            "words",
            "integer or none",
            Message("scored words, where their boundaries were scored, of"),
            "words",
            since="0.3.0",
        ),
        *of_sides(
            "in_template",
            "number",
            Message("log-probability in a template, the mean over several, NaN where there was none, of"),
            "nats",
            since="0.3.0",
        ),
        *of_sides(
            "yes_no",
            "number",
            Message("log-odds of yes as the answer to a question, the mean over several, NaN likewise, on"),
            "nats",
            since="0.3.0",
        ),
        *of_sides(
            "votes",
            "number",
            Message("of the templates, NaN without any, those that prefer"),
            "predictions",
            since="0.3.0",
        ),
        *of_sides("unigrams", "number", Message("unigram log-probability, which SLOR takes off, of"), "nats"),
        Column(
            "morcela_beta",
            "number",
            "MORCELA's beta, fitted to the judgements of other pairs; NaN without judgements",
            since="0.3.0",
        ),
        Column("morcela_gamma", "number", "MORCELA's gamma, likewise", "nats", since="0.3.0"),
    ),
)
TOKENS = Table(
    "tokens",
    Message("A row for each scored token of each sentence under each model."),
    (
        replace(MODEL, dtype="category"),
        PAIR_ROW,
        Column("side", "text", "acceptable or unacceptable", dtype="category", words=named),
        Column("position", "integer", "place among the scored tokens of the sentence, from 0"),
        Column("token", "text", "the token, as the tokenizer writes it", dtype="category"),
        Column("log_likelihood", "number", "its log-likelihood", "nats", "higher", dtype="float32"),
        Column(
            "regions",
            "integer",
            "the regions that it touches, as a sum: 1 words that differ, 2 one-prefix, 4 two-prefix, 8 marked",
            since="0.3.0",
        ),
        Column(
            "region",
            "integer",
            "of a sentence in a condition: number of the region that it begins in; 0 in none",
            since="0.3.0",
            dtype="int16",
        ),
        Column(
            "boundary",
            "number",
            "log Z, the logarithm of the probability that a word begins there or the text ends; "
            "NaN inside of words, and where boundaries were not scored",
            "nats",
            dtype="float32",
            since="0.3.0",
        ),
    ),
    is_large=True,
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
ITEMS = Table(
    "items",
    Message("A row for each pair of the dataset, scored or not."),
    (
        PAIR_ROW,
        Column("source", "text", "the file that it is from"),
        CATEGORY_COLUMN,
        *of_sides("rating", "number", Message("human judgement, NaN where there is none, of"), since="0.3.0"),
        Column(
            "preference",
            "number",
            "human judgement of the difference, above 0 where the acceptable sentence is "
            "preferred, mean of those who gave one; NaN where there is none",
            since="0.3.0",
        ),
        Column(
            "label", "integer or none", "of a single judged sentence: 1 acceptable, 0 not; of pairs none", since="0.3.0"
        ),
        Column("field:<name>", "text", "a further column of the file"),
    ),
)
PRECISION = Table(
    "precision",
    Message("A row for each model that was scored for exact decisions: how the error was bounded."),
    (
        MODEL,
        Column("n", "integer", "pairs", "pairs"),
        Column("n_sampled", "integer", "pairs of the sample that was scored in both precisions", "pairs"),
        Column("n_fp32", "integer", "pairs scored again in fp32", "pairs"),
        Column("rounds", "integer", "rounds of scoring again", "rounds"),
        Column(
            "largest_error",
            "number",
            "the largest error of a margin that was seen",
            "nats per square root of a token",
            "lower",
        ),
        Column("safety", "number", "the bound as a multiple of the largest error"),
        Column("seed", "integer", "seed of the sample"),
        Column("scores", "text", "the scores whose decisions are exact", since="0.2.0"),
        Column(
            "alpha", "number", "the alpha of PenLP at which they are; NaN where PenLP is not among them", since="0.2.0"
        ),
    ),
    only_with_rows=True,
)
SHARED = Table(
    "shared",
    Message("A row for each pair scored over the tokens that both sentences share, under each model."),
    (
        MODEL,
        PAIR_ROW,
        ITEM,
        Column("n_shared", "integer", "tokens that both sentences share", "tokens"),
        *of_sides("log_likelihood", "number", Message("sum of the log-likelihoods of the shared tokens in"), "nats"),
        Column("identical", "boolean", "whether both sentences are the same tokens to the model"),
    ),
)
PROMPTED = Table(
    "prompted",
    Message("A row for each pair in each template, under each model that was scored in it."),
    (
        MODEL,
        PAIR_ROW,
        ITEM,
        Column("template", "integer", "number of the template, from 1"),
        Column("score", "text", "what is scored in it: in-template LP, or Yes/No, the log-odds of yes"),
        *of_sides("score", "number", Message("that score of"), "nats"),
    ),
    only_with_rows=True,
    since="0.3.0",
)

DOCUMENTS = Table(
    "documents",
    Message("A row for each document of running text under each model."),
    (
        MODEL,
        replace(ROW, meaning="number of the document's row in the file"),
        CATEGORY_COLUMN,
        Column("title", "text", 'what the file calls the document, "" where it has no name for it'),
        Column("n_tokens", "integer or none", "scored tokens", "tokens", dtype="int64"),
        Column("n_characters", "integer", "characters that they account for", "characters"),
        Column("n_bytes", "integer", "bytes in UTF-8 of these characters", "bytes"),
        Column("n_unknown", "integer", "scored tokens that stand for unknown characters", "tokens"),
        Column("n_windows", "integer", "windows that the document was read in", "windows"),
        Column("log_likelihood", "number", "sum of the log-likelihoods of the scored tokens", "nats", "higher"),
    ),
    only_with_rows=True,
    since="0.3.0",
)

LAYER_WORDS = Table(
    "layer_words",
    Message("A row for each word of each text at each layer of each model; none without `all_layers`."),
    (
        MODEL,
        PAIR_ROW,
        Column("region", "integer", "number of the word in its text, from 1", dtype="int16"),
        Column("layer", "integer", "hidden state, 0 the embeddings", dtype="int16"),
        measured(
            "lens_surprisal", "surprisal", "its surprisal by the logit lens, with boundaries where they were scored"
        ),
    ),
    only_with_rows=True,
    since="0.3.0",
    is_large=True,
)
_OVER_LAST = Message("the last layer's is taken off, Student's t over items")
LAYERS = Table(
    "layers",
    Message(
        "A row for each layer of each model, for each column of reading times against each baseline; none without "
        "`all_layers`."
    ),
    (
        MODEL,
        Column("layer", "integer", "hidden state, 0 the embeddings; the last is the model as it is"),
        Column("measure", "text", "the column of the reading times"),
        Column(
            "baseline",
            "text",
            "as in reading_times, the surprisal of the word before being that of the layer",
            words=named,
        ),
        Column("n", "integer", "words that have all numbers", "words"),
        Column("n_items", "integer", "texts or sentences that they stand in", "items"),
        measured("reading_gain", "gain"),
        *interval(Message("Student's t over items"), "gain"),
        Column("over_last", "number", "the gain less that of the last layer", "nats per word", "higher", digits=4),
        *interval(_OVER_LAST, "over_last"),
        Column("p_holm", "number", "p of that difference, two-sided, by Holm's method for the layers below the last"),
        measured("reading_share", "share"),
        *interval(Message("the jackknife over items"), "share"),
        WHY_UNDEFINED,
    ),
    only_with_rows=True,
    since="0.3.0",
)


@documented
@dataclass(frozen=True)
class Result:
    """Everything the minimal-pairs page draws; log-likelihoods are sums in nats.

    unigrams: the corpus of the unigrams in `pairs`. rules: model -> how it was scored, in words. tokenizers: model ->
    fingerprint. prefixes: causal model -> the tokens that it read before each sentence, "" for nothing. conditions:
    what tables call a causal model that was scored again (LABEL=MODEL) -> the prefix that it was scored after. format:
    the dataset's layout.
    """

    settings: Settings
    dataset_name: str
    pairs: pd.DataFrame = field(metadata=declared(PAIRS))
    tokens: ManyRows = field(metadata=declared(TOKENS))
    excluded: pd.DataFrame = field(metadata=declared(EXCLUDED))
    items: pd.DataFrame = field(default_factory=ITEMS.frame, metadata=declared(ITEMS))
    precision: pd.DataFrame = field(default_factory=PRECISION.frame, metadata=declared(PRECISION))
    shared: pd.DataFrame = field(default_factory=SHARED.frame, metadata=declared(SHARED))
    prompted: pd.DataFrame = field(default_factory=PROMPTED.frame, metadata=declared(PROMPTED))
    documents: pd.DataFrame = field(default_factory=DOCUMENTS.frame, metadata=declared(DOCUMENTS))
    layer_words: ManyRows = field(default_factory=LAYER_WORDS.frame, metadata=declared(LAYER_WORDS))
    layers: pd.DataFrame = field(default_factory=LAYERS.frame, metadata=declared(LAYERS))
    rules: dict[str, str] = field(default_factory=dict)
    tokenizers: dict[str, str] = field(default_factory=dict)
    prefixes: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    unigrams: str = THESE
    format: str = ""
    right_to_left: bool = False
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)

    @property
    def scored_models(self) -> tuple[str, ...]:
        """What the tables have in their column `model`: the models of the settings, then their `conditions`."""
        return (*self.settings.models, *self.conditions)

    @property
    def data_kind(self) -> DataKind:
        """What a row of the data is, such as a pair, and what follows from it."""
        is_labelled = "label" in self.items.columns and bool(self.items["label"].notna().any())
        return JUDGED if is_labelled else kind_of((self.format,))
