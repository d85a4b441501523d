"""The built-in samples are what their docstrings say of them."""

from __future__ import annotations

import csv
import re
from collections import Counter

import pytest
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from engine.datasets import sample_data
from engine.datasets.minimal_pairs import kinds
from engine.errors import InputError
from engine.language.readings.by_pykakasi import reading
from engine.language.words import word_spans

JAPANESE = re.compile(r"[ぁ-ゖァ-ヶー々一-鿿、。「」０-９Ａ-Ｚａ-ｚ]+")
CHANGES = ("言い換え", "名前の入れ替え", "表記ゆれ", "意味の変更")


def rows(kind: str) -> list[dict[str, str]]:
    """The file as the standard library reads it, so that a fault of our reader shows."""
    with sample_data.path(kind).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def pairs_changed_by(change: str) -> list[tuple[str, str]]:
    return [(row["reference"], row["candidate"]) for row in rows("sentence_pairs") if row["change"] == change]


def replaced(a: str, b: str) -> tuple[str, str]:
    """What is left of both after their common beginning and their common end."""
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    a, b = a[start:], b[start:]
    end = next((i for i, (x, y) in enumerate(zip(a[::-1], b[::-1], strict=False)) if x != y), min(len(a), len(b)))
    return a[: len(a) - end], b[: len(b) - end]


def n_words(text: str) -> int:
    return len(word_spans(text))


@pytest.mark.parametrize("kind", sample_data.KINDS)
def test_files_are_plain_utf8_with_unix_line_ends(kind: str) -> None:
    raw = sample_data.path(kind).read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in raw
    assert raw.endswith(b"\n")
    assert not raw.endswith(b"\n\n")


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("labelled_sentences", ["text"]),
        ("sentence_pairs", ["reference", "candidate"]),
        ("minimal_pairs", ["acceptable", "unacceptable"]),
    ],
)
def test_sentences_are_japanese_without_stray_characters(kind: str, columns: list[str]) -> None:
    strange = [row[column] for row in rows(kind) for column in columns if not JAPANESE.fullmatch(row[column])]
    assert strange == []


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'corpus'.*labelled_sentences, sentence_pairs, minimal_pairs"):
        sample_data.path("corpus")


def test_labelled_sentences_have_nine_classes_of_twenty() -> None:
    counts = Counter(row["label"] for row in rows("labelled_sentences"))
    assert len(counts) == 9
    assert set(counts.values()) == {20}


def test_labelled_sentences_are_short_and_no_two_are_alike() -> None:
    texts = [row["text"] for row in rows("labelled_sentences")]
    assert [text for text in texts if not 15 <= len(text) <= 40] == []
    # A ratio of 70 is two titles that share seven characters in ten; the closest here stand well below.
    alike = [(a, b) for i, a in enumerate(texts) for b in texts[:i] if fuzz.ratio(a, b) >= 70]
    assert alike == []


def test_no_word_gives_a_class_away() -> None:
    for label in {row["label"] for row in rows("labelled_sentences")}:
        texts = [row["text"] for row in rows("labelled_sentences") if row["label"] == label]
        assert sum(label in text for text in texts) <= 1
        # Sentences per word; words of hiragana alone are mostly particles and endings.
        spread = Counter(
            word
            for text in texts
            for word in {text[start:end] for start, end in word_spans(text)}
            if re.search("[ァ-ヶ一-鿿]", word)
        )
        word, n = spread.most_common(1)[0]
        assert n <= 4, f"{label}: {word} stands in {n} of 20 sentences"


def test_sentence_pairs_are_fifteen_of_each_change() -> None:
    assert Counter(row["change"] for row in rows("sentence_pairs")) == dict.fromkeys(CHANGES, 15)


def test_no_sentence_pair_comes_twice_and_both_sides_differ() -> None:
    pairs = [(row["reference"], row["candidate"]) for row in rows("sentence_pairs")]
    assert len(set(pairs)) == len({reference for reference, _ in pairs}) == 60
    assert [pair for pair in pairs if pair[0] == pair[1]] == []


def test_spelling_variants_sound_the_same() -> None:
    different = [(reading(a), reading(b)) for a, b in pairs_changed_by("表記ゆれ") if reading(a) != reading(b)]
    assert different == []


def test_swapped_names_sound_different() -> None:
    assert [(a, b) for a, b in pairs_changed_by("名前の入れ替え") if reading(a) == reading(b)] == []


@pytest.mark.parametrize("change", ["表記ゆれ", "名前の入れ替え"])
def test_only_a_name_or_a_word_is_replaced(change: str) -> None:
    for pair in pairs_changed_by(change):
        before, after = replaced(*pair)
        assert 1 <= len(before) <= 4, pair
        assert 1 <= len(after) <= 4, pair


