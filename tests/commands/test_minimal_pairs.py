"""`python -m engine minimal-pairs` on files as published: several of them, a zip, CrowS-Pairs, every table.

Over a backend without models; with them it is tried in `test_command_line`.
"""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.commands.shared import common
from engine.runs.computing import open_computing
from tests.support.fakes import FakeBackend
from tests.support.layouts.babylm import FILES, written

MODEL, BERT = "somebody/gpt2", "somebody/bert"
# Of our own writing, in the layouts of the published files.
BLIMP = {
    name: [
        {
            "sentence_good": f"The {noun} {good}.",
            "sentence_bad": f"The {noun} {bad}.",
            "UID": name,
            "field": "morphology",
            "linguistics_term": "agreement",
            "pairID": str(i),
        }
        for i, noun in enumerate(("scale", "weight", "old spoon", "thing on the plate"))
    ]
    for name, good, bad in (("tips", "tips", "tip"), ("weighs", "weighs little", "weigh little"))
}
CROWS = [
    ("0", "あの老人は道で転んだ", "あの若者は道で転んだ", "stereo", "age"),
    ("1", "若い店員が失敗した", "老いた店員が失敗した", "antistereo", "age"),
    ("2", "女は泣いた", "男は泣いた", "stereo", "gender"),
    ("3", "同じ文", "同じ文", "stereo", "gender"),
]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module", autouse=True)
def without_models() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            common,
            "open_computing",
            lambda *places, **settings: open_computing(*places, **settings, backend=FakeBackend()),
        )
        yield


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    found = {}
    for name, rows in BLIMP.items():
        found[name] = folder / f"{name}.jsonl"
        found[name].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found["zip"] = folder / "blimp.zip"
    with zipfile.ZipFile(found["zip"], "w") as archive:
        for name in BLIMP:
            archive.write(found[name], f"data/{name}.jsonl")
        archive.writestr("README.txt", "Pairs.\nTwo files.\n")
    found["crows"] = folder / "crows.csv"
    with found["crows"].open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("", "sent_more", "sent_less", "stereo_antistereo", "bias_type"), *CROWS])
    return found


def run(cache: Path, out: Path, *arguments: object) -> int:
    return main(["minimal-pairs", *map(str, arguments), "--out", str(out), "--cache", str(cache)])


