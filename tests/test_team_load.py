"""The load of a team: files whose right answers are known and differ by member, and what is held to be mixed up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks import __main__ as bench
from tests.benchmarks.team import cases
from tests.benchmarks.team.cases import Load, Measured
from tests.benchmarks.team.files import member_file
from tests.benchmarks.team.journal import RUN, Journal

MIB = 2**20


def test_files_differ_in_every_sentence_and_the_first_ones_of_members_in_their_answers() -> None:
    files = [member_file(member, number) for member in range(30) for number in range(12)]
    sentences = [sentence for file in files for pair in file.pairs for sentence in pair]
    assert len(sentences) == len(set(sentences))
    assert len({file.name for file in files}) == len(files)
    assert len({(file.label, file.accuracy) for file in files}) > 0.9 * len(files)
    for file in files:
        rows = file.content.decode().splitlines()
        assert rows[0] == "acceptable,unacceptable" and len(rows) == 1 + len(file.pairs)
        n_sentences = sum(acceptable.endswith("with the others.") for acceptable, _ in file.pairs)
        assert n_sentences == file.n_correct and 0 < file.n_correct < len(file.pairs)


def test_another_answer_or_another_name_is_mixed_up() -> None:
    file = member_file(3, 1)  # 14 pairs, of which 5 are right: 35.7%
    metrics = [("All pairs · 14 pairs", "35.7%"), ("A=U · 3 pairs", "66.7%")]
    name = ["**Minimal pairs: member\\-03\\-1** :gray[· took 3 s]"]
    journal = Journal()
    journal.require_answer("ann", file, metrics, name)
    journal.require_answer("ann", file, [("All pairs · 14 pairs", ":orange[35.7%]")], name)
    assert not journal.mixed_up
    journal.require_answer("ann", file, [("All pairs · 14 pairs", "42.9%")], name)
    journal.require_answer("ann", file, [("All pairs · 15 pairs", "35.7%")], name)
    journal.require_answer("ann", file, metrics, ["**Minimal pairs: member\\-04\\-1**"])
    journal.require_answer("ann", file, [], name)
    assert len(journal.mixed_up) == 4 and "14 pairs and 35.7%" in journal.mixed_up[0]
    journal.require_own("ann", "member-03-", ["member-03-0", "member-03-1"])
    assert len(journal.mixed_up) == 4
    journal.require_own("ann", "member-03-", ["member-03-0", "member-04-0"])
    journal.require_own("ann", "member-03-", [])
    assert len(journal.mixed_up) == 6


def test_what_the_load_is_held_to() -> None:
    journal = Journal(n_visits=3)
    journal.seconds["list of runs"] = [0.5] * 19 + [9.0]  # interpolated between the 19th and the 20th: 0.5 + 0.05 * 8.5
    journal.seconds[RUN] = [100.0]
    good = Measured(journal, 200 * MIB, 300 * MIB, 290 * MIB, (300 * MIB, 304 * MIB, 305 * MIB))
    load = Load()
    assert cases.is_kept(load, good)
    [page, memory, growth] = cases.budgets(load, good)
    assert page.value == pytest.approx(0.925) and memory.value == 300 and growth.value == 5
    slow = Journal()
    slow.seconds["home page"] = [3.1]
    for seen in (
        replace(good, journal=slow),
        replace(good, peak_bytes=480 * MIB),
        replace(good, growth=(300 * MIB, 310 * MIB)),
        replace(good, journal=Journal(errors=["lost"])),
        replace(good, journal=Journal(mixed_up=["another's"])),
    ):
        assert not cases.is_kept(load, seen)
    table = cases.lines(load, replace(good, journal=Journal(errors=["lost"])))
    assert "| Errors | 1 |" in table and table[-1] == "- lost"


def test_the_command_line_of_the_load(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    loads: list[Load] = []

    def measured(folder: Path, load: Load) -> Measured:
        loads.append(load)
        return Measured(Journal(), MIB, MIB, MIB, ())

    monkeypatch.setattr(cases, "measured", measured)
    monkeypatch.setattr(cases, "executable", lambda: "/usr/bin/chromium")
    assert bench.main(["team", "--minutes", "0.5", "--visitors", "3", "--visits", "0", "--think", "1", "2"]) == 0
    assert loads == [Load(3, 3, 30.0, 0, think_seconds=(1.0, 2.0))]
    assert "3, 3 of them in Chromium" in capsys.readouterr().out
    monkeypatch.setattr(cases, "executable", lambda: None)
    bench.main(["team"])
    assert loads[1] == Load(30, 0, 600.0, 500)
