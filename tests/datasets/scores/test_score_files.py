"""Files of scores that were computed elsewhere: every layout, what is refused, and how sentences are matched."""

from __future__ import annotations

import json
import math
import shlex
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.minimal_pairs.scores import UNKNOWN, OutsideScores
from engine.datasets.scores.export import score_files
from engine.datasets.scores.files import ScoreFile, read_frame, read_scores, read_together
from engine.datasets.scores.matching import attached
from engine.errors import InputError

PAIRS = MinimalPairs.from_frame(
    pd.DataFrame(
        {
            "acceptable": ["The cat sleeps.", "Dogs bark.", "猫が鳴く。"],
            "unacceptable": ["The cat sleep.", "Dogs barks.", "猫を鳴く。"],
        }
    ),
    "pairs.csv",
)
SUMS = {
    "The cat sleeps.": -10.5,
    "The cat sleep.": -12.25,
    "Dogs bark.": -6.0,
    "Dogs barks.": -6.0,
    "猫が鳴く。": -8.125,
    "猫を鳴く。": -7.0,
}


def read(name: str, text: str | bytes, **how: Any) -> tuple[ScoreFile, ...]:
    return read_scores([(name, text.encode() if isinstance(text, str) else text)], **how)


def sums_of(scores: OutsideScores) -> list[list[float]]:
    return [side.log_likelihoods.tolist() for side in scores.sides]


EXPECTED = [[SUMS[text] for text in texts] for texts in (PAIRS.acceptable, PAIRS.unacceptable)]


def long_frame() -> pd.DataFrame:
    return pd.DataFrame({"sentence": list(SUMS), "log_likelihood": [str(value) for value in SUMS.values()]})


def sample(number: int, good: str, bad: str, *, before_0_4_3: bool = False) -> dict[str, Any]:
    """A line of samples_*.jsonl, as evaluation_tracker.py of lm-evaluation-harness writes it."""
    sums = SUMS[good], SUMS[bad]
    arguments: Any = {f"gen_args_{i}": {"arg_0": "", "arg_1": f" {text}"} for i, text in enumerate((good, bad))}
    if before_0_4_3:
        arguments = [["", f" {good}"], ["", f" {bad}"]]
    return {
        "doc_id": number,
        "doc": {"sentence_good": good, "sentence_bad": bad, "UID": "agreement"},
        "target": "0",
        "arguments": arguments,
        "resps": [[[str(value), "False"]] for value in sums],
        "filtered_resps": [[value, False] if before_0_4_3 else [str(value), "False"] for value in sums],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": "0" * 64,
        "prompt_hash": "0" * 64,
        "target_hash": "0" * 64,
        "acc": float(sums[0] >= sums[1]),
    }


def samples(**how: Any) -> str:
    pairs = zip(PAIRS.acceptable, PAIRS.unacceptable, strict=True)
    return "".join(json.dumps(sample(i, *pair, **how), ensure_ascii=False) + "\n" for i, pair in enumerate(pairs))


RESULTS = json.dumps(
    {
        "results": {"blimp_x": {"alias": "blimp_x", "acc,none": 2 / 3, "acc_stderr,none": 0.3}},
        "configs": {"blimp_x": {"task": "blimp_x"}},
        "versions": {"blimp_x": 1.0},
        "config": {"model": "hf", "model_args": "pretrained=openai-community/gpt2,dtype=float32"},
        "model_name": "openai-community/gpt2",
    }
)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "xlsx", "parquet"])
def test_long_form_in_every_kind_of_file(ending: str, tmp_path: Path) -> None:
    path, frame = tmp_path / f"gpt.{ending}", long_frame()
    if ending == "xlsx":
        frame.to_excel(path, index=False)
    elif ending == "parquet":
        frame.assign(log_likelihood=list(SUMS.values())).to_parquet(path)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    dataset = attached(PAIRS, read_scores([(path.name, path)]))
    [scores] = dataset.scores
    assert (scores.name, scores.form, scores.file) == ("scores/gpt", "long form", f"gpt.{ending}")
    assert sums_of(scores) == EXPECTED
    assert "Scores from: --scores gpt." in dataset.notices[-1]


