"""Masked sentences built from sentences with domains: which nouns, which sentences, and what is said of them."""

from __future__ import annotations

import random

import pytest

from engine.datasets import sample_data
from engine.datasets.formats.files import read_table
from engine.datasets.labelled.domain_sentences import DomainSentences, from_table, guess_columns
from engine.datasets.masked.masked_building import build, find_nouns
from engine.errors import InputError


def sentences(*pairs: tuple[str, str], name: str = "mine.csv") -> DomainSentences:
    texts, domains = zip(*pairs, strict=True)
    return DomainSentences(name, texts, domains, tuple(range(1, len(texts) + 1)))


BOOKS = tuple(
    (text, "books")
    for text in (
        "この本は長い。",
        "本を読む。",
        "本が好きだ。",
        "本と本を買う。",
        "日本の物語だ。",
        "物語が長い。",
        "著者に会う。",
        "本",
    )
)


def test_nouns_are_counted_as_words_and_by_domain() -> None:
    found = find_nouns(sentences(*BOOKS, ("本はない。", "music")))
    # 本: 1 + 1 + 1 + 2, and once where nothing stands beside it; never in 日本.
    assert found.occurrences["books"] == {"本": 6, "物語": 2, "著者": 1}
    assert dict(found.sentences_by_noun["books"]["本"]) == {
        "この本は長い。": 2,
        "本を読む。": 0,
        "本が好きだ。": 0,
        "本と本を買う。": 0,
    }
    assert found.occurrences["music"] == {"本": 1}


def test_the_most_frequent_nouns_are_masked_at_their_first_occurrence() -> None:
    dataset = build(find_nouns(sentences(*BOOKS)), n_nouns=2, n_sentences=2, seed=3)
    assert dataset.labels == ("本", "本", "物語", "物語")
    assert all(
        text.find(label) == start
        for text, label, start in zip(dataset.texts, dataset.labels, dataset.starts, strict=True)
    )
    assert dataset.rows == (1, 2, 3, 4) and set(dataset.domains) == {"books"}
    assert dataset.name == "mine.csv (2 nouns × 2, seed 3)"
    assert "Built from mine.csv: the 2 most frequent nouns of each domain (名詞-一般 by MeCab;" in dataset.notices[0]
    assert "2 sentences each drawn with seed 3, the first occurrence masked" in dataset.notices[0]


def test_the_seed_draws_and_the_order_of_the_file_does_not() -> None:
    found = find_nouns(sample_data.domain_sentences())
    once, again, other = (build(found, n_nouns=8, n_sentences=2, seed=seed) for seed in (1, 1, 2))
    assert once.content_hash == again.content_hash != other.content_hash
    assert once.labels == other.labels  # the nouns are no matter of chance

    pairs = list(zip(sample_data.domain_sentences().texts, sample_data.domain_sentences().domains, strict=True))
    random.Random(0).shuffle(pairs)
    shuffled = build(find_nouns(sentences(*pairs)), n_nouns=8, n_sentences=2, seed=1)
    assert sorted(zip(shuffled.domains, shuffled.labels, shuffled.texts, strict=True)) == sorted(
        zip(once.domains, once.labels, once.texts, strict=True)
    )


def test_a_noun_draws_the_same_whatever_other_nouns_there_are() -> None:
    found = find_nouns(sample_data.domain_sentences())
    alone, among = (build(found, n_sentences=3, nouns=nouns) for nouns in (["海"], ["山", "海", "本"]))
    assert set(alone.texts) <= set(among.texts)
    assert [text for text, label in zip(among.texts, among.labels, strict=True) if label == "海"] == list(alone.texts)


def test_the_sample_can_be_built_whole() -> None:
    dataset = build(find_nouns(sample_data.domain_sentences()), n_nouns=8)
    assert dataset.n == 120 and len(dataset.notices) == 1
    given = sample_data.masked_sentences()
    assert set(zip(dataset.domains, dataset.labels, strict=True)) == set(zip(given.domains, given.labels, strict=True))


def test_what_could_not_be_had_is_said() -> None:
    notices = build(find_nouns(sentences(*BOOKS)), n_nouns=5, n_sentences=3).notices
    assert notices[1] == "books: 3 common nouns found where 5 were asked for."
    assert notices[2] == "books: fewer than 3 sentences hold 物語 (2), 著者 (1); all were taken."
    notices = build(find_nouns(sentences(*BOOKS)), nouns=["本", "音楽"], n_sentences=4).notices
    assert notices[0].startswith("Built from mine.csv: the nouns 本, 音楽 (")
    assert notices[1:] == ("books: never found as a common noun: 音楽.",)


def test_a_repeated_sentence_is_drawn_once() -> None:
    dataset = build(find_nouns(sentences(*[("本を読む。", "books")] * 9)), n_nouns=1)
    assert dataset.texts == ("本を読む。",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_nouns": 0}, "nouns is at least 1; got 0"),
        ({"n_sentences": 0}, "sentences is at least 1; got 0"),
        ({"seed": -1}, "seed is at least 0; got -1"),
        ({"nouns": ["音楽"]}, "none of the nouns 音楽 was found"),
    ],
)
def test_what_cannot_be_built_is_refused(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(find_nouns(sentences(*BOOKS)), **settings)


def test_sentences_without_nouns_are_refused() -> None:
    with pytest.raises(InputError, match="no common noun was found in 1 sentence"):
        find_nouns(sentences(("Very well!", "english")))


def test_domain_sentences_from_a_table() -> None:
    table = read_table("text,genre\n雨だ。風だ。,天気\n本を読む,読書\n「はい。」と言う。,読書\n".encode(), "mine.csv")
    assert guess_columns(table) == {"text": "text", "domain": "genre"}
    found = from_table(table)
    assert found.texts == ("雨だ。", "風だ。", "本を読む", "「はい。」と言う。") and found.rows == (1, 1, 2, 3)
    assert found.notices == ("1 row with several sentences taken apart: 4 sentences in all.",)
    assert list(found.to_frame().columns) == ["row", "text", "domain"] and found.n == len(found) == 4
    with pytest.raises(InputError, match="2 of 2 rows lack a sentence or a domain") as caught:
        from_table(read_table("text,domain\n,a\n雨,\n".encode(), "mine.csv"))
    assert [bad.row for bad in caught.value.rows] == [1, 2]
