"""Tables in LaTeX: nothing that a text holds is a command, long ones break over pages, wide ones span both columns."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.shared.exports.tables.latex import LONG, PACKAGES, escape, latex, symbol
from dashboard.shared.exports.tables.printed import printed
from engine.evaluations.clusters.records import INTERVALS, MODELS, POINTS, VALIDITY
from engine.evaluations.shared.declared_tables import Column, Table
from engine.messages.catalogues import JAPANESE
from engine.messages.languages import in_language

SIGNATURE = {"models": [{"name": "斉藤_1"}], "settings": {"pooling": "cls"}}
TEXTS = Table("texts", "A row for each text.", (Column("text", "text", "a text"), Column("n", "integer", "a number")))


def body(text: str, n: int = 2) -> str:
    return latex(printed(TEXTS, pd.DataFrame({"text": [text, "b"] * (n // 2), "n": list(range(n))})), SIGNATURE)


def test_a_table_is_a_float_with_the_rules_of_booktabs() -> None:
    frame = INTERVALS.frame([("a_b", "score", 0.5, 0.4, 0.6), ("c", "score", -0.25, -0.3, -0.2)])
    lines = latex(printed(INTERVALS, frame), SIGNATURE).splitlines()
    rows = lines[lines.index(r"\toprule") + 1 : lines.index(r"\bottomrule")]
    assert rows == [
        r"model & value \\",
        r"\midrule",
        r"a\_b & 0.5000 [0.4000, 0.6000] \\",
        r"c & $-$0.2500 [$-$0.3000, $-$0.2000] \\",
    ]
    assert r"\begin{table}[t]" in lines and "% Hakari, signature " in "\n".join(lines[:4])
    assert any(line.startswith(r"\label{tab:intervals-") for line in lines)


def test_bold_is_the_number_alone() -> None:
    frame = MODELS.frame(
        [
            ("a", 9, 3, 120.0, 5.0, 22.4, 1, 1, 1, 1, 1.2, 0.3, 0.0),
            ("b", 9, 3, 120.0, 5.0, 30.0, 2, 2, 2, 2, 1.2, 0.3, 0.0),
        ]
    )
    text = latex(printed(MODELS, frame), SIGNATURE)
    assert re.findall(r"\\textbf\{([^}]*)\}", text) == ["22.40"]
    assert r"$M_{m}$ $\downarrow$" in text and r"\begin{table*}[t]" in text


def test_a_long_table_breaks_over_pages() -> None:
    assert r"\begin{longtable}" in body("a", LONG + 2) and r"\onecolumn" in body("a", LONG + 2)
    assert r"\begin{tabular}" in body("a", LONG)
    assert body("a", LONG + 2).count("A row for each text.") == 1  # the caption, on the first page only


def test_a_long_table_is_continued_in_its_language() -> None:
    """The foot of each page but the last was English under Japanese heads."""
    assert r"\multicolumn{2}{r}{Continued on next page} \\" in body("a", LONG + 2)
    with in_language(JAPANESE):
        text = body("あ", LONG + 2)
    assert r"\multicolumn{2}{r}{次ページに続く} \\" in text and r"\caption[]{（続き）} \\" in text
    assert "ontinued" not in text


def test_a_long_sentence_is_broken_into_lines() -> None:
    assert r"p{" in body("長い文" * 20) and r"p{" not in body("短い文")


def test_a_long_path_is_broken_between_its_folders() -> None:
    path = "/data/run_1/checkpoints/bert-small-japanese-babylm-step-10000"
    assert r"/data/\allowbreak{}run\_\allowbreak{}1/\allowbreak{}checkpoints/\allowbreak{}bert-small" in body(path)
    assert r"builtin/bert-mini-ja &" in body("builtin/bert-mini-ja")  # fits a line


@pytest.mark.skipif(shutil.which("lualatex") is None, reason="needs LuaLaTeX")
def test_long_paths_stay_in_their_column(tmp_path: Path) -> None:
    paths = [f"/data/run-{number}/checkpoints/babylm_strict_small_gpt2/step-10000" for number in (1, 2)]
    table = latex(
        printed(VALIDITY, VALIDITY.frame([(path, *[0.5] * (len(VALIDITY.headers) - 1)) for path in paths])), {}
    )
    assert r"p{" in table
    packages = "".join(rf"\usepackage{{{name}}}" for name in PACKAGES)
    whole = rf"\documentclass{{article}}{packages}\begin{{document}}{table}\end{{document}}"
    (tmp_path / "paper.tex").write_text(whole.replace("{document}%", "{document}\n%"), encoding="utf-8")
    command = ["lualatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    log = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False).stdout
    assert "Output written" in log and "Overfull" not in log, log


def test_a_bracket_at_the_begin_of_a_row_is_no_argument_of_the_row_before() -> None:
    for text in ("[MASK]", "*"):
        line = next(line for line in body(text).splitlines() if line.endswith(r"& 0 \\"))
        assert line.startswith("{}")


def test_symbols_of_measures_are_formulas() -> None:
    assert [symbol(text) for text in ("M_m", "B_m / N", "τ_b", "penalty_P", "F1′", "LP")] == [
        "$M_{m}$",
        "$B_{m}$ / N",
        r"$\tau_{b}$",
        r"$\mathrm{penalty}_{P}$",
        "F1$'$",
        "LP",
    ]


def test_special_characters_print_literally() -> None:
    assert escape("a_b & 5% of {x} #1 $2 ~ ^ \\n <s>") == (
        r"a\_b \& 5\% of \{x\} \#1 \$2 \textasciitilde{} \textasciicircum{} \textbackslash{}n "
        r"\textless{}s\textgreater{}"
    )
    assert escape("a--b ,, ''") == "a-{}-b ,{}, '{}'" and escape("bert-base-v3") == "bert-base-v3"
    assert escape("二行\nの文\x00") == "二行 の文"


@given(st.text(max_size=40))
def test_no_text_leaves_a_command_or_an_open_group(text: str) -> None:
    escaped = escape(text)
    known = (
        r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|textasciigrave)\{\}"
        r"|\\[&%$#_{}]|\{\}|\$(?:\\[A-Za-z]+|-|'|\^2)\$"
    )
    rest = re.sub(known, "", escaped)
    assert not set(rest) & set("\\&%$#_{}~^\n\r\x00"), escaped


def test_sentences_of_points_fit_the_page() -> None:
    sentence = "雨が降りそうなので傘を持って出かけた。" * 3
    frame = POINTS.frame(
        [("m", i, f"{i} {sentence}", "天気", 0.1, 0.2, float("nan"), 1.0, "天気", 2.0) for i in range(50)]
    )
    text = latex(printed(POINTS, frame), SIGNATURE)
    share = float(re.findall(r"p\{([\d.]+)\\linewidth\}", text)[0])
    assert 0.1 < share < 0.9 and r"\begin{longtable}" in text


def wide(n_columns: int) -> Table:
    return Table(
        "wide",
        "A row.",
        (Column("text", "text", ""), *(Column(f"number_{i}", "number", "", digits=3) for i in range(n_columns))),
    )


def test_columns_without_room_are_left_out_and_named() -> None:
    table = wide(20)
    frame = pd.DataFrame([["a", *[0.5] * 20], ["b", *[0.25] * 20]], columns=table.headers)
    text = latex(printed(table, frame), SIGNATURE)
    kept = int(next(line for line in text.splitlines() if line.startswith("text &")).count("&")) + 1
    left_out = re.findall(r"Not printed for lack of room: (.*?)\.", text)[0].split(", ")
    assert kept + len(left_out) == 21 and left_out[-1] == "number 19"
    assert "lack of room" not in latex(printed(wide(5), frame.iloc[:, :6]), SIGNATURE)


def test_a_table_of_many_lines_breaks_over_pages_whatever_its_rows() -> None:
    frame = pd.DataFrame({"text": [f"{i} {'長い文' * 40}" for i in range(LONG // 2)], "n": range(LONG // 2)})
    assert r"\begin{longtable}" in latex(printed(TEXTS, frame), SIGNATURE)


def test_a_float_is_as_wide_as_it_must_be() -> None:
    assert r"\begin{table}[t]" in body("a") and r"\small" in body("a")
    assert r"\begin{table*}[t]" in body("長い文" * 20) and r"\footnotesize" in body("長い文" * 20)
    assert r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%" in body("a")
