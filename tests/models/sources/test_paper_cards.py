"""The cards against the papers' tables, copied here by hand."""

from __future__ import annotations

import pytest

from engine.language.segmenters import display_name
from engine.models.sources.cards import PAPER_PREFIX
from engine.models.sources.paper_cards import CLUSTERS, CLUSTERS_FIRST, LENGTH_BIAS, NOVELS, PAPER_CARDS

# Table 5 of the clustering paper: model size, whole word masking, vocabulary size, max_seq_length ("No Info": None).
TABLE_5 = {
    "Kyoto Univ. Ver.": ("Base", "No", "32,000", "128"),
    "MeCab Ver.": ("Base", "No", "32,000", None),
    "SP Ver.": ("Base", "No", "32,000", None),
    "Tohoku Univ. Ver.": ("Base", "No", "32,000", "512"),
    "NICT Ver.": ("Base", "No", "32,000", "128, then 512"),
    "Laboro Ver.": ("Base", "No", "32,000", "128, then 512"),
}
# Table 1: pretraining corpus.
TABLE_1 = {
    "Kyoto Univ. Ver.": "Wikipedia",
    "MeCab Ver.": "Articles of business news",
    "SP Ver.": "Wikipedia",
    "Tohoku Univ. Ver.": "Wikipedia",
    "NICT Ver.": "Wikipedia",
    "Laboro Ver.": "Texts on the Internet (12 GB)",
}
# Table 1 of the token-length paper: tokenizer, vocabulary size.
LENGTH_TABLE = {
    "GPT-2 medium": ("BPE", "50,256"),
    "BERT base (cased)": ("WordPiece", "28,996"),
    "RoBERTa base": ("BPE", "50,263"),
    "japanese-gpt2-medium": ("Unigram", "32,000"),
    "Arabic GPT2": ("Unigram", "64,000"),
    "AraBERT v2": ("Unigram", "64,000"),
    "gpt2-wechsel-french": ("BPE", "50,257"),
    "roberta-base-wechsel-french": ("BPE", "50,265"),
    "BERT multilingual base (cased)": ("WordPiece", "119,547"),
    "XLNet-RoBERTa base": ("Unigram", "119,547"),
}


def by_label(paper: str) -> dict[str, object]:
    return {label: card for card in PAPER_CARDS.values() for named, label in card.labels if named == paper}


def test_every_model_of_each_paper_has_its_card() -> None:
    assert list(by_label(CLUSTERS)) == list(TABLE_5)
    assert list(by_label(CLUSTERS_FIRST)) == ["京大版", "MeCab 版", "SP 版", "東北大版"]
    assert set(by_label(NOVELS)) == {"Multilingual Model", "Wikipedia Model", "SNS Model", "Novel Model"}
    assert set(by_label(LENGTH_BIAS)) == set(LENGTH_TABLE)


@pytest.mark.parametrize("label", TABLE_5)
def test_the_six_models_have_the_facts_of_tables_1_and_5(label: str) -> None:
    card = by_label(CLUSTERS)[label]
    assert (card.model_size, card.whole_word_masking, card.vocabulary_size, card.max_seq_length) == TABLE_5[label]
    assert card.corpus == TABLE_1[label] and card.recipe is not None


@pytest.mark.parametrize("label", LENGTH_TABLE)
def test_the_models_of_minimal_pairs_have_the_facts_of_table_1(label: str) -> None:
    card = by_label(LENGTH_BIAS)[label]
    assert (card.tokenizer, card.vocabulary_size) == LENGTH_TABLE[label]


def test_a_card_has_an_id_or_says_what_it_needs() -> None:
    for name, card in PAPER_CARDS.items():
        assert name == card.name and name.startswith(PAPER_PREFIX) and "=" not in name
        assert (card.hub is None) != (card.needs is None), name
        assert card.model_name == (name if card.hub else f"{name}=DIRECTORY")
        assert card.labels and card.publisher and card.url.startswith("https://") and card.kind in ("masked", "causal")
        assert card.recipe is None or card.recipe.segmenter is None or display_name(card.recipe.segmenter)


def test_the_ids_are_those_that_the_papers_and_publishers_name() -> None:
    assert {card.name: card.hub for card in PAPER_CARDS.values() if card.hub} == {
        "paper/tohoku-univ": "cl-tohoku/bert-base-japanese",
        "paper/multilingual-bert": "bert-base-multilingual-cased",
        "paper/gpt2-medium": "gpt2-medium",
        "paper/bert-base-cased": "bert-base-cased",
        "paper/roberta-base": "roberta-base",
        "paper/japanese-gpt2-medium": "rinna/japanese-gpt2-medium",
        "paper/arabert-v2": "aubmindlab/bert-base-arabertv2",
        "paper/gpt2-wechsel-french": "benjamin/gpt2-wechsel-french",
        "paper/roberta-base-wechsel-french": "benjamin/roberta-base-wechsel-french",
        "paper/xlm-roberta-base": "xlm-roberta-base",
    }
