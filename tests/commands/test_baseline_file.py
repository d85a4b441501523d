"""`--rescale`: a list of baselines in the command, or in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.commands.shared.baseline_file import with_baselines
from engine.errors import InputError
from engine.evaluations.alignment.records import Settings

IN_ONE_LINE = "LAYER,P,R,F;0,0.1,0.2,0.3;1,-0.05,0.5,0.25"


def of(rescale: str) -> str:
    return with_baselines(Settings(("m",), rescale=rescale)).rescale


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_file_is_the_list_that_it_has(tmp_path: Path, encoding: str, separator: str) -> None:
    path = tmp_path / "baseline.tsv"
    path.write_text("LAYER,P,R,F\n0,0.10,0.2,0.3\n1,-0.05,0.5,0.25\n".replace(",", separator), encoding=encoding)
    assert of(str(path)) == IN_ONE_LINE


def test_the_list_itself_and_what_is_none(tmp_path: Path) -> None:
    assert [of(given) for given in ("", "own", IN_ONE_LINE)] == ["", "own", IN_ONE_LINE]
    with pytest.raises(InputError, match="cannot be read"):
        of(str(tmp_path / "nowhere.tsv"))
    (tmp_path / "bad.tsv").write_text("LAYER,P,R\n0,1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="lacks the column F"):
        of(str(tmp_path / "bad.tsv"))
