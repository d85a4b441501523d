"""`--readings`: a list in the command, or in a file of any encoding."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.commands.shared.own_readings import with_own_readings
from engine.errors import InputError
from engine.evaluations.alignment.records import Scoring, Settings

IN_ONE_LINE = "斉藤=さいとう;東=ひがし/あずま"


def of(readings: str) -> str:
    return with_own_readings(Settings(("m",), scoring=Scoring(readings=readings))).scoring.readings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "utf-16"])
def test_a_file_is_the_list_that_it_has(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "readings.csv"
    path.write_text("name,reading\n斉藤,サイトウ\n東,ひがし/あずま\n", encoding=encoding)
    assert of(str(path)) == IN_ONE_LINE


def test_the_list_itself(tmp_path: Path) -> None:
    assert of("斉藤 = さいとう\n東=ひがし／あずま") == IN_ONE_LINE and of("") == ""
    long = ";".join(f"名前その{n}=なまえ" for n in range(500))  # longer than a name of a file may be
    assert of(long) == long
    with pytest.raises(InputError, match="neither a file nor a list"):
        of(str(tmp_path / "missing.csv"))


@pytest.mark.parametrize("content", ["", "\n \n", "name,reading\n"])
def test_a_file_without_an_entry_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "readings.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"readings\.csv holds no entry"):
        of(str(path))