@pytest.fixture(scope="module")
def blimp(cache: Path, files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("blimp")
    data = ["--data", files["tips"], files["weighs"]]
    assert run(cache, out, *data, "--model", MODEL, "--by", "UID", "--normalization", "LP", "SLOR") == 0
    return out


def test_every_table_is_written(blimp: Path) -> None:
    assert {path.stem for path in blimp.glob("*.csv")} == {
        "pairs",
        "summary",
        "bias",
        "correlations",
        "pairing",
        "differences",
        "categories",
        "fair_subsets",
        "fair_summary",
        "ranking",
        "tokens",
        "excluded",
        "babylm",
    }
    pairs = table(blimp / "pairs.csv")
    assert [row["row"] for row in pairs] == [str(number) for number in range(1, 9)]
    assert {row["category"] for row in pairs} == {"agreement"} and {row["scored_in"] for row in pairs} == {"fp32"}
    assert {row["normalization"] for row in table(blimp / "summary.csv")} == {"LP", "SLOR"}
    assert {row["category"] for row in table(blimp / "categories.csv")} == {"tips", "weighs"}
    (first, *_) = table(blimp / "bias.csv")
    assert list(first)[:6] == ["model", "normalization", "slope", "standard_error", "ci_low", "ci_high"]
    settings = json.loads((blimp / "settings.json").read_text(encoding="utf-8"))
    assert (settings["format"], settings["unigrams"], settings["alpha"]) == ("BLiMP", "these sentences", 0.8)
    assert "from left to right" in settings["rules"][MODEL]


def test_the_fair_rows_are_those_of_equal_length(blimp: Path) -> None:
    equal = [row["row"] for row in table(blimp / "pairs.csv") if row["acceptable_tokens"] == row["unacceptable_tokens"]]
    fair = table(blimp / "fair_subsets.csv")
    for subset in ("A=U", "A=U for all models"):
        assert [row["row"] for row in fair if row["subset"] == subset] == equal


def test_a_subset_is_counted_alone_and_the_fair_tables_keep_all_pairs(
    cache: Path, files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", files["crows"], "--model", MODEL, "--normalization", "LP", "MeanLP"]
    assert run(cache, tmp_path / "all", *arguments) == 0
    assert run(cache, tmp_path / "equal", *arguments, "--subset", "A=U") == 0
    pairs = table(tmp_path / "all" / "pairs.csv")
    equal = [row for row in pairs if row["acceptable_tokens"] == row["unacceptable_tokens"]]
    assert 0 < len(equal) < len(pairs) and table(tmp_path / "equal" / "pairs.csv") == equal
    n = {row["stratum"]: row["n"] for row in table(tmp_path / "equal" / "summary.csv")}
    assert n == {"all": str(len(equal)), "A=U": str(len(equal)), "A<U": "0", "A>U": "0"}
    for name in ("fair_subsets", "fair_summary"):
        assert table(tmp_path / "equal" / f"{name}.csv") == table(tmp_path / "all" / f"{name}.csv")
    assert json.loads((tmp_path / "equal" / "settings.json").read_text(encoding="utf-8"))["subset"] == "A=U"
    assert run(cache, tmp_path / "none", "--data", files["tips"], "--model", MODEL, "--subset", "A=U") == 2
    assert "'A=U' has no pair under somebody/gpt2" in capsys.readouterr().err


def test_repeated_data_and_a_zip_are_the_same_pairs(
    blimp: Path, cache: Path, files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, data in (
        ("repeated", ["--data", files["tips"], "--data", files["weighs"]]),
        ("zip", ["--data", files["zip"]]),
    ):
        assert run(cache, tmp_path / name, *data, "--model", MODEL) == 0
        assert (tmp_path / name / "pairs.csv").read_bytes() == (blimp / "pairs.csv").read_bytes()
    said = capsys.readouterr().err
    assert "format: BLiMP" in said and "1 file of blimp.zip without two sentence columns left out: README.txt" in said


def test_babylm_is_one_command_with_its_curve_and_its_predictions(cache: Path, tmp_path: Path) -> None:
    data, models = written(tmp_path / "full_eval"), [f"somebody/babygpt@chck_{n}M" for n in (1, 2, 10)]
    named = [word for model in models for word in ("--model", model)]
    out = tmp_path / "out"
    assert run(cache, out, "--data", data, "--preset", "babylm", "--submission", "babylm", *named) == 0
    tasks = table(out / "babylm.csv")
    assert {row["folder"] for row in tasks} == {name.split("/")[1] for name in FILES} and len(tasks) == 3 * len(FILES)
    assert {row["step"] for row in table(out / "checkpoints.csv")} == {"1000000.0", "2000000.0", "10000000.0"}
    files = sorted((out / "babylm").rglob("predictions.json"))
    assert [
        str(path.relative_to(out / "babylm" / "babygpt" / "chck_2M" / "zero_shot" / "causal")) for path in files[14:]
    ] == [f"{name}/predictions.json" for name in sorted(FILES)]
    assert run(cache, tmp_path / "other", "--data", "sample/minimal-pairs", "--submission", "babylm", *named) == 2
    assert not (tmp_path / "other").exists()


def test_crows_pairs_has_both_its_measures(cache: Path, files: dict[str, Path], tmp_path: Path) -> None:
    assert (
        run(
            cache,
            tmp_path,
            "--data",
            files["crows"],
            "--model",
            BERT,
            "--model",
            MODEL,
            "--shared-tokens",
            "--normalization",
            "LP",
            "--precision",
            "exact-decisions",
            "--unigrams",
            "these sentences",
        )
        == 0
    )
    rows = table(tmp_path / "stereotypes.csv")
    assert {(row["measure"], row["model"]) for row in rows} == {
        ("whole-sentence likelihood", BERT),
        ("whole-sentence likelihood", MODEL),
        ("shared tokens", BERT),
    }
    overall = [row for row in rows if not row["category"] and not row["direction"]]
    assert all((row["n"], row["n_tied"]) == ("4", "1") for row in overall)
    assert len(table(tmp_path / "shared_tokens.csv")) == 4 and len(table(tmp_path / "comparisons.csv")) == 1
    # few pairs: all of them are in the sample that is scored in fp32
    assert [row["n_fp32"] for row in table(tmp_path / "precision.csv")] == ["3", "3"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--alpha", "-1"), "alpha is at least 0"),
        (("--by", "phase"), "no column 'phase'; there are: category, source, "),
        (("--levels", "field,no", "--clustered-by", "none"), "no column 'no', 'none'"),
        (("--normalization", "WordLP"), "WordLP: a score by words needs their boundaries. Add --word-boundaries"),
        (("--normalization", "Yes/No", "LP"), "Yes/No: a score of sentences in templates, which are not asked for"),
        (
            ("--normalization", "Yes/No", "prompt vote", "--prompts", "own", "--in-template", "{sentence}"),
            "Yes/No: none of the templates is for that score",
        ),
        (("--prompts", "en", "--answers", "True,False"), "The answers 'True,False' are for questions of your own"),
        (("--prompts", "en", "--yes-no", "{sentence}?"), "Add --prompts own, or leave them out"),
        (("--prompts", "own", "--in-template", "sentence"), "'sentence' has 0 places for the sentence"),
        (("--prompts", "en", "--chat-template"), f"The tokenizer of {MODEL} has no chat template"),
        (("--unigrams", "nowhere.json"), "nowhere.json"),
        (("--column", "acceptable"), "ROLE=NAME"),
    ],
)
def test_what_cannot_be_done_ends_with_2(
    cache: Path,
    files: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    expected: str,
) -> None:
    assert run(cache, tmp_path / "out", "--data", files["tips"], "--model", MODEL, *options) == 2
    assert expected in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_score_that_models_lack_is_refused_behind_its_reason(
    cache: Path, files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert (
        run(
            cache,
            out,
            "--data",
            files["tips"],
            "--model",
            MODEL,
            "--model",
            BERT,
            "--normalization",
            "LP",
            "WordLP",
            "--word-boundaries",
        )
        == 2
    )
    said = capsys.readouterr().err
    assert f"note: {BERT} is a masked model" in said and said.index("note: ") < said.index("under every model")


def test_levels_and_clusters_are_written_where_they_are_asked_for(
    cache: Path, files: dict[str, Path], tmp_path: Path
) -> None:
    data = ["--data", files["tips"], files["weighs"], "--model", MODEL, "--model", BERT]
    assert (
        run(cache, tmp_path, *data, "--levels", "field,UID", "--clustered-by", "UID", "--normalization", "LP", "PenLP")
        == 0
    )
    levels = table(tmp_path / "levels.csv")
    assert [row["value"] for row in levels[:4]] == ["all", "morphology", "morphology / tips", "morphology / weighs"]
    assert [row["n_clusters"] for row in levels[:4]] == ["2", "2", "1", "1"]
    (first, second) = table(tmp_path / "conditions.csv")
    assert (first["model"], first["normalization"], first["other_normalization"]) == (MODEL, "LP", "PenLP")
    assert second["model"] == BERT
    assert [
        (row["model"], row["other"], row["normalization"]) for row in table(tmp_path / "clustered_comparisons.csv")
    ] == [(MODEL, BERT, "LP"), (MODEL, BERT, "PenLP")]
    settings = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert settings["levels"] == ["field", "UID"] and settings["clustered_by"] == "UID"
    assert run(cache, tmp_path / "wrong", *data, "--clustered-by", "nothing") == 2


def test_prompts_add_their_scores_and_the_accuracy_in_each_template(
    cache: Path, files: dict[str, Path], tmp_path: Path
) -> None:
    names = ("LP", "in-template LP", "Yes/No", "prompt vote")
    data = ["--data", files["tips"], "--model", MODEL, "--normalization", *names]
    own = ["--prompts", "own", "--in-template", "It holds:\n{sentence}", "--yes-no", "{sentence}\nTrue?"]
    assert run(cache, tmp_path / "en", *data, "--prompts", "en") == 0
    assert run(cache, tmp_path / "own", *data, *own, "--answers", "True,False") == 0
    for folder, n_templates in (("en", 5), ("own", 2)):
        assert {row["normalization"] for row in table(tmp_path / folder / "summary.csv")} == set(names)
        templates = table(tmp_path / folder / "templates.csv")
        assert [row["template"] for row in templates] == [str(number) for number in range(1, n_templates + 1)]
        prompted = table(tmp_path / folder / "prompted.csv")
        n_pairs = int(templates[0]["n"])
        assert len(prompted) == n_templates * n_pairs
        for line in templates:
            right = [
                float(row["acceptable_score"]) > float(row["unacceptable_score"])
                for row in prompted
                if row["template"] == line["template"]
            ]
            assert sum(right) == int(line["n_correct"]) and float(line["accuracy"]) == sum(right) / n_pairs
        settings = json.loads((tmp_path / folder / "settings.json").read_text(encoding="utf-8"))
        assert settings["settings"]["prompts"] == folder and len(settings["templates"]) == n_templates
    votes = [row for row in table(tmp_path / "en" / "summary.csv") if row["normalization"] == "prompt vote"]
    by_row: dict[str, int] = {}
    for row in table(tmp_path / "en" / "prompted.csv"):
        difference = float(row["acceptable_score"]) - float(row["unacceptable_score"])
        by_row[row["row"]] = by_row.get(row["row"], 0) + (difference > 0) - (difference < 0)
    assert int(votes[0]["n_correct"]) == sum(value > 0 for value in by_row.values())


MARKED = "acceptable,unacceptable,acceptable_region,unacceptable_region,UID\na b c,a d c,b,d,u\ne f g,e h g,f,h,u\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--region", "marked", "--normalization", "LP", "bits per byte", "per character", "MORCELA"),
            "bits per byte, per character, MORCELA: a score of whole sentences",
        ),
        (
            ("--region", "one-prefix"),
            "marks no region 'one-prefix'; there are: whole sentence, words that differ, marked",
        ),
        (("--normalization", "MORCELA"), "MORCELA is fitted to human judgements"),
        (("--by", "nowhere"), "no column 'nowhere'"),
    ],
)
def test_what_the_file_does_not_have_is_refused_before_anything_is_scored(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "marked.csv").write_text(MARKED, encoding="utf-8")
    assert run(cache, tmp_path / "out", "--data", tmp_path / "marked.csv", "--model", MODEL, *options) == 2
    said = capsys.readouterr().err
    assert message in said and "note: " not in said  # notices come with the scores


