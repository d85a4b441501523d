"""Dictionaries as runs: corpora kept on the disk, counted through the queue, found again by their id."""

from __future__ import annotations

import hashlib
import io
import os
import time
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from engine.datasets.corpora import corpus_files
from engine.datasets.corpora.corpus_files import CorpusFiles, keep_corpus
from engine.errors import InputError, RunError
from engine.evaluations.dictionary.evaluate import evaluate
from engine.evaluations.dictionary.records import Result, Settings
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.idf_files import idf_bytes, read_idf
from engine.language.word_entries import WORDS
from engine.measures.idf import IdfDictionary, count_documents
from engine.runs.open import open_engine
from tests.support.fakes import FakeBackend
from tests.support.session_fake import SessionFake
from tests.waiting import seconds

MODEL = "somebody/bert"


def kept(folder: Path, **files: str | bytes) -> CorpusFiles:
    return keep_corpus(
        [
            (name.replace("_", "."), io.BytesIO(text if isinstance(text, bytes) else text.encode()))
            for name, text in files.items()
        ],
        folder,
        "mine",
    )


def counted(corpus: CorpusFiles, unit: str = "file", model: str | None = "m") -> Result:
    return evaluate(Settings(model, "my words", unit), corpus, SessionFake())  # type: ignore[arg-type]


def test_a_corpus_is_counted_and_named(tmp_path: Path) -> None:
    result = counted(kept(tmp_path, a_txt="猫猫\n犬", b_txt="猫"))
    assert result.counts.to_numpy().tolist() == [["猫", 2, 3], ["犬", 1, 1]]
    assert (result.n_documents, result.n_tokens, result.unit) == (2, 4, "file")
    assert result.dictionary == IdfDictionary(
        "my words", 2, {"猫": 2, "犬": 1}, "t" * 64, "file", {"猫": 3, "犬": 1}, 4
    )
    assert counted(kept(tmp_path, a_txt="猫猫\n犬", b_txt="猫"), "line").n_documents == 3
    assert result.signature["models"][0]["name"] == "m" and result.signature["tokenizer"] == "t" * 12


def test_words_of_a_corpus_are_counted(tmp_path: Path) -> None:
    settings = Settings(None, "my words", words=True)
    result = evaluate(settings, kept(tmp_path, a_txt="斉藤は猫", b_txt="猫だ"), SessionFake())  # type: ignore[arg-type]
    assert result.dictionary.document_counts == {"猫": 2, "だ": 1, "は": 1, "斉藤": 1}
    assert result.tokenizer == result.signature["tokenizer"] == WORDS and result.signature["models"] == []
    back = counted(kept(tmp_path, d_json=idf_bytes(result.dictionary, compressed=False)), model=None)
    assert back.dictionary == result.dictionary and back.dictionary.of_words
    with pytest.raises(InputError, match="a model or words, not both"):
        evaluate(replace(settings, model="m"), kept(tmp_path, a_txt="猫"), SessionFake())  # type: ignore[arg-type]


def test_what_a_reader_should_know_of_a_dictionary(tmp_path: Path) -> None:
    assert "one document, so every token's idf is 0" in counted(kept(tmp_path, a_txt="猫")).notices[0]
    many = counted(kept(tmp_path, a_txt="猫犬", b_txt="猿"))
    assert "3 of 3 entries occur in one document only, more than 30%" in many.notices[0]
    assert counted(kept(tmp_path, a_txt="猫", b_txt="猫")).notices == ()
    assert "no token" in counted(kept(tmp_path, a_txt="\n", b_txt=" ")).notices[0]


def test_an_uploaded_dictionary_is_taken_as_it_is(tmp_path: Path) -> None:
    given = count_documents([["猫", "猫"], ["猫", "犬"]], "theirs", "s" * 64, "article")
    result = counted(kept(tmp_path, d_json_gz=idf_bytes(given)), model=None)
    assert result.dictionary == IdfDictionary(
        "my words", 2, given.document_counts, "s" * 64, "article", given.token_counts, 4
    )
    assert result.signature["models"] == []
    for files, said in (
        ({"a_txt": "猫"}, "ending in .json or .json.gz"),
        ({"a_json": "{}"}, "a.json is not an idf"),
        ({"a_json": b"{}", "b_json": b"{} "}, "one file ending in"),
    ):
        with pytest.raises(InputError, match=said):
            counted(kept(tmp_path, **files), model=None)


def test_names_and_units_that_cannot_be(tmp_path: Path) -> None:
    corpus = kept(tmp_path, a_txt="猫")
    for settings, said in (
        (Settings("m", " "), "needs a name"),
        (Settings("m", "x" * 61), "1 to 60 characters"),
        (Settings("m", "x", "page"), "unit is one of file, line"),
    ):
        with pytest.raises(InputError, match=said):
            evaluate(settings, corpus, SessionFake())  # type: ignore[arg-type]


