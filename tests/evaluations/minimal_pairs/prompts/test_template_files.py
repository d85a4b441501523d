"""Templates as a table: the one that a run writes is read back to the same numbers; every bad row is listed."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from engine.__main__ import main
from engine.errors import InputError
from engine.evaluations.minimal_pairs.prompts.files import read_templates
from engine.evaluations.minimal_pairs.prompts.templates import BUILT_IN

GPT = {"en": "builtin/gpt2-mini-en", "ja": "builtin/gpt2-mini-ja"}
PAIRS = {
    "en": "acceptable,unacceptable\nThe cats sleep.,The cats sleeps.\nShe wrote it.,She written it.\n",
    "ja": "acceptable,unacceptable\n猫が魚を食べた。,猫が魚に食べた。\n雨が降った。,雨を降った。\n",
}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_table_of_a_run_gives_its_numbers_again(language: str, tmp_path: Path) -> None:
    data = tmp_path / "pairs.csv"
    data.write_text(PAIRS[language], encoding="utf-8")
    common = [
        "minimal-pairs",
        "--data",
        str(data),
        "--model",
        GPT[language],
        "--cache",
        str(tmp_path / "cache"),
        "--out",
    ]
    assert main([*common, str(tmp_path / "first"), "--prompts", language]) == 0
    templates = tmp_path / "first" / "templates.csv"
    assert main([*common, str(tmp_path / "again"), "--prompts", str(templates)]) == 0
    first, again = (pd.read_csv(tmp_path / name / "prompted.csv") for name in ("first", "again"))
    pd.testing.assert_frame_equal(first, again, check_exact=False, atol=1e-5)
    signed = json.loads((tmp_path / "again" / "settings.json").read_text(encoding="utf-8"))
    built_in = [template.text + template.cue for template in BUILT_IN[language]]
    assert signed["settings"]["prompts"] == "own" and signed["templates"] == built_in
    assert signed["settings"]["answers"] == list(BUILT_IN[language][-1].answers)
    read_back = pd.read_csv(tmp_path / "again" / "templates.csv", keep_default_na=False)
    written = pd.read_csv(templates, keep_default_na=False)
    assert read_back[["score", "text", "answers"]].equals(written[["score", "text", "answers"]])


def test_columns_by_other_names_in_tsv_and_json_lines_and_the_first_of_several_models() -> None:
    expected = {"prompts": "own", "in_template": ("So: {sentence}",), "yes_no": ("{sentence} OK?\n",), "answers": ()}
    tsv = b'kind\ttext\nin-template\tSo: {sentence}\nyes_no\t"{sentence} OK?\n"\n'
    assert read_templates(tsv, "own.tsv") == expected
    rows = [{"score": "in-template LP", "text": "So: {sentence}"}, {"score": "Yes/No", "text": "{sentence} OK?\n"}]
    lines = "".join(json.dumps({"model": model, **row}) + "\n" for model in "ab" for row in rows)
    assert read_templates(lines.encode(), "own.jsonl") == expected


def test_line_ends_of_another_system_are_no_other_templates() -> None:
    written = b'score,text\nin-template LP,"So:\n\n{sentence}"\nYes/No,"{sentence}\nOK?"\n'
    assert read_templates(written.replace(b"\n", b"\r\n"), "own.csv") == read_templates(written, "own.csv")


@pytest.mark.parametrize("answers", ['["はい", "いいえ"]', '"はい,いいえ"', '"はい、いいえ"', '"はい， いいえ"'])
def test_answers_are_a_list_or_words_between_commas_of_either_width(answers: str) -> None:
    line = f'{{"score": "Yes/No", "text": "{{sentence}}?", "answers": {answers}}}\n'
    assert read_templates(line.encode(), "own.jsonl")["answers"] == ("はい", "いいえ")


def test_every_bad_row_is_listed() -> None:
    rows = [
        "in-template LP,A: {sentence},",
        "LP,B: {sentence},",
        "in-template LP,no place,",
        "Yes/No,A: {sentence},",
        'Yes/No,{sentence}?,"Yes,No"',
        'Yes/No,{sentence}!,"Yes"',
        'Yes/No,{sentence}.,"Ja,Nein"',
        "in-template LP,,",
    ]
    with pytest.raises(InputError) as raised:
        read_templates("\n".join(["score,text,answers", *rows]).encode(), "own.csv")
    assert [bad.row for bad in raised.value.rows] == [2, 3, 4, 6, 7, 8]
    said = [str(bad.reason) for bad in raised.value.rows]
    assert "'LP'; what is scored is in-template LP or Yes/No" in said[0]
    assert "0 places" in said[1] and "in row 1, too" in said[2] and "are two" in said[3]
    assert "'Ja,Nein' and those of row 5 are 'Yes,No'" in said[4] and "is empty" in said[5]
    assert "6 of 8 rows" in str(raised.value)
    with pytest.raises(InputError, match="needs the columns text and score, and has a, b"):
        read_templates(b"a,b\n1,2\n", "other.csv")


def test_a_file_stands_alone_and_must_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, own = tmp_path / "pairs.csv", tmp_path / "own.csv"
    data.write_text(PAIRS["en"], encoding="utf-8")
    own.write_text("score,text\nin-template LP,nothing\nYes/No,{sentence}{sentence}\n", encoding="utf-8")
    common = ["minimal-pairs", "--data", str(data), "--model", GPT["en"], "--out", str(tmp_path / "out"), "--prompts"]
    assert main([*common, str(own)]) == 2
    said = capsys.readouterr().err
    assert "row 1" in said and "0 places" in said and "row 2" in said and "2 places" in said
    assert "--skip-bad-rows" not in said  # which is of the data
    assert main([*common, str(own), "--in-template", "{sentence}"]) == 2
    assert "--in-template names others" in capsys.readouterr().err
    assert main([*common, str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*common, "french"])
    assert "invalid choice" in capsys.readouterr().err