def test_the_same_name_is_once_swapped_and_once_respelled() -> None:
    assert any("斉藤" in a and "斎藤" in b for a, b in pairs_changed_by("表記ゆれ"))
    assert any("斉藤" in a and "尾崎" in b for a, b in pairs_changed_by("名前の入れ替え"))


def test_paraphrases_replace_more_than_a_word() -> None:
    slight = [pair for pair in pairs_changed_by("言い換え") if Levenshtein.distance(*pair) < 6]
    assert slight == []


def test_minimal_pairs_are_twenty_of_each_of_ten_phenomena() -> None:
    counts = Counter(row["phenomenon"] for row in rows("minimal_pairs"))
    assert len(counts) == 10
    assert set(counts.values()) == {20}


def test_no_minimal_pair_shares_a_sentence_with_another() -> None:
    sentences = [row[side] for row in rows("minimal_pairs") for side in ("acceptable", "unacceptable")]
    assert [sentence for sentence, n in Counter(sentences).items() if n > 1] == []


def test_minimal_pairs_differ_in_little() -> None:
    for row in rows("minimal_pairs"):
        # Widest: 寝て against お休みになって, an edit of six; pairs that swap two words count both.
        distance = Levenshtein.distance(row["acceptable"], row["unacceptable"])
        assert 1 <= distance <= 6, row


def test_minimal_pairs_are_balanced_in_length() -> None:
    longer: Counter[tuple[str, int]] = Counter()
    for row in rows("minimal_pairs"):
        difference = len(row["unacceptable"]) - len(row["acceptable"])
        longer[row["phenomenon"], (difference > 0) - (difference < 0)] += 1
    for sign in (-1, 0, 1):
        assert 60 <= sum(n for (_, side), n in longer.items() if side == sign) <= 73
        assert all(longer[phenomenon, sign] >= 5 for phenomenon, _ in longer)


def test_minimal_pairs_fill_every_stratum_of_word_length() -> None:
    differences = [n_words(row["unacceptable"]) - n_words(row["acceptable"]) for row in rows("minimal_pairs")]
    # Many edits stay inside one word of MeCab; subword tokenizers, which cut the wrong form up, see more.
    assert sum(difference > 0 for difference in differences) >= 30
    assert sum(difference < 0 for difference in differences) >= 30


def test_loaded_labelled_sentences_are_the_file() -> None:
    dataset = sample_data.labelled_sentences()
    expected = rows("labelled_sentences")
    assert dataset.n == 180
    assert list(zip(dataset.texts, dataset.labels, strict=True)) == [(row["text"], row["label"]) for row in expected]
    assert dataset.rows == tuple(range(1, 181))
    assert dataset.notices == ()


def test_loaded_sentence_pairs_are_the_file() -> None:
    dataset = sample_data.sentence_pairs()
    loaded = list(zip(dataset.references, dataset.candidates, dataset.categories, strict=True))
    assert dataset.n == 60
    assert loaded == [(row["reference"], row["candidate"], row["change"]) for row in rows("sentence_pairs")]
    assert dataset.notices == ()


def test_loaded_minimal_pairs_are_the_file() -> None:
    dataset = sample_data.minimal_pairs()
    loaded = list(zip(dataset.acceptable, dataset.unacceptable, dataset.categories, strict=True))
    assert dataset.n == 200
    assert loaded == [(row["acceptable"], row["unacceptable"], row["phenomenon"]) for row in rows("minimal_pairs")]
    assert dataset.notices == ()


def test_loaded_running_text_is_the_file_and_long_enough_for_windows_and_intervals() -> None:
    for language in ("ja", "en"):
        dataset, ending = sample_data.running_text(language), "" if language == "ja" else "_en"
        expected = rows(f"running_text{ending}")
        assert list(dataset.acceptable) == [row["text"] for row in expected] and dataset.data_kind is kinds.TEXTS
        assert sorted(Counter(dataset.categories).values()) == [3, 3] and dataset.n == 6
        assert dataset.fields["title"] == tuple(row["title"] for row in expected) and dataset.notices == ()
        assert all("\n\n" in text and 150 <= len(text) <= 600 for text in dataset.acceptable)
    assert [
        row["text"] for row in rows("running_text") if not JAPANESE.fullmatch(row["text"].replace("\n\n", ""))
    ] == []


def test_samples_are_named_as_samples() -> None:
    assert sample_data.labelled_sentences().name == "sample labelled sentences"
    assert sample_data.sentence_pairs().name == "sample sentence pairs"
    assert sample_data.minimal_pairs().name == "sample minimal pairs"
