"""The livedoor reader: titles and bodies in the published layout, drawn with a seed; files that are bad."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.labelled.livedoor import Livedoor, labelled, read_livedoor
from engine.errors import InputError
from tests.support.layouts.livedoor import N_EACH, TOPICS, article, files, tar_gz, unpacked, zipped
from tests.support.shared_data import shared_data

CORPUS: Livedoor = read_livedoor(zipped(files()), "mine.zip")


def test_titles_are_line_3_and_bodies_what_follows() -> None:
    first = CORPUS.articles[0]
    assert (first.number, first.category, first.file) == (1, "it-life-hack", "it-life-hack-4000000.txt")
    assert first.title == "端末と通信の話題、その0"
    assert first.body == "端末についての記事である。\n\n通信も0回出てくる。"
    assert CORPUS.categories == {"it-life-hack": 12, "movie-enter": 12, "sports-watch": 12}


def test_licence_readme_and_changes_are_no_articles() -> None:
    assert len(CORPUS.articles) == len(TOPICS) * N_EACH
    assert not CORPUS.bad and not CORPUS.other_files and not labelled(CORPUS).notices


def test_folder_zip_and_tar_give_the_same_dataset(tmp_path: Path) -> None:
    contents = files()
    found = [
        labelled(read_livedoor(source, "mine"), per_category=5, seed=3)
        for source in (
            zipped(contents),
            tar_gz(contents),
            zipped(dict(reversed(contents.items()))),
            unpacked(contents, tmp_path),
            tmp_path / "text",
        )
    ]
    assert found == [found[0]] * 5
    assert len({dataset.content_hash for dataset in found}) == 1


def test_sentences_keep_the_order_of_their_files() -> None:
    whole = labelled(CORPUS)
    assert whole.rows == tuple(range(1, 37)) and whole.labels == tuple(sorted(whole.labels))
    assert whole.texts == tuple(a.title for a in CORPUS.articles)
    assert labelled(CORPUS, part="body").texts == tuple(a.body for a in CORPUS.articles)


@given(n=st.integers(1, 20), seed=st.integers(0, 2**32))
def test_so_many_of_each_category_are_drawn_and_the_seed_decides_which(n: int, seed: int) -> None:
    drawn = labelled(CORPUS, per_category=n, seed=seed)
    assert set(Counter(drawn.labels).values()) == {min(n, N_EACH)}
    assert labelled(CORPUS, per_category=n, seed=seed) == drawn
    # every draw is part of a larger one with the same seed: asking for more does not change what one has
    assert set(drawn.rows) <= set(labelled(CORPUS, per_category=n + 1, seed=seed).rows)
    assert (drawn.texts, drawn.labels) == tuple(
        zip(*((a.title, a.category) for a in CORPUS.articles if a.number in drawn.rows), strict=True)
    )


def test_each_article_is_drawn_equally_often() -> None:
    times = Counter(row for seed in range(400) for row in labelled(CORPUS, per_category=3, seed=seed).rows)
    # 3 of 12 in 400 draws: 100 expected, with a standard deviation of sqrt(400 · 1/4 · 3/4) = 8.7; 4.5 of them aside
    assert min(times.values()) > 60 and max(times.values()) < 140 and len(times) == 36


def test_other_articles_do_not_change_what_is_drawn_of_a_category() -> None:
    more = files() | dict([article("topic-news", 1, "町の話題"), article("topic-news", 2, "村の話題")])
    before, after = (labelled(read_livedoor(zipped(contents), "x"), per_category=4) for contents in (files(), more))
    assert set(before.texts) < set(after.texts)


def test_all_are_taken_where_there_are_fewer_and_it_is_said() -> None:
    contents = files() | dict([article("topic-news", 1, "町の話題"), article("topic-news", 2, "村の話題")])
    drawn = labelled(read_livedoor(zipped(contents), "mine.zip"), per_category=12)
    assert Counter(drawn.labels)["topic-news"] == 2
    assert drawn.notices == ("Fewer than the 12 articles asked for, so all of them: topic-news 2.",)
    assert drawn.name == "mine.zip (titles, 12 per category, seed 0)"


BAD = {
    "text/smax/smax-1.txt": b"http://example.com\n2012\n",
    "text/smax/smax-2.txt": "http://example.com\n2012\n \u3000\n本文\n".encode(),
    "text/smax/smax-3.txt": b"http://example.com\n2012\n\xff\xfe\xfd title\n",
    "text/smax/smax-4.txt": b"",
}


def test_bad_files_are_left_out_and_listed_with_their_reason() -> None:
    corpus = read_livedoor(zipped(files() | BAD), "mine.zip")
    assert [bad.row for bad in corpus.bad] == [25, 26, 27, 28]
    reasons = [bad.reason for bad in corpus.bad]
    assert reasons[0] == "text/smax/smax-1.txt: has 2 lines; the title is expected on line 3"
    assert reasons[1] == "text/smax/smax-2.txt: has no title on line 3"
    assert "is neither UTF-8, UTF-16 nor CP932" in reasons[2] and "has 0 lines" in reasons[3]
    dataset = labelled(corpus)
    assert dataset.n == 36 and "smax" not in dataset.labels
    assert dataset.rows[-1] == 40  # the number of a row is its article's, whatever was left out before it
    assert dataset.notices[0].startswith("4 articles could not be read and were left out: text/smax/smax-1.txt: has 2")


def test_a_corpus_of_bad_files_alone_is_refused_with_all_of_them() -> None:
    with pytest.raises(InputError, match="none of its 4 articles can be read") as caught:
        read_livedoor(zipped(BAD), "mine.zip")
    assert [bad.row for bad in caught.value.rows] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "contents",
    [
        {"a.csv": b"text,label"},
        {"sports-watch-1.txt": b"1\n2\n3\n"},
        {"smax/LICENSE.txt": b"1\n2\n3\n"},
        {"notes/mine.txt": b"1\n2\n3\n"},
    ],
)
def test_another_layout_is_refused_in_words(contents: dict[str, bytes]) -> None:
    with pytest.raises(
        InputError,
        match=r"mine\.zip does not have the layout of the livedoor corpus: it holds no article\. "
        r"Needed: files <category>/<category>-<id>\.txt",
    ):
        read_livedoor(zipped(contents), "mine.zip")


def test_text_files_of_other_names_are_left_out_and_said() -> None:
    corpus = read_livedoor(zipped(files() | {"text/smax/notes.txt": b"1\n2\n3\n"}), "mine.zip")
    assert labelled(corpus).notices == ("1 text file not named after the folder was left out: text/smax/notes.txt.",)


def test_an_article_without_a_body_has_a_title_only() -> None:
    more = dict([article("smax", 1, "題名だけ"), article("smax", 2, "題名も", "本文も")])
    corpus = read_livedoor(zipped(files() | more), "x")
    assert Counter(labelled(corpus).labels)["smax"] == 2
    bodies = labelled(corpus, part="body")
    assert Counter(bodies.labels)["smax"] == 1 and bodies.notices == ("1 article without a body was left out.",)


def test_cp932_and_windows_line_ends_are_read() -> None:
    raw = "http://example.com\r\n2012\r\n 雪国の旅 \r\n本文\r\n二行目\r\n".encode("cp932")
    (first,) = read_livedoor(zipped({"日記/日記-1.txt": raw}), "x").articles
    assert (first.category, first.title, first.body) == ("日記", "雪国の旅", "本文\n二行目")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part": "date"}, "is title or body; got 'date'"),
        ({"per_category": 0}, "At least 1 article"),
    ],
)
def test_choices_that_cannot_be_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        labelled(CORPUS, **options)  # type: ignore[arg-type]


def test_one_category_is_nothing_to_tell_apart() -> None:
    corpus = read_livedoor(zipped(dict([article("smax", i, f"題{i}") for i in range(3)])), "x")
    with pytest.raises(InputError, match=r"at least 2 categories are needed; x has title texts of 1 \('smax'\)"):
        labelled(corpus)


def test_the_real_corpus_has_nine_categories() -> None:
    corpus = read_livedoor(shared_data("livedoor"))
    assert list(corpus.categories.values()) == [100] * 9 and not corpus.bad and not corpus.other_files
    dataset = labelled(corpus, per_category=100)
    assert isinstance(dataset, LabelledSentences) and dataset.n == 900
    assert all(dataset.texts) and not any("http://" in text or "\n" in text for text in dataset.texts)