def test_long_form_of_several_models_with_tokens() -> None:
    tokens = {text: [[text[:3], -1.5], [text[3:], value + 1.5]] for text, value in SUMS.items()}
    lines = [
        {"model": model, "sentence": text, "log_likelihood": value * scale, **extra}
        for model, scale in (("a/b", 1), ("c", 2))
        for text, value in SUMS.items()
        for extra in ([{"tokens": tokens[text]}] if model == "a/b" else [{"n_tokens": 4}])
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    first, second = attached(PAIRS, read("two.jsonl", text)).scores
    assert (first.name, second.name) == ("scores/a/b", "scores/c")
    assert sums_of(first) == EXPECTED
    assert json.loads(first.sides[0].tokens[1]) == [["Dog", -1.5], ["s bark.", -4.5]]
    assert first.sides[0].n_tokens.tolist() == [2, 2, 2]
    assert second.sides[1].n_tokens.tolist() == [4, 4, 4] and second.sides[1].tokens == ()


def test_wide_form() -> None:
    frame = pd.DataFrame(
        {
            "sentence_good": PAIRS.acceptable,
            "sentence_bad": PAIRS.unacceptable,
            "gpt2:acceptable_log_likelihood": EXPECTED[0],
            "gpt2:unacceptable_log_likelihood": EXPECTED[1],
            "BERT: good": [value * 2 for value in EXPECTED[0]],
            "BERT: bad": [value * 2 for value in EXPECTED[1]],
            "margin": [-0.5, -0.25, -0.75],
        }
    )
    dataset = attached(PAIRS, read_frame(frame, "wide.csv"))
    assert [scores.name for scores in dataset.scores] == ["scores/gpt2", "scores/BERT"]
    assert [sums_of(scores) for scores in dataset.scores] == [
        EXPECTED,
        [[value * 2 for value in side] for side in EXPECTED],
    ]
    assert any("not read as scores: 'margin'" in notice for notice in dataset.notices)


def test_pairs_csv_of_this_project_is_a_wide_form() -> None:
    text = "model,row,category,acceptable_tokens,unacceptable_tokens,acceptable_log_likelihood,unacceptable_log_likelihood,"
    text += "identical,acceptable,unacceptable\n"
    for i, (good, bad) in enumerate(zip(PAIRS.acceptable, PAIRS.unacceptable, strict=True), start=1):
        text += f"gpt,{i},,4,5,{SUMS[good]},{SUMS[bad]},False,{good},{bad}\n"
    [scores] = attached(PAIRS, read("pairs.csv", text)).scores
    assert (scores.name, sums_of(scores)) == ("scores/gpt", EXPECTED)
    assert [side.n_tokens.tolist() for side in scores.sides] == [[4, 4, 4], [5, 5, 5]]


def test_wide_form_needs_both_sides() -> None:
    frame = pd.DataFrame(
        {
            "acceptable": PAIRS.acceptable,
            "unacceptable": PAIRS.unacceptable,
            "a:good": EXPECTED[0],
            "b:bad": EXPECTED[1],
        }
    )
    with pytest.raises(InputError, match="no column of log-likelihoods of the unacceptable sentences of a"):
        read_frame(frame, "wide.csv")


@pytest.mark.parametrize("before_0_4_3", [False, True])
def test_samples_of_lm_evaluation_harness(before_0_4_3: bool, tmp_path: Path) -> None:
    """The results beside a file of samples name the model; a leading space of a sentence is no part of it."""
    path = tmp_path / "samples_blimp_x_2025-01-31T10-00-00.123456.jsonl"
    path.write_text(samples(before_0_4_3=before_0_4_3), encoding="utf-8")
    (tmp_path / "results_2025-01-31T10-00-00.123456.json").write_text(RESULTS, encoding="utf-8")
    dataset = attached(PAIRS, read_scores([(path.name, path)]))
    [scores] = dataset.scores
    assert (scores.name, scores.form) == ("scores/openai-community/gpt2", "samples of lm-evaluation-harness")
    assert sums_of(scores) == EXPECTED
    # Right by the harness: the first pair, and the second, whose tie it counts so; the third is wrong.
    assert scores.published == {"accuracy": pytest.approx(2 / 3), "n": 3}
    assert not any("not of one run" in notice for notice in dataset.notices)


def test_a_zip_of_samples_is_one_model(tmp_path: Path) -> None:
    first, *others = samples().splitlines(keepends=True)
    with zipfile.ZipFile(tmp_path / "gpt2.zip", "w") as archive:
        archive.writestr("m/samples_blimp_x_2025-01-31T10-00-00.123456.jsonl", first)
        archive.writestr("m/samples_blimp_y_2025-01-31T10-00-00.123456.jsonl", "".join(others))
        archive.writestr("m/results_2025-01-31T10-00-00.123456.json", RESULTS)
    dataset = attached(PAIRS, read_scores([("gpt2.zip", tmp_path / "gpt2.zip")]), ["GPT-2"])
    [scores] = dataset.scores
    assert (scores.name, sums_of(scores)) == ("GPT-2=scores/GPT-2", EXPECTED)
    assert "Scores from: --scores GPT-2=gpt2.zip" in dataset.notices
    assert any(
        "blimp_x: the results say an accuracy of 0.6667, and the samples one of 1.0000" in n for n in dataset.notices
    )


def test_samples_of_two_models_are_told_apart_by_the_date_of_their_results() -> None:
    """As they are uploaded together: files of one model's tasks, with results that name it, beside those of another."""
    first, *others = samples().splitlines(keepends=True)
    uploads = {
        "samples_x_2025-01-31T10-00-00.1.jsonl": first,
        "samples_y_2025-01-31T10-00-00.1.jsonl": "".join(others),
        "results_2025-01-31T10-00-00.1.json": RESULTS,
        "samples_x_2025-02-01T10-00-00.1.jsonl": samples().replace("-10.5", "-11.5"),
        "results_2025-02-01T10-00-00.1.json": json.dumps(json.loads(RESULTS) | {"model_name": "org/b"}),
        "samples_x_2025-03-01T10-00-00.1.jsonl": samples(),
        "other.csv": "sentence,log_likelihood\n" + "".join(f'"{text}",{value}\n' for text, value in SUMS.items()),
    }
    together = read_together([(name, text.encode()) for name, text in uploads.items()])
    assert read_together([]) == []
    dataset = attached(PAIRS, [file for sources in together for file in read_scores(sources)])
    assert {scores.name: sums_of(scores) == EXPECTED for scores in dataset.scores} == {
        "scores/openai-community/gpt2": True,
        "scores/org/b": False,
        "scores/samples_x_2025-03-01T10-00-00.1": True,
        "scores/other": True,
    }
    named = [shlex.split(notice)[-1] for notice in dataset.notices if notice.startswith("Scores from: ")]
    assert sorted(named) == sorted(name for name in uploads if not name.startswith("results_"))
    one_result = [
        (name, text.encode()) for name, text in uploads.items() if name != "results_2025-02-01T10-00-00.1.json"
    ]
    assert [file.model for file in read_scores(one_result[:4])] == ["openai-community/gpt2", ""]


def test_a_folder_of_two_models_has_no_one_label(tmp_path: Path) -> None:
    for model in ("a", "b"):
        (tmp_path / "both" / model).mkdir(parents=True)
        (tmp_path / "both" / model / "samples_x_2025-01-31T10-00-00.123456.jsonl").write_text(samples())
        of_model = json.dumps(json.loads(RESULTS) | {"model_name": f"org/{model}"})
        (tmp_path / "both" / model / "results_2025-01-31T10-00-00.123456.json").write_text(of_model)
    files = read_scores([("both", tmp_path / "both")])
    assert [scores.name for scores in attached(PAIRS, files).scores] == ["scores/org/a", "scores/org/b"]
    with pytest.raises(InputError, match=r"both holds scores of 2 models \(org/a, org/b\), and a label names one"):
        attached(PAIRS, files, ["X", "X"])


def test_bad_rows_of_several_files_are_told_apart(tmp_path: Path) -> None:
    for task in ("x", "y"):
        text = samples().replace("-10.5", "10.5")
        (tmp_path / f"samples_{task}_2025-01-31T10-00-00.123456.jsonl").write_text(text)
    with pytest.raises(InputError) as caught:
        read_scores([("folder", tmp_path)])
    assert [(bad.row, str(bad.reason).rpartition(" ")[2]) for bad in caught.value.rows] == [
        (1, "(samples_x_2025-01-31T10-00-00.123456.jsonl)"),
        (1, "(samples_y_2025-01-31T10-00-00.123456.jsonl)"),
    ]


@pytest.mark.parametrize(
    ("further", "reason"),
    [
        ({"n_tokens": 10**20}, "its number of tokens is '100000000000000000000', more than 1,000,000,000"),
        ({"tokens": [["\ud83d", -1.0], ["\ude00", -2.0]]}, "half of a surrogate pair"),
        ({"sentence": "The cat \ud83d", "log_likelihood": -1}, "half of a surrogate pair"),
    ],
)
def test_what_no_table_can_hold_is_a_bad_row(further: dict[str, Any], reason: str) -> None:
    line = {"sentence": "Dogs bark.", "log_likelihood": -3.0} | further
    with pytest.raises(InputError) as caught:
        read("x.jsonl", json.dumps(line))
    assert [reason in str(bad.reason) for bad in caught.value.rows] == [True]


def test_samples_without_log_likelihoods_are_refused() -> None:
    line = {"doc_id": 0, "doc": {}, "arguments": {"gen_args_0": {"arg_0": "Q"}}, "filtered_resps": ["an answer"]}
    with pytest.raises(InputError, match="it has no log-likelihoods") as caught:
        read("samples_x.jsonl", json.dumps(line) + "\n")
    assert [bad.row for bad in caught.value.rows] == [1]


def test_rows_of_tokens_as_minicons_prints_them() -> None:
    """minicons 0.3.39: sentence_id, token_id, token, logprob; the first token of a causal model has none, or 0."""
    rows = []
    for number, (text, value) in enumerate(SUMS.items(), start=1):
        tokens = [text[:4].strip(), text[4:].strip()]
        rows += [(number, 1, tokens[0], "" if number % 2 else 0.0), (number, 2, tokens[1], value)]
    frame = pd.DataFrame(rows, columns=["sentence_id", "token_id", "token", "logprob"])
    dataset = attached(PAIRS, read_frame(frame, "minicons.csv"))
    [scores] = dataset.scores
    assert (scores.form, sums_of(scores)) == ("rows of tokens", EXPECTED)
    assert scores.sides[0].n_tokens.tolist() == [1, 1, 1]
    assert json.loads(scores.sides[0].tokens[0])[0] == ["The", None]


def test_a_sentence_that_stands_twice_among_rows_of_tokens_is_not_scored_twice() -> None:
    """As where pairs share a sentence: its tokens were put together, and its log-likelihood was twice what it is."""
    rows = [
        (text, place, token, value / 2)
        for text, value in (*SUMS.items(), *SUMS.items())
        for place, token in enumerate((text[:4], text[4:]), start=1)
    ]
    frame = pd.DataFrame(rows, columns=["sentence", "token_id", "token", "logprob"])
    [scores] = attached(PAIRS, read_frame(frame, "tokens.csv")).scores
    assert sums_of(scores) == EXPECTED and scores.sides[0].n_tokens.tolist() == [2, 2, 2]
    unordered = frame.iloc[: len(SUMS) * 2].iloc[::-1]  # the number of a token says no order of the rows
    [scores] = attached(PAIRS, read_frame(unordered, "tokens.csv")).scores
    assert sums_of(scores) == EXPECTED
    with pytest.raises(InputError) as caught:
        read_frame(frame.drop(columns="token_id"), "tokens.csv")
    assert {"several times" in str(bad.reason) for bad in caught.value.rows} == {True}
    assert [bad.row for bad in caught.value.rows] == [1 + 2 * i for i in range(len(SUMS))]
    once = pd.DataFrame(
        [("ha ha", "\u2581ha", -1.0), ("ha ha", "\u2581ha", -2.0)], columns=["sentence", "token", "logprob"]
    )
    assert read_frame(once, "once.csv")[0].models[0].log_likelihoods == [-3.0]


def test_prompt_logprobs_of_vllm() -> None:
    def output(text: str, value: float) -> dict[str, Any]:
        """RequestOutput with prompt_logprobs=1: another token may stand beside that of the prompt."""
        return {
            "prompt": text,
            "prompt_token_ids": [1, 7, 8],
            "prompt_logprobs": [
                None,
                {
                    "9": {"logprob": -0.5, "rank": 1, "decoded_token": "x"},
                    "7": {"logprob": -2.0, "decoded_token": text[:3]},
                },
                {"8": {"logprob": value + 2.0, "rank": 3, "decoded_token": text[3:]}},
            ],
        }

    outputs = [output(*item) for item in SUMS.items()]
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in outputs)
    [scores] = attached(PAIRS, read("vllm.jsonl", lines)).scores
    assert (scores.name, scores.form) == ("scores/vllm", "prompt_logprobs of vLLM")
    np.testing.assert_allclose(sums_of(scores), EXPECTED)
    assert scores.sides[0].n_tokens.tolist() == [2, 2, 2]
    reply = {
        "model": "org/served",
        "prompt": list(SUMS),
        "choices": [
            {"index": i, "text": "", "prompt_logprobs": each["prompt_logprobs"], "prompt_token_ids": [1, 7, 8]}
            for i, each in enumerate(outputs)
        ],
    }
    [scores] = attached(PAIRS, read("reply.json", json.dumps(reply))).scores
    assert scores.name == "scores/org/served"
    np.testing.assert_allclose(sums_of(scores), EXPECTED)


