"""An idf dictionary of words in an alignment: each token has the idf of its word."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.alignment import evaluate as aligning
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import TOKEN_SCORES, Result, Scoring, Settings
from engine.evaluations.alignment.rescoring import rescore, scored_signature
from engine.evaluations.metric_study import records as study
from engine.evaluations.metric_study.evaluate import evaluate as study_of
from engine.evaluations.minimal_pairs.unigrams import fits
from engine.evaluations.shared.dictionaries import WORD_LEVEL, dictionary_for
from engine.evaluations.shared.idf_files import write_idf
from engine.language.word_entries import WORDS, word_entries
from engine.measures.idf import IdfDictionary, count_documents
from tests.support.session_fake import SessionFake, similarities

# Nine documents. MeCab: 斉藤|は|笑っ|た, 尾崎|は|笑っ|た. The characters 斉 and 藤 are in all, the word 斉藤 in one.
CORPUS = ["猫は笑った。斉と藤"] * 8 + ["斉藤は笑った。斉と藤"]
PAIRS = SentencePairs(
    "made up", ("斉藤は笑った", "東京タワーへ"), ("尾崎は笑った", "東京へ"), ("", ""), {"a": (0.4, 0.7)}, (1, 2)
)
UNSEEN, ONCE, EVERYWHERE = np.log(10), np.log(10 / 2), 0.0


class InWords(SessionFake):
    """A model to which every word of MeCab is one token."""

    def token_similarities(self, model: str, pairs: Sequence[tuple[str, str]], **_: Any) -> list[dict[str, Any]]:
        return [in_words(model, *pair) for pair in pairs]


def in_words(model: str, reference: str, candidate: str) -> dict[str, Any]:
    piece = similarities(model, reference, candidate)
    sides = {}
    for side, text in (("reference", reference), ("candidate", candidate)):
        ends = np.cumsum([len(word) for word in word_entries(text)])
        starts = np.r_[0, ends[:-1]]
        sides[side] = [0, *(1 + starts), len(text) + 1]
        piece[f"{side}_tokens"] = ["[CLS]", *word_entries(text), "[SEP]"]
        piece[f"{side}_special"] = np.array([True, *[False] * len(ends), True])
        piece[f"{side}_spans"] = np.array([(-1, -1), *zip(starts, ends, strict=True), (-1, -1)], dtype=np.int32)
    piece["similarity"] = piece["similarity"][:, sides["reference"]][:, :, sides["candidate"]]
    return piece


@pytest.fixture
def words(tmp_path: Path) -> str:
    path = tmp_path / "words.json.gz"
    write_idf(count_documents(map(word_entries, CORPUS), "my words", WORDS, "line"), path)
    return str(path)


def run(session: SessionFake | None = None, **settings: Any) -> Result:
    return evaluate(Settings(("m",), **settings), PAIRS, session or SessionFake())  # type: ignore[arg-type]


def tokens_of(result: Result, scoring: Scoring, row: int = 1, side: str = "reference") -> pd.DataFrame:
    tokens = rescore(result, scoring).tokens
    return tokens[(tokens["row"] == row) & (tokens["side"] == side)]


def test_a_name_is_rare_although_its_characters_are_not(words: str, tmp_path: Path) -> None:
    tokens = tokens_of(run(), Scoring(words, penalty="reading", threshold=1.0, threshold_kind="value"))
    assert tokens["token"].tolist() == ["[CLS]", *"斉藤は笑った", "[SEP]"]
    assert tokens["idf"].to_numpy() == pytest.approx([0, ONCE, ONCE, 0, 0, 0, 0, 0])
    assert tokens["low_frequency"].tolist() == [False, True, True, *[False] * 5]
    assert tokens["penalised"].tolist() == tokens["low_frequency"].tolist()
    unseen = tokens_of(run(), Scoring(words, penalty="reading"), side="candidate")
    assert unseen["idf"].to_numpy()[1:3] == pytest.approx(UNSEEN)
    # Counted in characters the same corpus has them in every document.
    pieces = tmp_path / "pieces.json.gz"
    write_idf(count_documents(map(list, CORPUS), "my pieces", "t" * 64, "line"), pieces)
    of_pieces = tokens_of(run(), Scoring(str(pieces), penalty="reading", threshold=1.0, threshold_kind="value"))
    assert of_pieces["idf"].to_numpy()[1:3].tolist() == [0, 0] and not of_pieces["low_frequency"].any()


def test_a_word_has_its_own_idf_not_that_of_its_pieces_together(words: str) -> None:
    tokens = tokens_of(run(), Scoring(words, unit="word", penalty="reading", threshold=1.0, threshold_kind="value"))
    assert tokens["token"].tolist() == ["[CLS]", "斉藤", "は", "笑っ", "た", "[SEP]"]
    assert tokens["idf"].to_numpy() == pytest.approx([0, ONCE, 0, 0, 0, 0])
    assert tokens["low_frequency"].tolist() == [False, True, *[False] * 4]


def test_a_token_across_words_has_the_idf_of_the_rarest_and_white_space_none(words: str) -> None:
    class Across(SessionFake):
        """斉藤は is one token, and white space one that stands for nothing."""

        def token_similarities(self, model, pairs, **_):  # type: ignore[no-untyped-def]
            side = {
                "tokens": ["[CLS]", "▁", "斉藤は", "笑", "った", "[SEP]"],
                "special": np.array([True, False, False, False, False, True]),
                "spans": np.array([(-1, -1), (0, 0), (0, 3), (3, 4), (4, 6), (-1, -1)], dtype=np.int32),
            }
            return [
                {
                    "similarity": np.eye(6, dtype=np.float32)[None],
                    **{f"{name}_{key}": value for name in ("reference", "candidate") for key, value in side.items()},
                }
            ] * len(pairs)

    one = SentencePairs("made up", PAIRS.references[:1], PAIRS.references[:1], ("",), {}, (1,))
    result = evaluate(Settings(("m",)), one, Across())  # type: ignore[arg-type]
    assert result.tokens["words"].tolist()[:6] == ["", "", "斉藤 は", "笑っ", "笑っ た", ""]
    assert tokens_of(result, Scoring(words))["idf"].to_numpy() == pytest.approx([0, 0, ONCE, 0, 0, 0])
    by_word = tokens_of(result, Scoring(words, unit="word"))
    assert by_word["token"].tolist() == ["[CLS]", "▁", "斉藤は", "笑った", "[SEP]"]
    assert by_word["idf"].to_numpy() == pytest.approx([0, 0, ONCE, 0, 0])


@pytest.mark.parametrize("unit", ["subword", "word"])
@pytest.mark.parametrize("penalty", ["none", "reading", "names"])
def test_where_each_word_is_one_piece_the_numbers_are_those_of_the_pieces(
    words: str, tmp_path: Path, unit: str, penalty: str
) -> None:
    pieces = tmp_path / "pieces.json.gz"
    write_idf(count_documents(map(word_entries, CORPUS), "my pieces", "t" * 64, "line"), pieces)
    result = run(InWords())
    for threshold in (0.3, 0.7):
        one, other = (
            rescore(result, Scoring(idf, unit=unit, penalty=penalty, threshold=threshold))
            for idf in (words, str(pieces))
        )
        assert one.thresholds == other.thresholds
        pd.testing.assert_frame_equal(one.pairs, other.pairs)
        pd.testing.assert_frame_equal(one.tokens[TOKEN_SCORES.headers], other.tokens[TOKEN_SCORES.headers])


def test_no_special_token_has_a_weight_and_the_signature_says_so(words: str) -> None:
    # A run that does not say which special tokens there are weighs none of them, by words without a notice.
    result = run()
    old = replace(result, template_tokens={}, cls_and_sep={})
    for one in (result, old):
        scores = rescore(one, Scoring(words, special_tokens="as-bert-score"))
        assert scores.weightless == {"m": ("[CLS]", "[SEP]")} and scores.notices == ()
        dictionary = scored_signature(one, scores)["dictionaries"]["m"]
        assert dictionary.startswith(f"my words ({WORDS}, 9 documents, ")
    json.dumps(scored_signature(result, scores))


def test_a_stored_run_without_words_is_scored_the_same(words: str) -> None:
    result = run()
    old = replace(result, tokens=result.tokens.drop(columns="words"))
    loaded = replace(result, tokens=result.tokens.assign(words=pd.Series(np.nan, index=result.tokens.index)))
    scoring = Scoring(words, penalty="reading", threshold=0.3)
    for one in (old, loaded):
        pd.testing.assert_frame_equal(rescore(one, scoring).tokens, rescore(result, scoring).tokens)


def test_a_threshold_that_no_word_exceeds_is_told(words: str, tmp_path: Path) -> None:
    path = tmp_path / "once.json"
    write_idf(count_documents([["猫"], ["犬"], ["は"]], "once", WORDS, "line"), path)
    scores = rescore(run(), Scoring(str(path), penalty="reading"))
    assert "more than 30% of its words occur in one document only" in scores.notices[0]
    for scoring in (
        Scoring(str(path), penalty="none"),
        Scoring(str(path), penalty="reading", criterion="names"),
        Scoring(str(path), penalty="reading", threshold=0.5, threshold_kind="value"),
        Scoring(words, penalty="reading", threshold=0.5),
    ):
        assert rescore(run(), scoring).notices == ()


def test_dictionaries_of_words_are_refused_where_pieces_are_needed(words: str, tmp_path: Path) -> None:
    for choice in (words, *WORD_LEVEL):
        with pytest.raises(InputError, match=r"counts words .* pieces of a tokenizer are looked up"):
            dictionary_for(choice, "t" * 64, "m")
        assert not fits(choice, "t" * 64, "m")
        assert dictionary_for(choice, "t" * 64, "m", words=True).of_words
    other = tmp_path / "other.json"
    write_idf(IdfDictionary("theirs", 2, {"猫": 1}, "words: unidic-lite 0.9", "line"), other)
    with pytest.raises(InputError, match="cut by another dictionary of MeCab"):
        dictionary_for(str(other), "t" * 64, "m", words=True)
    with pytest.raises(InputError, match="cut by another dictionary of MeCab"):
        run(scoring=Scoring(str(other)))


def test_words_are_counted_over_the_documents_of_the_built_in_dictionaries() -> None:
    sizes = {name: dictionary_for(name, "", "", words=True) for name in WORD_LEVEL}
    assert {name: dictionary.n_documents for name, dictionary in sizes.items()} == {
        "novel-words": 229,
        "wiki-words": 3979,
    }
    assert sizes["novel-words"].document_counts["斉藤"] == 1 and "ハンター" not in sizes["novel-words"].document_counts
    assert sizes["novel-words"].n_tokens == 4_010_250 and sizes["wiki-words"].n_tokens == 245_108


def test_a_run_that_begins_with_words_says_so_before_the_work(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(scoring=Scoring(words)).settings.scoring.idf == words
    monkeypatch.setattr(aligning, "_packed", lambda *_: pytest.fail("worked first"))
    with pytest.raises(InputError, match=r"neither built in .*novel-words"):
        run(scoring=Scoring("nothing.json"))


def test_a_metric_study_holds_words_beside_pieces(words: str) -> None:
    pairs = SentencePairs(
        "made up",
        ("斉藤は笑った", "猫は笑った", "東京へ", "斉藤は猫"),
        ("尾崎は笑った", "猫は笑った", "東京タワーへ", "猫は斉藤"),
        ("",) * 4,
        {"a": (0.1, 1.0, 0.6, 0.4)},
        (1, 2, 3, 4),
    )
    result = study_of(study.Settings(("m",), idfs=("none", words), surface=False, pooling="none"), pairs, SessionFake())  # type: ignore[arg-type]
    of_idf = result.correlations.set_index(["idf", "penalty"])["pearson"]
    assert (words, "none") in of_idf.index and (words, "reading") in of_idf.index and result.left_out.empty
    assert "my words (words: unidic-lite" in json.dumps(result.signature)
