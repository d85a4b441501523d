"""`idf` and `bertscore` from a terminal: a dictionary counted, then used with every option; bad input refused."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.evaluations.shared.idf_files import read_idf

BERT = "builtin/bert-mini-ja"
pytestmark = pytest.mark.usefixtures("commands_share_workers")
PAIRS = """reference,reference2,candidate,change,anna,ben
斉藤さんは今最高の環境にいると思った。,,尾崎は良い場所にいると思った。,swapped name,0.2,0.4
猫が庭で魚を食べた。,庭で猫が魚を食べた。,庭で猫が魚を食べた。,paraphrase,0.9,
。,,！,marks,,0.1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dictionary of a folder and a zip, and the alignment that uses it."""
    folder = tmp_path_factory.mktemp("alignment")
    (folder / "texts").mkdir()
    (folder / "texts" / "a.txt").write_text("斉藤は庭にいる。\n猫は魚を食べる。\n", encoding="utf-8")
    (folder / "texts" / "b.txt").write_bytes("場所は良いと思った。\n".encode("cp932"))
    with zipfile.ZipFile(folder / "more.zip", "w") as archive:
        archive.writestr("c.txt", "今は環境が最高だ。\n")
    (folder / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    place = ["--cache", str(folder / "cache")]
    corpora = ["--corpus", str(folder / "texts"), "--corpus", str(folder / "more.zip")]
    assert (
        main(
            [
                "dictionary",
                "--model",
                BERT,
                *corpora,
                "--unit",
                "line",
                "--name",
                "few lines",
                "--out",
                str(folder / "made" / "few.json.gz"),
                *place,
            ]
        )
        == 0
    )
    assert (
        main(
            [
                "alignment",
                "--data",
                str(folder / "pairs.csv"),
                "--model",
                BERT,
                "--layer",
                "3",
                "--idf",
                str(folder / "made" / "few.json.gz"),
                "--threshold-value",
                "0.8",
                "--penalty",
                "reading",
                "--criterion",
                "either",
                "--pairing",
                "joined",
                "--reading-engine",
                "unidic",
                "--reading-scope",
                "word",
                "--unit",
                "word",
                "--no-special-matches",
                "--special-tokens",
                "left-out",
                "--column",
                "human=ben",
                "--column",
                "human=anna",
                "--column",
                "category=change",
                "--out",
                str(folder / "out"),
                *place,
            ]
        )
        == 0
    )
    return folder


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_a_dictionary_is_counted_over_files_and_zips(folder: Path) -> None:
    dictionary = read_idf(folder / "made" / "few.json.gz")
    assert (dictionary.name, dictionary.unit, dictionary.n_documents) == ("few lines", "line", 4)
    assert dictionary.document_counts["は"] == 4 and dictionary.token_counts["は"] == 4


def test_every_option_reaches_the_scores(folder: Path) -> None:
    scoring = json.loads((folder / "out" / "settings.json").read_text(encoding="utf-8"))["settings"]["scoring"]
    assert scoring == {
        "idf": str(folder / "made" / "few.json.gz"),
        "threshold": 0.8,
        "threshold_kind": "value",
        "penalty": "reading",
        "criterion": "either",
        "pairing": "joined",
        "match_special": False,
        "special_tokens": "left-out",
        "reading_engine": "unidic",
        "reading_scope": "word",
        "unit": "word",
        "sounds": "auto",
        "readings": "",
    }
    signature = json.loads((folder / "out" / "settings.json").read_text(encoding="utf-8"))
    assert signature["layers"] == {BERT: 3} and signature["thresholds"] == {BERT: 0.8}
    assert signature["dictionaries"][BERT].startswith("few lines (4 documents, ")
    assert signature["weightless_tokens"] == {BERT: ["[CLS]", "[SEP]"]}
    tokens = table(folder / "out" / "tokens.csv")
    names = [token for token in tokens if token["row"] == "1" and token["proper_noun"] == "True"]
    assert [(token["token"], token["reading"]) for token in names] == [("斉藤", "さいとう"), ("尾崎", "おざき")]
    assert {token["penalised"] for token in names} == {"True"}
    assert not any(token["match_special"] == "True" for token in tokens)


def test_every_pair_has_its_line_and_the_best_of_its_references(folder: Path) -> None:
    pairs = {line["row"]: line for line in table(folder / "out" / "pairs.csv")}
    assert list(pairs) == ["1", "2", "3"]
    assert pairs["2"]["best_reference"] == "2" and float(pairs["2"]["f1"]) == pytest.approx(1, abs=1e-6)
    assert float(pairs["1"]["penalized_f1"]) < float(pairs["1"]["f1"])


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        (["--column", "human=anna", "--column", "human=gone"], "no column 'gone' for the role 'human'"),
        (["--column", "reference=candidate", "--column", "reference=reference"], "takes one column"),
        (["--penalty", "reading"], "low-frequency tokens"),
        (["--idf", "nowhere.json"], "no idf dictionary"),
        (["--threshold", "7"], "threshold must be between 0 and 1"),
    ],
)
def test_wrong_input_ends_with_2_and_says_why(
    folder: Path, rest: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "alignment",
                "--data",
                str(folder / "pairs.csv"),
                "--model",
                BERT,
                "--out",
                str(folder / "no"),
                "--cache",
                str(folder / "cache"),
                *rest,
            ]
        )
        == 2
    )
    assert said in capsys.readouterr().err


def test_scores_that_are_no_numbers_are_all_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.csv").write_text("ref,hyp,human,rater1\na,b,x,1\nc,d,2,1\ne,f,3,y\n", encoding="utf-8")
    assert main(["alignment", "--data", str(folder / "bad.csv"), "--model", BERT, "--out", str(folder / "no")]) == 2
    err = capsys.readouterr().err
    assert "row 1: 'human' holds 'x'" in err and "row 3: 'rater1' holds 'y'" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--corpus", "nowhere", "--out", "d.json"], "There is no file or folder"),
        (["--corpus", ".", "--out", "d.txt"], "ends in .json or .json.gz"),
    ],
)
def test_a_dictionary_that_cannot_be_made(
    folder: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dictionary", "--model", BERT, *arguments, "--cache", str(folder / "cache")]) == 2
    assert said in capsys.readouterr().err