def test_prompt_logprobs_that_do_not_say_which_token_are_refused() -> None:
    line = {"prompt": "a b", "prompt_logprobs": [None, {"1": {"logprob": -1}, "2": {"logprob": -2}}]}
    with pytest.raises(InputError, match="does not say which is that of the prompt"):
        read("vllm.jsonl", json.dumps(line))


def test_every_bad_row_is_listed_or_left_out() -> None:
    text = "sentence,log_likelihood,n_tokens\n"
    for i, (sentence, value) in enumerate(SUMS.items()):
        text += f"{sentence},{value},{'' if i else 0}\n"
    text += "a,nan,\nb,inf,\nc,12.5,\nd,,\ne,-inf,\nf,x,\n,-1,\n"
    with pytest.raises(InputError, match="no log-likelihoods of sentences") as caught:
        read("bad.csv", text)
    reasons = {bad.row: str(bad.reason) for bad in caught.value.rows}
    assert list(reasons) == [1, 7, 8, 9, 10, 11, 12, 13]
    assert "number of tokens is '0'" in reasons[1]
    assert "'nan', no number" in reasons[7]
    assert "probability of 0" in reasons[8] and "probability of 0" in reasons[11]
    assert "above 0" in reasons[9]
    assert "is empty" in reasons[10]
    [file] = read("bad.csv", text, skip_bad_rows=True)
    assert len(file.left_out) == 8
    assert len(file.models[0].texts) == 5