def test_files_are_kept_by_content_under_their_names(tmp_path: Path) -> None:
    corpus = kept(tmp_path, a_txt="猫", b_txt="犬")
    again = kept(tmp_path, a_txt="猫", b_txt="犬")
    assert again == corpus and again.content_hash == corpus.content_hash and corpus.n == 2 and corpus.n_bytes == 6
    assert [path.read_text(encoding="utf-8") for path in corpus.paths()] == ["猫", "犬"]
    assert len(list(tmp_path.iterdir())) == 2, "no temporary file, nothing twice"
    assert kept(tmp_path, a_txt="猫", c_txt="犬").content_hash != corpus.content_hash
    frame = corpus.to_frame()
    assert CorpusFiles.from_frame(frame, "mine") == corpus
    evil = keep_corpus(
        [("../../<b>\u0000.txt", io.BytesIO(b"x")), ("a" * 500 + ".txt", io.BytesIO(b"y"))], tmp_path, "m"
    )
    assert all(path.parent.parent == tmp_path for path in evil.paths()) and evil.files[0].name == "b.txt"
    assert len(evil.files[1].name) < 250
    (dotted,) = keep_corpus(
        [(f"1.{'語' * 83}.txt", io.BytesIO(b"z"))], tmp_path, "m"
    ).files  # no longer than a system has them
    assert seconds(lambda: corpus_files._file_name("a" * 1_000_000)) < 1
    assert dotted.path.is_file() and dotted.name.endswith("語.txt") and len(dotted.name.encode()) < 250


def test_nothing_and_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one text file"):
        keep_corpus([], tmp_path, "mine")
    with pytest.raises(InputError, match=r"Empty: b\.txt"):
        kept(tmp_path, a_txt="猫", b_txt="")


def test_old_uploads_go(tmp_path: Path) -> None:
    old, young = kept(tmp_path, a_txt="猫"), kept(tmp_path, b_txt="犬")
    week_ago = time.time() - corpus_files.KEPT_SECONDS - 60
    os.utime(old.paths()[0].parent, (week_ago, week_ago))
    kept(tmp_path, c_txt="猿")
    assert young.paths()
    with pytest.raises(InputError, match=r"No longer on the disk: a\.txt\. A corpus is kept for 7 days; upload it"):
        counted(old)


def test_an_upload_pushes_nothing_off_the_disk(tmp_path: Path) -> None:
    """Neither young files of others, whatever the sizes, nor old ones that an unfinished run uses."""
    old, young = kept(tmp_path, a_txt="猫"), kept(tmp_path, b_txt="犬" * 100_000)
    week_ago = time.time() - corpus_files.KEPT_SECONDS - 60
    os.utime(old.paths()[0].parent, (week_ago, week_ago))
    keep_corpus([("c.txt", io.BytesIO(b"x" * 1_000_000))], tmp_path, "m", in_use=[old.files[0].sha256])
    assert old.paths() and young.paths() and len(list(tmp_path.iterdir())) == 3


def test_what_has_no_room_is_refused_before_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[dict[str, int]] = []

    def refuse(sizes: Mapping[str, int]) -> None:
        wanted.append(dict(sizes))
        raise RunError("no room")

    uploads = [("a.txt", io.BytesIO(b"abc")), ("b.txt", io.BytesIO(b"abc")), ("c.txt", io.BytesIO(b"de"))]
    with pytest.raises(RunError, match="no room"):
        keep_corpus(uploads, tmp_path / "corpora", "m", room=refuse)
    assert wanted == [{hashlib.sha256(b"abc").hexdigest(): 3, hashlib.sha256(b"de").hexdigest(): 2}]  # equal ones once
    assert not (tmp_path / "corpora").exists()
    disk = namedtuple("disk", "total used free")(100, 90, corpus_files.RESERVED_BYTES + 4)
    monkeypatch.setattr(corpus_files.shutil, "disk_usage", lambda _: disk)
    with pytest.raises(InputError, match=r"disk of .* has 256\.0 MB left"):
        keep_corpus(uploads, tmp_path / "corpora", "m")
    assert list((tmp_path / "corpora").iterdir()) == []
    assert keep_corpus(uploads[:2], tmp_path / "corpora", "m").n_bytes == 6


def test_a_dictionary_goes_through_the_queue_and_is_found_by_its_id(tmp_path: Path) -> None:
    backend = FakeBackend()
    with open_engine(tmp_path, backend=backend) as engine:
        corpus = keep_corpus([("a.txt", io.BytesIO("猫犬\n猫".encode()))], tmp_path / "corpora", "mine")
        submitted = engine.runs.submit("dictionary", Settings(MODEL, "mine", "line"), corpus, owner="local")
        assert engine.runs.wait(submitted.run_id, 30).state == "done", engine.runs.get(submitted.run_id)
        result = engine.runs.result(submitted.run_id)
        assert result.dictionary.document_counts == {"猫": 2, "犬": 1}
        tokenizer = backend._facts(MODEL, None).tokenizer_fingerprint
        choice = f"saved/{submitted.run_id}"
        with pytest.raises(InputError, match="no longer there"):
            dictionaries.dictionary_for(choice, tokenizer, MODEL)
        assert dictionaries.save(result.dictionary, tmp_path / "dictionaries", submitted.run_id) == choice
        assert dictionaries.dictionary_for(choice, tokenizer, MODEL) == result.dictionary
        with pytest.raises(InputError, match="'mine' was counted with another tokenizer"):
            dictionaries.dictionary_for(choice, "u" * 64, MODEL)
        path = dictionaries.saved_path(choice)
        assert path is not None and read_idf(path) == result.dictionary
        # The same corpus again is the same run.
        again = engine.runs.submit("dictionary", Settings(MODEL, "mine", "line"), corpus, owner="local")
        assert again.run_id == submitted.run_id


@pytest.mark.parametrize("choice", ["saved/", "saved/../x", "saved/a/b", "no vel", "/etc/passwd"])
def test_only_ids_name_saved_dictionaries(choice: str) -> None:
    assert dictionaries.saved_path(choice) is None and dictionaries.saved_path("novel") is None
    with pytest.raises(InputError):
        dictionaries.save(count_documents([["a"]], "n", "t", "u"), Path("/nowhere"), choice)
