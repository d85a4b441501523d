from __future__ import annotations

import errno
import io
import json
import os
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from engine.__main__ import main
from engine.datasets import sample_data
from engine.datasets.corpora.corpus_files import keep_corpus
from engine.runs.access.viewers import member_id
from engine.runs.storage import members
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.database import database_url
from engine.runs.storage.members import Account, SignIn
from engine.runs.storage.processes import this_process
from engine.runs.storage.schema import (
    Base,
    CommentRow,
    KeptDatasetRow,
    PresetRow,
    RatingRow,
    RunRow,
    StarRow,
    ViewerNameRow,
    VisitRow,
)
from engine.runs.storage.store import Store

ISSUER = "https://accounts.example"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory in which two accounts have signed in, the first twice; it has a run."""
    with closing(Store(database_url(tmp_path))) as store:
        for subject, address in (("1", "Ann@lab.example"), ("2", "斉藤@lab.example")):
            owner = member_id(ISSUER, subject)
            members.bind(store, Account(owner, ISSUER, subject, address.lower(), address), ())
            for number in range(3 - int(subject)):
                members.start_sign_in(store, f"{subject}-{number}", SignIn(owner, address.lower()))
        store.heartbeat(identity := this_process())
        store.add(
            owner=member_id(ISSUER, "1"),
            kind="clusters",
            name="n",
            settings={},
            dataset_name="d",
            dataset_hash="h",
            dataset_notices=[],
            key="k",
            process_id=identity.id,
        )
    return tmp_path


def owners(folder: Path) -> dict[str, int]:
    with closing(Store(database_url(folder))) as store:
        return {owner: sum(store.n_by_state(owner).values()) for owner in (member_id(ISSUER, "1"), "ann@lab.example")}


def test_the_accounts_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["members", "--directory", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [(line.split()[0], line.split("  ")[-1]) for line in lines] == [
        ("Ann@lab.example", "2 sign-ins"),
        ("斉藤@lab.example", "1 sign-in"),
    ]


def test_a_list_of_no_accounts_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Store(database_url(tmp_path)).close()
    assert main(["members", "--directory", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "No account has signed in yet.\n"


def test_a_member_is_signed_out_everywhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["members", "--sign-out", "ANN@lab.example", "--directory", str(folder)]) == 0
    assert capsys.readouterr().out == "2 sign-ins of Ann@lab.example ended.\n"
    with closing(Store(database_url(folder))) as store:
        assert set(members.member_sign_ins(store)) == {"2-0"}


@pytest.mark.parametrize("without_runs", [False, True])
def test_an_address_is_released_with_its_runs_or_without(folder: Path, without_runs: bool) -> None:
    assert (
        main(
            [
                "members",
                "--release",
                "ann@lab.example",
                "--directory",
                str(folder),
                *(["--without-runs"] if without_runs else []),
            ]
        )
        == 0
    )
    assert owners(folder) == {member_id(ISSUER, "1"): int(without_runs), "ann@lab.example": int(not without_runs)}
    with closing(Store(database_url(folder))) as store:
        assert [account.subject for account in members.every(store)] == ["2"]
        assert set(members.member_sign_ins(store)) == {"2-0"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sign-out", "eve@lab.example"], "Nobody has signed in as eve@lab.example yet"),
        (["--release", "eve@lab.example"], "Nobody has signed in as eve@lab.example yet"),
        (["--without-runs"], "--without-runs belongs to --release"),
        (["--out", "a.zip"], "--out belongs to export"),
        (["export", "ann@lab.example"], "Give export ADDRESS --out ZIP"),
        (["forget", "ann@lab.example", "--out", "a.zip"], "Give export ADDRESS --out ZIP"),
        (["forget"], "Give export ADDRESS --out ZIP"),
        (["forget", "eve@lab.example"], "Nobody has signed in as eve@lab.example yet"),
        (["forget", "ann@lab.example", "--sign-out", "ann@lab.example"], "forget goes with no other option"),
        (["--sign-out", "ann@lab.example", "--release", "ann@lab.example"], "not both"),
    ],
)
def test_what_cannot_be_done_is_refused(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["members", *arguments, "--directory", str(folder)]) == 2
    assert message in capsys.readouterr().err


def texts_of_every_table(folder: Path) -> str:
    with closing(Store(database_url(folder))) as store, store.session() as session:
        return "\n".join(str(row) for table in Base.metadata.sorted_tables for row in session.execute(select(table)))


def with_something_in_each_table(folder: Path) -> str:
    """The id of the first account, of which every table that can hold something of a member does; so do the folders."""
    ann, ben, now = member_id(ISSUER, "1"), member_id(ISSUER, "2"), datetime.now(UTC)
    with closing(Store(database_url(folder))) as store, store.session() as session:
        artifacts = Artifacts(folder)
        data = sample_data.labelled_sentences()
        artifacts.save_dataset(data)
        run = session.scalars(select(RunRow)).one()
        run.dataset_hash, run_id = data.content_hash, run.id
        of_ben = {
            column.key: getattr(run, column.key) for column in RunRow.__mapper__.columns if column.key != "number"
        }
        session.add(RunRow(**of_ben | {"id": "ben", "owner": ben, "dataset_hash": "other"}))
        session.add_all(
            [
                KeptDatasetRow(
                    set_id="s",
                    version=1,
                    owner=ann,
                    name="mine",
                    dataset_type="LabelledSentences",
                    dataset_hash=data.content_hash,
                    notices=[],
                    n_rows=3,
                    created=now,
                ),
                PresetRow(owner=ann, kind="clusters", name="p", settings={"layer": 1}, created=now),
                RatingRow(run_id="ben", rater=ann, question="q", item=0, score=0.5, created=now),
                RatingRow(run_id="ben", rater=ben, question="q", item=0, score=1.0, created=now),
                StarRow(viewer=ann, run_id="ben"),
                CommentRow(id="c", run_id="ben", author=ann, text="見て", view="", mentions="", created=now),
                CommentRow(id="d", run_id="ben", author=ben, text="はい", view="", mentions=f"\n{ann}\n", created=now),
                VisitRow(viewer=ann, seen=now),
                ViewerNameRow(viewer=ann, name="Ann", folded_name="ann"),
            ]
        )
        corpus = keep_corpus([("mine.txt", io.BytesIO("猫".encode()))], folder / "corpora", "mine")
        artifacts.save_dataset(corpus)
        session.add(
            RunRow(
                **{column: value for column, value in of_ben.items() if column not in ("id", "owner")}
                | {"id": "dictionary", "owner": ann, "dataset_hash": corpus.content_hash}
            )
        )
    result, job = folder / "results" / run_id, folder / "pretrained" / ("0" * 16)
    for path, text in ((result / "result.json", "{}"), (job / "job.json", json.dumps(JOB | {"owner": ann}))):
        path.parent.mkdir(parents=True)
        path.write_text(text)
        os.utime(path, (0, 0))  # older than a zip can say
    return ann


JOB = {"name": "m", "created": "2026-01-01T00:00:00+00:00", "settings": {"architecture": "bert"}, "corpus": ["a.txt"]}


def test_all_that_is_kept_of_a_member_is_exported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with_something_in_each_table(folder)
    archive = folder / "ann.zip"
    arguments = ["members", "export", "Ann@lab.example", "--out", str(archive), "--directory", str(folder)]
    assert main(arguments) == 0
    with zipfile.ZipFile(archive) as file:
        contents = {name: file.read(name).decode(errors="replace") for name in file.namelist()}
    assert capsys.readouterr().out == f"{len(contents)} files of Ann@lab.example are in {archive}.\n"
    rows = {
        name: list(map(json.loads, text.splitlines())) for name, text in contents.items() if name.endswith(".jsonl")
    }
    assert {name: len(found) for name, found in rows.items()} == {
        "tables/runs.jsonl": 2,
        "tables/kept_datasets.jsonl": 1,
        "tables/presets.jsonl": 1,
        "tables/ratings.jsonl": 1,
        "tables/stars.jsonl": 1,
        "tables/comments.jsonl": 1,
        "tables/visits.jsonl": 1,
        "tables/viewer_names.jsonl": 1,
        "tables/sign_ins.jsonl": 2,
        "tables/members.jsonl": 1,
    }
    assert rows["tables/ratings.jsonl"][0]["score"] == 0.5 and rows["tables/members.jsonl"][0]["subject"] == "1"
    others = sorted(name.split("/")[0] for name in contents if not name.startswith("tables/"))
    assert others == ["corpora", "datasets", "datasets", "pretrained", "results"]
    assert [text for name, text in contents.items() if name.startswith("corpora/") and name.endswith("/mine.txt")] == [
        "猫"
    ]
    assert "斉藤" not in str(contents) and "1-0" not in contents["tables/sign_ins.jsonl"]  # the key of a cookie
    assert archive.stat().st_mode & 0o077 == 0
    assert main(arguments) == 2 and "cannot be written" in capsys.readouterr().err  # nothing is written over


def test_no_part_of_an_archive_is_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    archive = folder / "ann.zip"
    assert main(["members", "export", "Ann@lab.example", "--out", str(archive), "--directory", str(folder)]) == 2
    assert "No space left on device" in capsys.readouterr().err and not archive.exists()


def test_nothing_of_a_forgotten_member_is_left(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ann = with_something_in_each_table(folder)
    assert ann in texts_of_every_table(folder)
    assert main(["members", "forget", "ann@lab.example", "--directory", str(folder)]) == 0
    assert (
        "All of Ann@lab.example is deleted: 2 runs, 1 dataset, 1 rating, 1 comment, 2 sign-ins."
        in capsys.readouterr().out
    )
    left = texts_of_every_table(folder)
    assert ann not in left and "ann@lab.example" not in left.lower()
    assert member_id(ISSUER, "2") in left and "1.0" in left  # the other member's, and the rating of that run
    for name in ("results", "datasets", "corpora", "pretrained"):
        assert list((folder / name).glob("[!.]*")) == []