def test_tokens_have_to_add_up() -> None:
    line = {"sentence": "a b", "log_likelihood": -5, "tokens": [["a", -1.0], [" b", -1.0]]}
    with pytest.raises(InputError) as caught:
        read("x.jsonl", json.dumps(line))
    assert "its tokens add up to -2" in str(caught.value)
    line = {"sentence": "a b", "tokens": "a b"}
    with pytest.raises(InputError) as caught:
        read("x.jsonl", json.dumps(line))
    assert "no JSON list" in str(caught.value)


def test_two_scores_of_a_sentence_are_refused_and_rounding_is_not() -> None:
    twice = pd.concat([long_frame(), pd.DataFrame({"sentence": ["Dogs bark."], "log_likelihood": ["-6.001"]})])
    dataset = attached(PAIRS, read_frame(twice, "twice.csv"))
    assert sums_of(dataset.scores[0]) == EXPECTED
    assert any("twice.csv has several log-likelihoods of 1 sentence" in notice for notice in dataset.notices)
    twice.iloc[-1, 1] = "-7"
    with pytest.raises(InputError, match="two scores of one sentence") as caught:
        attached(PAIRS, read_frame(twice, "twice.csv"))
    assert [(bad.row, str(bad.reason)) for bad in caught.value.rows] == [
        (7, "'Dogs bark.' has the log-likelihood -7, and in row 3 -6")
    ]
    dataset = attached(PAIRS, read_frame(twice, "twice.csv"), skip_bad_rows=True)
    assert sums_of(dataset.scores[0]) == EXPECTED
    assert any("1 row left out: 'Dogs bark.' has the log-likelihood -7" in notice for notice in dataset.notices)


