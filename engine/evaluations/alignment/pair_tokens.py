"""The stored tokens of one model, end to end, as the arrays that scoring works on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from engine.datasets.sentence_pairs import reference_column
from engine.evaluations.alignment.naming.names import NameMatches, Names, name_matches, names_of_tokens
from engine.evaluations.alignment.naming.own_names import with_own_names
from engine.evaluations.alignment.records import LEFT_OUT, Result
from engine.evaluations.alignment.token_table import READING_COLUMNS, WORDS, looked_up_entries
from engine.evaluations.alignment.unit_readings import UnitReadings, unit_readings, with_own
from engine.evaluations.alignment.units import Units
from engine.language.readings.own import own_readings
from engine.language.word_entries import separate_entries
from engine.measures.bertscore import BestMatches, best_matches
from engine.measures.idf import IdfDictionary

# Choices of readings whose names are kept with the tokens, and of layers and units whose best matches are.
NAMES_KEPT = 4
MATCHES_KEPT = 2
# What tokenizers call the unknown token, for runs that do not say what theirs does.
USUAL_UNKNOWN = {"[UNK]", "<unk>"}


@dataclass(frozen=True, eq=False)
class PairTokens:
    """The tokens of all alignments of one model: reference, candidate, reference, candidate, …

    An **alignment** is a candidate compared with one reference; alignments of one row follow each other. `table` and
    `shapes` are the model's part of `records.Result.tokens` and `.shapes`, `pairs` is that of the result. Sentence
    2a is the reference of alignment a, 2a + 1 its candidate. `template_tokens`, `cls_and_sep` and `unknown_token` as
    in `ModelFacts`; None where the run does not say.
    """

    model: str
    table: pd.DataFrame
    shapes: pd.DataFrame
    pairs: pd.DataFrame
    template_tokens: tuple[str, ...] | None = None
    cls_and_sep: tuple[str, ...] | None = None
    unknown_token: str | None = None

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens of each sentence, int64 (n_sentences,)."""
        return self.shapes[["n_reference", "n_candidate"]].to_numpy(dtype=np.int64).ravel()

    @cached_property
    def special(self) -> np.ndarray:
        """Bool (n_tokens,)."""
        return self.table["special"].to_numpy(dtype=bool)

    @cached_property
    def unknown(self) -> np.ndarray:
        """Which tokens stand for text out of the vocabulary, bool (n_tokens,).

        A token of the template that is no special token is one as well: some Unigram tokenizers write </s> for an
        unknown piece. A run that does not say what its model calls the unknown token has those of USUAL_UNKNOWN.
        """
        codes, pieces = self.pieces
        named = USUAL_UNKNOWN if self.unknown_token is None else {self.unknown_token} - {""}
        names = {*named, *(self.template_tokens or ()), *(self.cls_and_sep or ())}
        return np.asarray(~self.special & (np.isin(pieces, list(names))[codes] if pieces else np.zeros(0, dtype=bool)))

    @cached_property
    def pieces(self) -> tuple[np.ndarray, list[str]]:
        """Codes int (n_tokens,) and the pieces that they stand for, only those that occur."""
        used, codes = np.unique(self.table["token"].cat.codes.to_numpy(), return_inverse=True)
        return codes, self.table["token"].cat.categories[used].tolist()

    def readings(self, engine: str, scope: str, own: str = "") -> UnitReadings:
        """The reading of each token, or of the whole word that it belongs to; `own` as in `Scoring.readings`."""
        codes, texts = self.words_as_written if scope == "word" else self.surfaces
        readings = unit_readings(category_texts(self.table[READING_COLUMNS[engine, scope]]), codes, texts)
        return with_own(readings, own_readings(own)) if own else readings

    def names(self, own: str = "", *, by_sound: bool = True) -> tuple[Names, NameMatches]:
        """The names of all sentences and the counterpart of each; those of the last choices are kept."""
        kept: dict[tuple[str, bool], tuple[Names, NameMatches]] = vars(self).setdefault("_names", {})
        if (own, by_sound) not in kept:
            names = with_own_names(self.names_by_mecab, self.sentence, self.table, self.sentences, own_readings(own))
            if len(kept) >= NAMES_KEPT:
                kept.pop(next(iter(kept)))
            kept[own, by_sound] = names, name_matches(names, len(self.lengths), by_sound=by_sound)
        return kept[own, by_sound]

    def matches(self, units: Units, key: tuple[str, int] | None, *, match_special: bool) -> BestMatches:
        """The best match of each unit; those of the last keys are kept, as no other choice changes them.

        `key`: the kind of units and the layer whose similarities they have; None keeps nothing.
        """
        kept: dict[tuple[str, int, bool], BestMatches] = vars(self).setdefault("_matches", {})
        own = None if key is None else (*key, match_special)
        if own is not None and own in kept:
            return kept[own]
        matches = best_matches(units.similarity, units.lengths, units.special, match_special=match_special)
        if own is not None:
            if len(kept) >= MATCHES_KEPT:
                kept.pop(next(iter(kept)))
            kept[own] = matches
        return matches

    @cached_property
    def names_by_mecab(self) -> Names:
        """The names of all sentences without a list of one's own: of a run without them looked up, once."""
        return names_of_tokens(self.table, self.sentence, self.sentences)

    @cached_property
    def surfaces(self) -> tuple[np.ndarray, list[str]]:
        """Codes int (n_tokens,) and the texts of the tokens that they stand for."""
        surface = self.table["surface"].cat
        return surface.codes.to_numpy(), surface.categories.tolist()

    @cached_property
    def words_as_written(self) -> tuple[np.ndarray, list[str]]:
        """Codes int (n_tokens,) and the texts of the words that the tokens belong to, as the sentences have them."""
        codes: dict[str, int] = {}
        word, start, end = (self.table[name].to_numpy() for name in ("word", "start", "end"))
        begins = np.flatnonzero(begins_of_words(word, self.special, self.sentence))
        lasts = np.append(begins[1:], len(word)) - 1
        sentences = self.sentences
        of_word = [
            codes.setdefault(sentences[sentence][first:last], len(codes))
            for sentence, first, last in zip(
                self.sentence[begins].tolist(), start[begins].tolist(), end[lasts].tolist(), strict=True
            )
        ]
        return np.repeat(np.array(of_word, dtype=np.int64), lasts - begins + 1), list(codes)

    def reference_counts(self, special_tokens: str) -> tuple[int, dict[str, int]]:
        """The number of references, and in how many of them each piece occurs, save those whose idf is always 0."""
        codes, pieces = self.pieces
        of_reference = ~self.weightless(special_tokens, with_idf=True) & (self.sentence % 2 == 0)
        occurs = np.unique(self.sentence[of_reference] * len(pieces) + codes[of_reference])
        counts = np.bincount(occurs % len(pieces), minlength=len(pieces))
        return len(self.shapes), {piece: int(count) for piece, count in zip(pieces, counts, strict=True) if count}

    @cached_property
    def sentences(self) -> list[str]:
        """The text of every sentence, as it was given."""
        line_of_row = {row: line for line, row in enumerate(self.pairs["row"].tolist())}
        columns = {name: self.pairs[name].tolist() for name in self.pairs.columns if name.startswith(("ref", "cand"))}
        sentences: list[str] = []
        for row, reference in zip(self.shapes["row"].tolist(), self.shapes["reference"].tolist(), strict=True):
            line = line_of_row[row]
            sentences += [columns[reference_column(reference)][line], columns["candidate"][line]]
        return sentences

    @cached_property
    def sentence(self) -> np.ndarray:
        """The sentence of each token, int64 (n_tokens,)."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def of_alignment(self, alignment: int) -> PairTokens:
        """The tokens of one alignment alone."""
        first, last = np.cumsum(np.r_[0, self.lengths])[[2 * alignment, 2 * alignment + 2]]
        return PairTokens(
            self.model,
            self.table.iloc[first:last],
            self.shapes.iloc[alignment : alignment + 1],
            self.pairs,
            self.template_tokens,
            self.cls_and_sep,
            self.unknown_token,
        )

    def weightless(self, special_tokens: str, *, with_idf: bool) -> np.ndarray:
        """Which tokens have no weight, bool (n_tokens,), by `Scoring.special_tokens`.

        As bert_score 0.3.13: without idf the tokenizer's cls_token and sep_token, wherever they stand (`BERTScorer.
        score` sets these two to 0 and nothing else). With idf the tokens of the template: they are in each of the N
        documents, so that their idf is log((N + 1) / (N + 1)) = 0. Any other special token is one that the text itself
        contains, and is looked up as any token. Left out: every special token. A run that does not say which tokens
        are which has none of its special tokens weighed.
        """
        names = self.template_tokens if with_idf else self.cls_and_sep
        if special_tokens == LEFT_OUT or names is None:
            return self.special
        codes, pieces = self.pieces
        return np.isin(pieces, names)[codes] if pieces else np.zeros(0, dtype=bool)

    def weightless_tokens(self, special_tokens: str, *, with_idf: bool) -> tuple[str, ...]:
        """The different tokens that have no weight, as the tokenizer writes them, in the order of their names."""
        codes, pieces = self.pieces
        return tuple(
            sorted(pieces[code] for code in np.unique(codes[self.weightless(special_tokens, with_idf=with_idf)]))
        )

    @cached_property
    def touched_entries(self) -> tuple[np.ndarray, list[tuple[str, ...]]]:
        """Codes int (n_tokens,) and the entries of a dictionary of words that the tokens touch, each as a tuple.

        Of a run that was stored without them looked up, once.
        """
        if WORDS not in self.table or self.table[WORDS].isna().any():
            joined = pd.Categorical(looked_up_entries(self.table, self.sentence, self.sentences))
        else:
            joined = self.table[WORDS].array
        return joined.codes, [tuple(separate_entries(text)) for text in joined.categories]

    def weights(self, dictionary: IdfDictionary | None, special_tokens: str) -> np.ndarray:
        """The idf of each token, float64 (n_tokens,); 1 without a dictionary; 0 for those without a weight.

        By a dictionary of words a token has the idf of the word that it belongs to, each piece of a word the same; one
        across several words that of the rarest. Special tokens and white space belong to no word: 0.
        """
        weightless = self.weightless(special_tokens, with_idf=dictionary is not None)
        if dictionary is None:
            return np.where(weightless, 0.0, 1.0)
        if dictionary.of_words:
            word_codes, touched = self.touched_entries
            words = list(dict.fromkeys(word for entries in touched for word in entries))
            idf = dict(zip(words, dictionary.idf(words, np.zeros(len(words), dtype=bool)).tolist(), strict=True))
            rarest = np.array([max((idf[word] for word in entries), default=0.0) for entries in touched])
            return np.where(weightless | self.special, 0.0, rarest[word_codes])
        codes, pieces = self.pieces
        return np.where(weightless, 0.0, dictionary.idf(pieces, np.zeros(len(pieces), dtype=bool))[codes])


def category_texts(categories: pd.Series) -> np.ndarray:
    """A column of categories as the texts they stand for, an array of its own."""
    return categories.cat.categories.to_numpy(dtype=object)[categories.cat.codes.to_numpy()]


def begins_of_words(word: np.ndarray, special: np.ndarray, sentence: np.ndarray) -> np.ndarray:
    """Which tokens begin a word or are a special token, bool (n_tokens,)."""
    if not len(word):
        return np.zeros(0, dtype=bool)
    return np.asarray(np.r_[True, (word[1:] != word[:-1]) | special[1:] | (sentence[1:] != sentence[:-1])])


def tokens_by_model(result: Result) -> dict[str, PairTokens]:
    """The tokens of each model of a result as arrays; made once for each result, and kept with it."""
    attributes = vars(result)
    if "_tokens_by_model" not in attributes:
        attributes["_tokens_by_model"] = {
            model: PairTokens(
                model,
                _of_model(result.tokens, model),
                _of_model(result.shapes, model),
                result.pairs,
                result.template_tokens.get(model),
                result.cls_and_sep.get(model),
                result.unknown_tokens.get(model),
            )
            for model in result.settings.models
        }
    tokens: dict[str, PairTokens] = attributes["_tokens_by_model"]
    return tokens


def _of_model(table: pd.DataFrame, model: str) -> pd.DataFrame:
    return table[table["model"] == model].reset_index(drop=True)