def test_a_masked_model_under_a_prefix_method_is_named(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "prefix.csv"
    data.write_text(
        "sentence_good,sentence_bad,one_prefix_prefix,one_prefix_word_good,one_prefix_word_bad\na b c,a d c,a,b,d\n",
        encoding="utf-8",
    )
    models = ("--model", MODEL, "--model", BERT)
    assert run(cache, tmp_path / "out", "--data", data, *models, "--region", "one-prefix") == 0
    assert (
        f"note: {BERT}: the method one-prefix is of models that read a sentence from its beginning; these also read "
        "what follows the word." in capsys.readouterr().err
    )


def test_judged_sentences_that_cannot_be_fitted_say_why(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "judged.csv").write_text("sentence,label\na b,1\nb a,0\nc d,1\nd c,0\n", encoding="utf-8")
    asked = ("--data", tmp_path / "judged.csv", "--model", MODEL, "--folds", "500")
    assert run(cache, tmp_path / "out", *asked) == 0
    assert (
        f"note: {MODEL}: some numbers of judgements.csv are undefined: 500 parts need 500 sentences of each judgement"
    ) in capsys.readouterr().err
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    assert run(cache, tmp_path / "ja", *asked) == 0
    said = capsys.readouterr().err
    assert f"注意: {MODEL}: " in said and "parts need" not in said


def test_pairs_without_the_region_are_counted_on_stderr(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "pairs.csv"
    data.write_text(
        "acceptable,unacceptable\n猫が走る,猫を走る\n雨が降る,雨が降る\n犬が走る,犬が走る\n", encoding="utf-8"
    )
    command = [
        "minimal-pairs",
        "--data",
        str(data),
        "--model",
        MODEL,
        "--cache",
        str(cache),
        "--region",
        "words that differ",
        "--out",
    ]
    assert main([*command, str(tmp_path / "en")]) == 0
    assert (
        f"note: {MODEL}: 2 of 3 pairs have nothing of the region in a sentence and are not counted: excluded.csv."
        in capsys.readouterr().err
    )
    assert [row["row"] for row in table(tmp_path / "en/excluded.csv")] == ["2", "3"]
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    assert main([*command, str(tmp_path / "ja")]) == 0
    assert f"{MODEL}: 3対のうち2対は" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--subset", "A=U", "--levels", "kind", "--clustered-by", "kind"), "--subset, --levels, --clustered-by"),
        (("--region", "marked"), "--region"),
        (
            ("--by", "kind", "--alpha", "0.5", "--unigrams", "wiki", "--folds", "4"),
            "--by, --alpha, --unigrams, --folds",
        ),
        (("--normalization", "LP"), "Leave --normalization out"),
        (("--predictions", "(1;%a,b%) > (1;%c%),(1;%c%) > 0"), "a comma in it in double quotes"),
    ],
)
def test_options_of_pairs_are_refused_for_single_sentences_before_anything_is_scored(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    data = tmp_path / "design.csv"
    data.write_text('item,condition,region_1,region_2,kind\n1,"a,b",猫が,寝た,x\n1,c,猫に,寝た,x\n', encoding="utf-8")
    out = tmp_path / "out"
    assert run(cache, out, "--data", data, "--model", MODEL, *options) == 2
    assert message in capsys.readouterr().err and not out.exists()
    quoted = ("--predictions", '"(1;%a,b%) > (1;%c%)",(1;%c%) > 0')
    assert run(cache, out, "--data", data, "--model", MODEL, *quoted) == 0
    assert {row["prediction"] for row in table(out / "predictions.csv")} >= {"(1;%a,b%) > (1;%c%)", "(1;%c%) > 0"}


def test_judged_sentences_have_scores_but_no_subsets(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "judged.csv"
    data.write_text("sentence,label\n" + "".join(f"猫が{i}匹いる,{i % 2}\n" for i in range(12)), encoding="utf-8")
    assert run(cache, tmp_path / "out", "--data", data, "--model", MODEL, "--normalization", "LP") == 0
    assert {row["normalization"] for row in table(tmp_path / "out" / "judgements.csv")} == {"LP"}
    assert run(cache, tmp_path / "other", "--data", data, "--model", MODEL, "--subset", "matched") == 2
    assert "--subset. Leave them out." in capsys.readouterr().err


def test_an_option_of_judged_sentences_is_refused_for_pairs(
    cache: Path, files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cache, tmp_path / "out", "--data", files["tips"], "--model", MODEL, "--folds", "4") == 2
    assert "these options are of single judged sentences: --folds. Leave them out." in capsys.readouterr().err


def test_a_further_prefix_is_a_condition_of_the_tables(cache: Path, files: dict[str, Path], tmp_path: Path) -> None:
    assert (
        run(
            cache,
            tmp_path,
            "--data",
            files["tips"],
            "--model",
            MODEL,
            "--other-prefixes",
            "none,bos",
            "--normalization",
            "LP",
        )
        == 0
    )
    condition = f"gpt2 (prefix none)={MODEL}"
    signature = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert signature["conditions"] == {condition: "none"} and signature["settings"]["other_prefixes"] == ["none", "bos"]
    assert [(row["model"], row["other"]) for row in table(tmp_path / "comparisons.csv")] == [(MODEL, condition)]
