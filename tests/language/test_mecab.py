from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.language import mecab
from tests.support import mecab_directories


def test_a_directory_of_ones_own_cuts_as_the_package_does(tmp_path: Path) -> None:
    text = "図書館で本を読んだ。"
    own = str(mecab_directories.whole(tmp_path / "it's mine"))
    assert mecab.surfaces(text, own) == mecab.surfaces(text, "ipadic")
    assert mecab.surfaces(text, "jumandic") != mecab.surfaces(text, "ipadic")


def test_neologd_is_where_the_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mecab.NEOLOGD_VARIABLE, raising=False)
    with pytest.raises(ModelError, match=r"NEologd comes in no package.*HAKARI_NEOLOGD_DIR"):
        mecab.surfaces("猫", "neologd")
    monkeypatch.setenv(mecab.NEOLOGD_VARIABLE, str(mecab_directories.whole(tmp_path / "neologd")))
    assert mecab.identity("neologd").startswith("fugashi 1.5.2, dictionary ")
    assert mecab.surfaces("猫が", "neologd") == ["猫", "が"]


def test_the_identity_of_a_directory_is_its_content(tmp_path: Path) -> None:
    first, same = (str(mecab_directories.whole(tmp_path / name)) for name in ("first", "same"))
    other = str(mecab_directories.with_file(tmp_path / "other", "dicrc", b"cost-factor = 800\n"))
    assert mecab.identity(first) == mecab.identity(same) != mecab.identity(other)
    assert mecab.state(first) != mecab.state(same)  # another place; nothing is read for it
    assert mecab.identity("ipadic") == "fugashi 1.5.2, ipadic 1.0.0"


def test_a_dictionary_that_is_written_again_is_opened_again(tmp_path: Path) -> None:
    folder = mecab_directories.whole(tmp_path / "own")
    before = mecab.identity(str(folder)), mecab.surfaces("図書館で", str(folder))
    shutil.rmtree(folder)
    import jumandic

    shutil.copytree(jumandic.DICDIR, folder)
    # Every chunk of work begins by asking for it.
    assert mecab.identity(str(folder)) != before[0] and before[1] == ["図書館", "で"]
    assert mecab.surfaces("図書館で", str(folder)) == ["図書", "館", "で"]


def test_a_dictionary_that_is_not_there_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no MeCab dictionary in .*nowhere: it is no directory"):
        mecab.surfaces("猫", str(tmp_path / "nowhere"))
    folder = mecab_directories.whole(tmp_path / "half", "matrix.bin", "unk.dic")
    with pytest.raises(ModelError, match=r"it holds no matrix.bin, unk.dic\. Give the directory of a compiled"):
        mecab.surfaces("猫", str(folder))


def test_damaged_dictionaries_are_errors_and_not_the_end_of_the_process(tmp_path: Path) -> None:
    cut = mecab_directories.with_file(tmp_path / "cut", "sys.dic", bytes(mecab_directories.content("sys.dic")[:9999]))
    with pytest.raises(ModelError, match=r"cannot use the dictionary in .*cut: .*dictionary file is broken"):
        mecab.surfaces("猫", str(cut))
    matrix = mecab_directories.with_file(tmp_path / "matrix", "matrix.bin", b"\0" * 100)
    with pytest.raises(ModelError, match=r"cannot use the dictionary in .*matrix.*Compile or copy it again"):
        mecab.surfaces("猫", str(matrix))
    # Opened in this process, this one would end it with a segmentation fault.
    with pytest.raises(ModelError, match=r"cannot use the dictionary in .*crash: it crashes \(exit code -11\)"):
        mecab.surfaces("猫", str(mecab_directories.that_crashes(tmp_path / "crash")))


def test_a_dictionary_of_another_encoding_is_refused(tmp_path: Path) -> None:
    # It would find no word of ours, and say nothing.
    with pytest.raises(ModelError, match=r"was compiled for euc-jp.*mecab-dict-index -t utf-8"):
        mecab.surfaces("猫", str(mecab_directories.in_euc(tmp_path / "euc")))


def test_a_dictionary_that_names_others_is_refused(tmp_path: Path) -> None:
    rc = bytes(mecab_directories.content("dicrc")) + f"\nuserdic = {mecab_directories.ipadic.DICDIR}/sys.dic\n".encode()
    folder = mecab_directories.with_file(tmp_path / "user", "dicrc", rc)
    with pytest.raises(ModelError, match=r"dicrc in .*user names user dictionaries|cannot use the dictionary"):
        mecab.surfaces("猫", str(folder))
