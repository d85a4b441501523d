"""Words with reading times as they are published and as one's own: texts, places of words, means, windows, bad rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.files import joined, read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table, guess_columns
from engine.datasets.minimal_pairs.reading_times import NO_FREQUENCY, STEP, WINDOW, Words
from engine.errors import InputError

# As babylm-org/babylm-eval has its columns; the words are ours.
BABYLM = """item,word,prev_item,prev_word,RTfirstfix,RTgopast,self_paced_reading_time,N400,\
Subtlex_log10,length,context_length,prev_length
,The,,,200,210,300,1.5,5,3,0,
The,cat,,The,210,220,310,,4,3,1,3
The cat,sat,The,cat,190,200,305,-2,3.5,3,2,3
The cat sat quite,still.,The cat sat,quite,NA,,333,0.1,3,5,4,5
,A,,,100,110,200,1,5,1,0,
A,"bird,",,A,150,160,250,1,4,4,1,1
"""


def read(text: str, columns: dict[str, str | None] | None = None, **how: Any) -> MinimalPairs:
    return from_table(read_table(text.encode(), "own.tsv" if "\t" in text else "own.csv"), columns, **how)


def words(dataset: MinimalPairs) -> list[Words]:
    return [Words.read(text) for text in dataset.fields["words"]]


def test_the_challenge_has_a_row_for_each_word_after_its_context() -> None:
    dataset = read(BABYLM)
    assert dataset.acceptable == ("The cat sat quite still.", "A bird,") == dataset.unacceptable
    assert dataset.sentences == dataset.acceptable and dataset.data_kind.name == "reading"
    assert set(dataset.formats) == {"BabyLM, reading"} and dataset.rows == (1, 2)
    first, second = words(dataset)
    assert [dataset.acceptable[0][start:end] for start, end in first.spans] == ["The", "cat", "sat", "quite", "still."]
    assert first.rows == [1, 2, 3, 0, 4] and second.rows == [5, 6]  # "quite" has no row of its own
    assert first.times["self_paced_reading_time"] == [300, 310, 305, None, 333]
    assert first.times["RTfirstfix"] == [200, 210, 190, None, None] and first.times["N400"][1] is None
    assert first.frequency == [5, 4, 3.5, None, 3] and first.position[-1] == 4
    # The challenge's script takes no word before where the context of that word is empty.
    assert first.has_previous == [False, False, True, True, True]
    assert first.previous_length == [None, None, 3, 3, 5]
    regions = dataset.data_kind.regions(dataset.originals)  # type: ignore[misc]
    assert regions[1] == [(1, (0, 1)), (2, (2, 7))]


def test_natural_stories_are_means_over_readers_in_the_order_of_zones() -> None:
    rows = [
        "WorkerId\titem\tzone\tRT\tword",
        "a\t1\t2\t220\tyou",
        "a\t1\t1\t200\tIf",
        "b\t1\t1\t300\tIf",
        "b\t1\t2\t\tyou",
        "b\t2\t1\t5\tGo",
    ]
    dataset = read("\n".join(rows))
    assert dataset.acceptable == ("If you", "Go") and set(dataset.formats) == {"Natural Stories"}
    assert words(dataset)[0].times == {"RT": [250, 220]} and words(dataset)[0].rows == [2, 1]
    assert words(dataset)[0].length == [2, 3] and words(dataset)[0].previous_length == [None, 2]
    said = " ".join(map(str, dataset.notices))
    assert "3 words with RT in 2 texts" in said and "5 rows of several readers" in said and str(NO_FREQUENCY) in said


def test_the_ucl_corpus_is_recognised() -> None:
    head = "subj_nr\tsent_nr\tsent_pos\tcorrect\tanswer_time\tword_pos\tword\tRTfirstfix\tRTfirstpass\tRTrightbound\tRTgopast"
    dataset = read(f"{head}\n1\t7\t3\tc\t900\t1\tThe\t200\t210\t220\t230\n1\t7\t3\tc\t900\t2\tend.\t0\t0\t0\t0")
    assert set(dataset.formats) == {"UCL corpus"} and dataset.acceptable == ("The end.",)
    assert list(words(dataset)[0].times) == ["RTfirstfix", "RTfirstpass", "RTrightbound", "RTgopast"]
    assert dataset.fields["item"] == ("7",)


def test_a_japanese_table_is_recognised() -> None:
    rows = ["文番号,位置,単語,読み時間,参加者", "1,2,眠る。,300,P1", "1,1,猫が,250,P1", "1,1,猫が,270,P2"]
    dataset = read("\n".join(rows))
    assert dataset.acceptable == ("猫が眠る。",) and words(dataset)[0].times == {"読み時間": [260, 300]}


def test_columns_of_other_names_are_chosen() -> None:
    text = "story,n,form,ms,ms2\na,1,猫が,300,310\na,2,鳴いた。,400,410\n"
    with pytest.raises(InputError):
        read(text)
    columns = {"item": "story", "position": "n", "word": "form", "time": "ms + ms2"}
    dataset = read(text, columns)
    assert dataset.acceptable == ("猫が鳴いた。",) and dataset.formats == ("reading times",)
    assert words(dataset)[0].spans == [(0, 2), (2, 6)]
    assert words(dataset)[0].times == {"ms": [300, 400], "ms2": [310, 410]}
    assert guess_columns(read_table(BABYLM.encode(), "b.csv"))["acceptable"] == "word"


def test_contexts_without_spaces_and_contexts_that_do_not_go_on() -> None:
    dataset = read("context,word,RT\n猫が,鳴いた,300\n猫が鳴いた後で,寝た,310\n犬が,来た,200\n")
    assert dataset.acceptable == ("猫が鳴いた後で寝た", "犬が来た")
    assert words(dataset)[0].spans == [(0, 2), (2, 5), (5, 7), (7, 9)]
    scattered = read("context,word,RT\na b,c,300\nd e,f,310\ng h,i,200\n")
    assert len(scattered) == 3 and any("go on with the row before" in str(said) for said in scattered.notices)
    # "The catalogue" does not go on with "The cat".
    assert read("context,word,RT\nThe,cat,300\nThe catalogue,fell,310\n").acceptable == (
        "The cat",
        "The catalogue fell",
    )


def test_a_long_text_is_cut_into_windows_that_count_each_word_once() -> None:
    n = WINDOW + STEP + 20
    lines = [f"s,{place},w{place},{place}" for place in range(1, n + 1)]
    dataset = read("\n".join(["item,position,word,RT", *lines]))
    of_windows = words(dataset)
    counted = [row for window in of_windows for row in window.rows if row]
    assert counted == list(range(1, n + 1)) and set(dataset.fields["item"]) == {"s"} and len(dataset) == 3
    for text, window in zip(dataset.acceptable, of_windows, strict=True):
        assert [text[start:end] for start, end in window.spans] == window.words
        assert [time for time in window.times["RT"] if time is not None] == [row for row in window.rows if row]
        first = next(place for place, row in enumerate(window.rows) if row)
        assert first in (0, STEP) and window.has_previous[first] == (first > 0)
    assert any("windows" in str(said) for said in dataset.notices)


def test_bad_rows_are_listed_or_left_out() -> None:
    text = "item,zone,word,RT\n1,1,a,200\n1,2,,210\n1,x,c,210\n1,3,d,fast\n1,1,b,3\n,4,e,1\n2,1,f,9\n"
    with pytest.raises(InputError) as refused:
        read(text)
    reasons = {bad.row: str(bad.reason) for bad in refused.value.rows}
    assert list(reasons) == [2, 3, 4, 5, 6]
    assert "no number" in reasons[3] and "'fast'" in reasons[4] and "an earlier row" in reasons[5]
    kept = read(text, skip_bad_rows=True)
    assert kept.acceptable == ("a", "f") and any("5 rows left out" in str(said) for said in kept.notices)
    with pytest.raises(InputError, match="a column for 'item'"):
        read("word,RT\na,1\n", {"word": "word", "time": "RT"})
    with pytest.raises(InputError, match="no role"):
        read("item,word,RT\n1,a,1\n", {"category": "item"})


def test_in_a_folder_of_pairs_reading_times_are_for_a_run_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "reading").mkdir()
    (tmp_path / "reading" / "reading_data.csv").write_text(BABYLM, encoding="utf-8")
    assert read_pairs([("full_eval", tmp_path)]).data_kind.name == "reading"
    (tmp_path / "pairs.csv").write_text("sentence_good,sentence_bad\na b,b a\n", encoding="utf-8")
    dataset = read_pairs([("full_eval", tmp_path)])
    assert dataset.acceptable == ("a b",) and any("reading/reading_data.csv" in str(said) for said in dataset.notices)


def test_other_data_are_read_as_before_and_not_with_these() -> None:
    own = read("item,sentence,label\n1,good,1\n1,bad,0\n")
    assert own.data_kind.name == "pairs"
    with pytest.raises(InputError, match="words with reading times"):
        joined([read(BABYLM), read("sentence,label\na b,1\nc d,0\n")])
    both = joined([read(BABYLM), read(BABYLM)])
    assert len(both) == 4 and both.data_kind.name == "reading"
    again = MinimalPairs.from_frame(both.to_frame(), both.name)
    assert again.content_hash == both.content_hash and again.data_kind is both.data_kind
