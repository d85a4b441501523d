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
from engine.models.loading.model_description import describe
from engine.models.sources.model_location import locate
from engine.options import option_of
from engine.translation import in_language, translated
from tests.support.session_fake import SessionFake

BUILT_IN = ("bert-mini-ja", "gpt2-mini-ja")
OUT_OF_VOCABULARY = "髙橋"
TEXTS = ("髙は笑った", "橋は笑った")


class SmallVocabulary(SessionFake):
    """A model of characters that knows none of OUT_OF_VOCABULARY: each is the same [UNK] to it."""

    def describe(self, model):  # type: ignore[no-untyped-def]
        return replace(super().describe(model), unknown_token="[UNK]")

    def token_similarities(self, model, pairs, **settings):  # type: ignore[no-untyped-def]
        hidden = [tuple("".join("?" if c in OUT_OF_VOCABULARY else c for c in text) for text in pair) for pair in pairs]
        pieces = super().token_similarities(model, hidden, **settings)
        return [{name: ["[UNK]" if token == "?" else token for token in value] if name.endswith("_tokens") else value
                 for name, value in piece.items()} for piece in pieces]


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
def test_an_unknown_token_is_penalised_under_every_criterion(dictionary: str, criterion: str, unit: str) -> None:
    tokens = rescore(run(TEXTS), Scoring(dictionary, penalty="reading", criterion=criterion, unit=unit)).tokens
    assert tokens.loc[tokens["unknown"], "penalised"].all() and tokens["unknown"].sum() == 2
    assert not tokens.loc[tokens["special"], "unknown"].any()


def test_the_rows_with_unknown_tokens_are_named() -> None:
    [notice] = run(("猫は笑った", "猫は笑った"), TEXTS, ("髙い橋", "高い橋")).notices
    assert notice.startswith("m: 2 rows contain text that is not in the vocabulary: 2, 3. 5 unknown tokens stand for: ")
    assert "髙, 橋." in notice
    with in_language("ja"):
        assert translated(notice).startswith("m: 2行に語彙にない文字列が含まれています: 2, 3。未知語トークン5個が")
    assert run(("猫は笑った", "犬は笑った")).notices == ()


def test_a_run_that_does_not_name_the_unknown_token_has_the_usual_ones() -> None:
    result = run(TEXTS)
    earlier = replace(result, unknown_tokens={})
    assert rescore(earlier, Scoring()).tokens["unknown"].sum() == 2
    without = replace(result, unknown_tokens={"m": ""})  # a tokenizer that has none
    assert not rescore(without, Scoring()).tokens["unknown"].any()


def test_built_in_models_name_their_unknown_token() -> None:
    named = {name: describe(locate(f"builtin/{name}")).facts.unknown_token for name in BUILT_IN}
    assert named == {"bert-mini-ja": "[UNK]", "gpt2-mini-ja": "<unk>"}
