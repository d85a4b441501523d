"""The command that a page shows gives the settings of its run, when it is typed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from engine.__main__ import main
from engine.commands.equivalent import COMMANDS, command_line
from engine.datasets import sample_data, sentence_pairs
from engine.datasets.formats import files
from engine.datasets.formats.columns import options_of_notices
from engine.datasets.labelled import labelled_sentences
from engine.datasets.masked import masked_sentences
from engine.datasets.minimal_pairs import pairs
from engine.errors import Cancelled
from engine.evaluations.alignment import records as alignment
from engine.evaluations.classification import records as classification
from engine.evaluations.clusters import records as clusters
from engine.evaluations.fill_mask import records as fill_mask
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.minimal_pairs import records as minimal_pairs

MODEL = ("builtin/bert-mini-ja",)
SAMPLES = {
    "clusters": "labelled_sentences",
    "classification": "labelled_sentences",
    "fill-mask": "masked_sentences",
    "alignment": "sentence_pairs",
    "metric-study": "sentence_pairs",
    "minimal-pairs": "minimal_pairs",
}
DATASETS = {
    "clusters": labelled_sentences,
    "classification": labelled_sentences,
    "fill-mask": masked_sentences,
    "alignment": sentence_pairs,
    "metric-study": sentence_pairs,
    "minimal-pairs": pairs,
}
SCORING = alignment.Scoring(
    idf="novel",
    threshold=0.4,
    penalty="reading",
    criterion="either",
    pairing="joined",
    special_tokens="left-out",
    match_special=False,
    reading_engine="unidic",
    reading_scope="word",
    sounds="merged",
    unit="word",
    readings="斉藤=さいとう;東=ひがし/あずま",
)
ASKED: list[tuple[str, Any]] = [
    ("clusters", clusters.Settings(MODEL)),
    (
        "clusters",
        clusters.Settings(
            (*MODEL, "a b/c"),
            layer=2,
            pooling="mean",
            prompt="- query: ",
            truncate_dim=64,
            normalize=("nfkc", "lower"),
            centre=True,
            layer_curve=True,
            projection="pca",
            dimensions=3,
            n_neighbors=7,
            min_dist=0.3,
            metric="euclidean",
            seed=4,
            resamples=200,
            lone_classes="exclude",
        ),
    ),
    (
        "classification",
        classification.Settings(
            MODEL,
            layer=1,
            pooling="weighted-mean",
            prompt_name="query",
            split="stratified",
            seeds=3,
            epochs=4,
            hidden=(50, 20),
            seed=9,
            batch_size=8,
            test_share=0.4,
            standardize=True,
        ),
    ),
    ("fill-mask", fill_mask.Settings(MODEL, normalize=("nfkc",), top=3, resamples=50, seed=3)),
    ("alignment", alignment.Settings(MODEL)),
    ("alignment", alignment.Settings(MODEL, layer=3, precision="bf16", scoring=SCORING)),
    (
        "alignment",
        alignment.Settings(MODEL, scoring=alignment.Scoring(idf="wiki", threshold=3.5, threshold_kind="value")),
    ),
    (
        "metric-study",
        metric_study.Settings(
            MODEL,
            layer=2,
            all_layers=True,
            idfs=("none", "novel"),
            penalties=("none", "reading"),
            score="recall",
            surface=False,
            pooling="cls",
            scoring=alignment.Scoring(special_tokens="left-out", match_special=False, unit="word"),
        ),
    ),
    ("minimal-pairs", minimal_pairs.Settings(MODEL)),
    ("minimal-pairs", minimal_pairs.Settings(("BERT 'v3' 東北大=owner/name", "Novel=paper/novel=/srv/my novel"))),
    (
        "minimal-pairs",
        minimal_pairs.Settings(
            MODEL,
            pll="original",
            words="mecab",
            precision="exact-decisions",
            prefix="none",
            leading_space=True,
            shared_tokens=True,
            word_boundaries=True,
            seed=5,
        ),
    ),
    ("minimal-pairs", minimal_pairs.Settings(MODEL, prompts="ja", chat_template=True)),
    (
        "minimal-pairs",
        minimal_pairs.Settings(
            MODEL,
            prompts="own",
            in_template=('It\'s "fine", or so:\n{sentence}', "-- {sentence}"),
            yes_no=("{sentence}\nOK?",),
            answers=("Yes, it is", "No"),
        ),
    ),
]


@pytest.mark.parametrize(("kind", "settings"), ASKED)
def test_the_command_gives_the_settings_of_the_run(
    kind: str, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = []

    def evaluate(settings: Any, *_: Any) -> None:
        given.append(settings)
        raise Cancelled("seen")

    monkeypatch.setattr(COMMANDS[kind], "evaluate", evaluate)
    data = str(sample_data.path(SAMPLES[kind]))  # type: ignore[arg-type]
    line = command_line(kind, settings, data, str(tmp_path / "out"))
    assert line is not None
    words = shlex.split(line)
    assert words[:3] == ["python", "-m", "engine"]
    assert main([*words[3:], "--cache", str(tmp_path / "cache")]) == 1  # stopped where it was seen
    assert given == [settings]


# A file of each kind whose columns have to be chosen, and the choice on its page ("" = none).
BY_HAND: dict[str, tuple[str, dict[str, Any]]] = {
    "clusters": ("a,text,b\nいい朝だ。,x,1\n夜が来た。,y,2\n", {"text": "a", "label": "b"}),
    "classification": (
        "my text,label,kind\n" + "".join(f"文{n}。,{n},{n % 2}\n" for n in range(20)),
        {"text": "my text", "label": "kind"},
    ),
    "fill-mask": (
        "s,w,label\n今日はいい[MASK]だ。,朝,朝\n暗い[MASK]が来た。,夜,夜\n",
        {"text": "s", "label": "w", "domain": None},
    ),
    "alignment": (
        "reference,hyp,mine,score,e1,e2\n猫がいる。,犬がいる。,狸がいる。,1,2,3\n雨だ。,雪だ。,晴だ。,4,5,6\n",
        {
            "reference": "hyp",
            "candidate": "mine",
            "category": None,
            "human": ("e1", "e2"),
            "more_references": ("reference",),
        },
    ),
    "metric-study": (
        "reference,candidate,score,a\n猫がいる。,犬がいる。,1,2\n雨だ。,雪だ。,4,5\n風だ。,土だ。,2,3\n",
        {"reference": "reference", "candidate": "candidate", "category": None, "human": ("a",), "more_references": ()},
    ),
    "minimal-pairs": (
        "good,bad,phenomenon,it's\n猫がいる。,猫があるる。,p,q\n",
        {"acceptable": "good", "unacceptable": "bad", "category": "it's"},
    ),
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_columns_chosen_by_hand_are_in_the_command(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read = []

    def evaluate(settings: Any, dataset: Any, *_: Any) -> None:
        read.append(dataset)
        raise Cancelled("seen")

    content, columns = BY_HAND[kind]
    (file := tmp_path / "of my own.csv").write_text(content, encoding="utf-8")
    chosen = DATASETS[kind].from_table(files.read_table(file), columns)
    assert any(notice.startswith("Columns as chosen: --column ") for notice in chosen.notices)
    monkeypatch.setattr(COMMANDS[kind], "evaluate", evaluate)
    [settings, *_] = [settings for name, settings in ASKED if name == kind]
    line = command_line(kind, settings, str(file), str(tmp_path / "out"), columns=options_of_notices(chosen.notices))
    assert line is not None
    assert main([*shlex.split(line)[3:], "--cache", str(tmp_path / "cache")]) == 1
    [dataset] = read
    assert dataset.content_hash == chosen.content_hash and dataset.notices == chosen.notices


def test_columns_that_are_recognised_are_not_in_the_command(tmp_path: Path) -> None:
    (file := tmp_path / "a.csv").write_text("text,label\nいい朝だ。,x\n夜が来た。,y\n", encoding="utf-8")
    as_guessed = labelled_sentences.from_table(files.read_table(file), {"text": "text", "label": "label"})
    assert options_of_notices(as_guessed.notices) == []


def test_every_kind_with_a_command_has_one() -> None:
    assert set(COMMANDS) == set(SAMPLES) and command_line("no such kind", None, "x.csv") is None
