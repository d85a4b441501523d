from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.runs.access.viewers import member_id
from engine.runs.storage import members
from engine.runs.storage.database import database_url
from engine.runs.storage.members import Account, SignIn
from engine.runs.storage.processes import this_process
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
        (["--sign-out", "ann@lab.example", "--release", "ann@lab.example"], "not both"),
    ],
)
def test_what_cannot_be_done_is_refused(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["members", *arguments, "--directory", str(folder)]) == 2
    assert message in capsys.readouterr().err
