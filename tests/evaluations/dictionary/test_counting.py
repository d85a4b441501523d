"""engine.evaluations.dictionary.counting: what is counted does not depend on how the corpus is cut up on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.datasets.formats import text_stream
from engine.errors import InputError
from engine.evaluations.dictionary import counting as corpus_counting
from engine.evaluations.dictionary.counting import count_corpus
from engine.language.word_entries import WORDS
from tests.support.session_fake import SessionFake


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("猫猫\n犬", encoding="utf-8")
    (tmp_path / "b.txt").write_text("猫", encoding="utf-8")
    return tmp_path


def count(
    paths: list[Path], unit: str, session: SessionFake | None = None
) -> tuple[int, dict[str, int], dict[str, int]]:
    counted = count_corpus("m", paths, session or SessionFake(), name="d", unit=unit)  # type: ignore[arg-type]
    assert counted.tokenizer == "t" * 64 and counted.unit == unit and counted.name == "d"
    return counted.n_documents, dict(counted.document_counts), dict(counted.token_counts)


def test_by_hand(corpus: Path) -> None:
    assert count([corpus], "file") == (2, {"猫": 2, "犬": 1}, {"猫": 3, "犬": 1})
    assert count([corpus], "line") == (3, {"猫": 2, "犬": 1}, {"猫": 3, "犬": 1})
    assert count([corpus / "b.txt", corpus / "b.txt"], "file") == (2, {"猫": 2}, {"猫": 2})


@pytest.mark.parametrize("unit", ["file", "line"])
def test_cuts_change_nothing(tmp_path: Path, unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        text = "\n".join(
            "あいうえおかきくけこ"[line % 4 : line % 4 + line % 3 + 1] for line in range(number, 9 * number)
        )
        (tmp_path / f"{number:02}.txt").write_text(text + "\n", encoding="utf-8")
    whole = count([tmp_path], unit)
    assert whole[0] == (12 if unit == "file" else sum(8 * number for number in range(12)))
    monkeypatch.setattr(corpus_counting, "CHARACTERS_PER_BATCH", 20)
    monkeypatch.setattr(corpus_counting, "BATCHES_AT_ONCE", 3)
    assert count([tmp_path], unit) == whole
    monkeypatch.setattr(text_stream, "WHOLE_BYTES", 200)
    monkeypatch.setattr(text_stream, "BLOCK_BYTES", 50)
    assert count([tmp_path], unit) == whole  # long documents now come in parts
    assert count([tmp_path, tmp_path], "file")[0] == 24


def test_words_are_counted_without_a_model(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("斉藤は猫\n猫は斉藤", encoding="utf-8")
    (tmp_path / "b.txt").write_text("猫だ", encoding="utf-8")
    session = SessionFake()
    counted = count_corpus(None, [tmp_path], session, name="d")  # type: ignore[arg-type]
    assert counted.of_words and counted.tokenizer == WORDS and counted.n_documents == 2
    assert dict(counted.document_counts) == {"猫": 2, "だ": 1, "は": 1, "斉藤": 1}
    assert dict(counted.token_counts) == {"猫": 3, "だ": 1, "は": 2, "斉藤": 2}
    assert [call[0] for call in session.calls] == ["word_counts"]


def test_little_is_under_way_at_a_time_and_progress_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_counting, "CHARACTERS_PER_BATCH", 1000)
    monkeypatch.setattr(corpus_counting, "BATCHES_AT_ONCE", 2)
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text("あ" * 900, encoding="utf-8")  # 2,700 bytes
    session = SessionFake()
    count([tmp_path], "file", session)
    calls = [call for call in session.calls if call[0] == "document_counts"]
    assert [call[2] for call in calls] == [(1, 1)] * 4 + [(1,)]
    assert [call[3] for call in calls] == [(0, 6, 24), (6, 11, 24), (11, 16, 24), (16, 22, 24), (22, 24, 24)]


def test_a_corpus_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No text file"):
        count([tmp_path], "file")
    (tmp_path / "empty.txt").write_text("\n\n", encoding="utf-8")
    with pytest.raises(InputError, match="over no document"):
        count([tmp_path], "line")
    assert count([tmp_path], "file") == (1, {}, {})
