"""Tokens that stand for text out of the vocabulary: to a model they are one, to the penalty they are their texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import Result, Scoring, Settings
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from engine.messages.languages import in_language, translated
from engine.models.loading.model_description import describe
from engine.models.sources.model_location import locate
from engine.options import option_of
from tests.support.session_fake import SessionFake

BUILT_IN = ("bert-mini-ja", "gpt2-mini-ja")
OUT_OF_VOCABULARY = "髙橋高😀😭♪♬서울부산"
TEXTS = ("髙は笑った", "橋は笑った")


class SmallVocabulary(SessionFake):
    """A model of characters that knows none of OUT_OF_VOCABULARY: each is the same [UNK] to it."""

    def describe(self, model):  # type: ignore[no-untyped-def]
        return replace(super().describe(model), unknown_token="[UNK]")

    def token_similarities(self, model, pairs, **settings):  # type: ignore[no-untyped-def]
        hidden = [tuple("".join("?" if c in OUT_OF_VOCABULARY else c for c in text) for text in pair) for pair in pairs]
        pieces = super().token_similarities(model, hidden, **settings)
        return [
            {
                name: ["[UNK]" if token == "?" else token for token in value] if name.endswith("_tokens") else value
                for name, value in piece.items()
            }
            for piece in pieces
        ]


def run(*pairs: tuple[str, str]) -> Result:
    references, candidates = zip(*pairs, strict=True)
    dataset = SentencePairs("made up", references, candidates, ("",) * len(pairs), {}, tuple(range(1, len(pairs) + 1)))
    return evaluate(Settings(("m",)), dataset, SmallVocabulary())  # type: ignore[arg-type]


@pytest.fixture
def dictionary(tmp_path: Path) -> str:
    # [UNK] is in 8 of 9 documents, as a vocabulary without rare kanji has it in most novels: its idf is nearly 0.
    documents = [["[UNK]", *"は笑った"]] * 8 + [list("は笑った猫犬鳥魚虫")]
    write_idf(count_documents(documents, "with unknown", "t" * 64, "line"), tmp_path / "idf.json")
    return str(tmp_path / "idf.json")


def test_two_names_out_of_the_vocabulary_are_no_longer_the_same(dictionary: str) -> None:
    scores = rescore(run(TEXTS), Scoring(dictionary, penalty="reading"))
    pair = scores.pairs.iloc[0]
    assert pair["f1"] == pytest.approx(1)  # BERTScore's own number: [UNK] equals [UNK]
    unknown = scores.tokens[scores.tokens["unknown"]]
    assert unknown["surface"].tolist() == ["髙", "橋"] and unknown["low_frequency"].all()
    assert unknown["idf"].max() < scores.thresholds["m"]  # by its idf alone it would not be
    # 髙 is たか and 橋 はし, as pykakasi reads them alone: no kana in common, M = 0; the other four tokens keep theirs,
    # so that both penalties are 4 / 5.
    assert unknown["reading"].tolist() == ["たか", "はし"] and (unknown["agreement"] == 0).all()
    assert pair["precision_penalty"] == pair["recall_penalty"] == pytest.approx(0.8)


@pytest.mark.parametrize("criterion", option_of(Scoring, "criterion").choices)
@pytest.mark.parametrize("unit", ["subword", "word"])
@pytest.mark.parametrize("penalty", ["reading", "names"])
def test_an_unknown_token_is_penalised_under_every_criterion(
    dictionary: str, criterion: str, unit: str, penalty: str
) -> None:
    tokens = rescore(run(TEXTS), Scoring(dictionary, penalty=penalty, criterion=criterion, unit=unit)).tokens
    assert tokens.loc[tokens["unknown"], "penalised"].all() and tokens["unknown"].sum() == 2
    assert not tokens.loc[tokens["special"], "unknown"].any()


@pytest.mark.parametrize(
    ("reference", "candidate", "f1", "agreements"),
    [
        ("好き😀", "好き😭", 2 / 3, [0, 0]),
        ("好き😀", "好き😀", 1, [1, 1]),
        ("髙は来た", "高は来た", 1, [1, 1]),
        ("高♪", "高♬", 1 / 2, [1, 0, 1, 0]),
        ("😀😭", "😭😀", 1, [1, 1, 1, 1]),
        # 서 is neither 부 nor 산: no token of the other sentence has its text
        ("서울a", "부산a", 1 / 3, [0, 0, 0, 0]),
    ],
)
def test_names_by_reading_compares_unknown_tokens_that_match_by_their_texts(
    reference: str, candidate: str, f1: float, agreements: list[float]
) -> None:
    # The vectors of equal characters, and of all unknown tokens, are equal: F1 is 1 in every row. A token weighs 1.
    scores = rescore(run((reference, candidate)), Scoring(penalty="names"))
    unknown = scores.tokens[scores.tokens["unknown"]]
    assert scores.pairs["f1"].item() == pytest.approx(1) and scores.pairs["penalized_f1"].item() == pytest.approx(f1)
    assert unknown["agreement"].tolist() == agreements and unknown["penalised"].all()
    assert unknown["similarity"].tolist() == [value**2 for value in agreements]
    assert unknown["name_text"].tolist() == unknown["surface"].tolist()
    none = rescore(run((reference, candidate)), Scoring(penalty="none"))
    assert none.pairs["penalized_f1"].item() == pytest.approx(1)


def test_an_unknown_token_that_matches_a_known_one_is_left_to_its_vector() -> None:
    scores = rescore(run(("猫😀", "犬猫")), Scoring(penalty="names"))
    assert not scores.tokens.loc[scores.tokens["unknown"], "penalised"].any()
    assert scores.pairs["penalized_f1"].item() == scores.pairs["f1"].item()


def test_the_rows_with_unknown_tokens_are_named() -> None:
    [notice] = run(("猫は笑った", "猫は笑った"), TEXTS, ("髙い橋", "低い橋")).notices
    assert notice.startswith("m: 2 rows contain text that is not in the vocabulary: 2, 3. 5 unknown tokens stand for: ")
    assert "a penalty compares the texts; F1 without a penalty takes them for the same token" in notice
    assert "髙, 橋." in notice
    with in_language("ja"):
        assert translated(notice).startswith("m: 2行に語彙にない文字列が含まれています: 2、3。未知語トークン5個が")
    assert run(("猫は笑った", "犬は笑った")).notices == ()
    [of_one] = run(("猫♪", "犬だ")).notices
    assert "1 unknown token stands for: ♪." in of_one
    with in_language("ja"):
        assert "未知語トークン1個が次の文字列を表しています: ♪。" in translated(of_one)


def test_a_run_that_does_not_name_the_unknown_token_has_the_usual_ones() -> None:
    result = run(TEXTS)
    earlier = replace(result, unknown_tokens={})
    assert rescore(earlier, Scoring()).tokens["unknown"].sum() == 2
    without = replace(result, unknown_tokens={"m": ""})  # a tokenizer that has none
    assert not rescore(without, Scoring()).tokens["unknown"].any()


def test_built_in_models_name_their_unknown_token() -> None:
    named = {name: describe(locate(f"builtin/{name}")).facts.unknown_token for name in BUILT_IN}
    assert named == {"bert-mini-ja": "[UNK]", "gpt2-mini-ja": "<unk>"}