def test_missing_and_unused_sentences() -> None:
    frame = pd.concat([long_frame().iloc[1:], pd.DataFrame({"sentence": ["Other."], "log_likelihood": ["-1"]})])
    dataset = attached(PAIRS, read_frame(frame, "some.csv"))
    assert math.isnan(dataset.scores[0].sides[0].log_likelihoods[0])
    assert dataset.scores[0].sides[0].n_tokens.tolist() == [UNKNOWN] * 3
    assert any("1 row of the data has a sentence that some.csv has no score of: 1." in n for n in dataset.notices)
    assert any("some.csv has 1 sentence that the data lack" in notice for notice in dataset.notices)
    with pytest.raises(InputError, match=r"no score of a whole pair of pairs.csv.*'Other.'"):
        attached(PAIRS, read_frame(frame.iloc[-1:], "none.csv"))


@pytest.mark.parametrize("text", [" The cat sleeps. ", "The cat sleeps."])
def test_white_space_at_the_ends_and_composed_characters_do_not_count(text: str) -> None:
    pairs = MinimalPairs.from_frame(
        pd.DataFrame({"acceptable": ["The cat sleeps."], "unacceptable": ["かがみが゙"]}), "pairs"
    )
    frame = pd.DataFrame({"sentence": [text, "かがみが゙"], "log_likelihood": ["-1", "-2"]})
    assert sums_of(attached(pairs, read_frame(frame, "x")).scores[0]) == [[-1.0], [-2.0]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["sentence", "score"], "'score' is not read: it may be a mean, a surprisal or a perplexity"),
        (["sentence", "surprisal"], "'surprisal' is not read"),
        (["a", "b"], "long form: a row for each sentence"),
    ],
)
def test_what_is_not_recognised_is_named(columns: list[str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read("x.csv", ",".join(columns) + "\nA sentence.,-1\n")
    assert message in str(caught.value)


def test_names_have_to_be_distinct_and_a_label_names_one_model() -> None:
    file = read_frame(long_frame(), "x.csv")
    with pytest.raises(InputError, match="Give each file a label of its own"):
        attached(PAIRS, [*file, *file])
    assert [s.name for s in attached(PAIRS, [*file, *file], ["A", "B"]).scores] == ["A=scores/A", "B=scores/B"]
    both = pd.concat([long_frame().assign(model="a"), long_frame().assign(model="b")])
    with pytest.raises(InputError, match=r"holds scores of 2 models \(a, b\), and a label names one"):
        attached(PAIRS, read_frame(both, "x.csv"), ["A"])


def test_scores_are_stored_and_exported_with_the_pairs() -> None:
    tokens = [json.dumps([[text, value]]) for text, value in SUMS.items()]
    dataset = attached(PAIRS, read_frame(long_frame().assign(tokens=tokens), "x.csv"), ["A"])
    again = MinimalPairs.from_frame(dataset.to_frame(), dataset.name)
    assert again.content_hash == dataset.content_hash != PAIRS.content_hash
    assert again.own_hash == dataset.own_hash == PAIRS.content_hash
    some = dataset.subset([2])
    assert sums_of(some.scores[0]) == [[-6.0], [-6.0]]
    assert MinimalPairs.from_frame(dataset.to_frame().iloc[1:], "x").scores == ()
    [(path, (label, content))] = score_files(dataset).items()
    assert (path, label) == ("scores-A.jsonl", "A")
    read_again = attached(PAIRS, read(path, content), [label])
    assert sums_of(read_again.scores[0]) == EXPECTED
    assert read_again.scores[0].sides[0].tokens == dataset.scores[0].sides[0].tokens


def test_bad_rows_of_all_files_of_scores_are_listed() -> None:
    lines = b'{"sentence": "a", "log_likelihood": -1}\n{oops\n{"sentence": "b", "log_likelihood": "x"}\n'
    with pytest.raises(InputError) as caught:
        read_scores([("a.jsonl", lines), ("b.csv", b"sentence,log_likelihood\na,-1\nb,y\n")])
    assert [(bad.row, bad.reason.partition(":")[0]) for bad in caught.value.rows] == [
        (2, "a.jsonl"),
        (3, "a.jsonl"),
        (2, "b.csv"),
    ]
