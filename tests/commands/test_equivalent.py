"""The command that a page shows gives the settings of its run, when it is typed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from engine.__main__ import main
from engine.commands.equivalent import COMMANDS, command_line
from engine.datasets import sample_data
from engine.errors import Cancelled
from engine.evaluations.alignment import records as alignment
from engine.evaluations.classification import records as classification
from engine.evaluations.clusters import records as clusters
from engine.evaluations.fill_mask import records as fill_mask
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.minimal_pairs import records as minimal_pairs

MODEL = ("builtin/bert-mini-ja",)
SAMPLES = {"clusters": "labelled_sentences", "classification": "labelled_sentences", "fill-mask": "masked_sentences",
           "alignment": "sentence_pairs", "metric-study": "sentence_pairs", "minimal-pairs": "minimal_pairs"}
SCORING = alignment.Scoring(idf="novel", threshold=0.4, penalty="reading", criterion="either", pairing="joined",
                            special_tokens="left-out", match_special=False, reading_engine="unidic",
                            reading_scope="word", sounds="merged", unit="word",
                            readings="斉藤=さいとう;東=ひがし/あずま")
ASKED: list[tuple[str, Any]] = [
    ("clusters", clusters.Settings(MODEL)),
    ("clusters", clusters.Settings((*MODEL, "a b/c"), layer=2, pooling="mean", prompt="- query: ", truncate_dim=64,
                                   normalize=("nfkc", "lower"), centre=True, layer_curve=True, projection="pca",
                                   dimensions=3, n_neighbors=7, min_dist=0.3, metric="euclidean", seed=4,
                                   resamples=200, lone_classes="exclude")),
    ("classification", classification.Settings(MODEL, layer=1, pooling="weighted-mean", prompt_name="query",
                                               split="stratified", seeds=3, epochs=4, hidden=(50, 20), seed=9,
                                               batch_size=8, test_share=0.4, standardize=True)),
    ("fill-mask", fill_mask.Settings(MODEL, normalize=("nfkc",), top=3, resamples=50, seed=3)),
    ("alignment", alignment.Settings(MODEL)),
    ("alignment", alignment.Settings(MODEL, layer=3, precision="bf16", scoring=SCORING)),
    ("alignment", alignment.Settings(MODEL, scoring=alignment.Scoring(idf="wiki", threshold=3.5,
                                                                      threshold_kind="value"))),
    ("metric-study", metric_study.Settings(MODEL, layer=2, all_layers=True, idfs=("none", "novel"),
                                           penalties=("none", "reading"), score="recall", surface=False,
                                           pooling="cls", scoring=alignment.Scoring(
                                               special_tokens="left-out", match_special=False, unit="word"))),
    ("minimal-pairs", minimal_pairs.Settings(MODEL)),
    ("minimal-pairs", minimal_pairs.Settings(("BERT 'v3' 東北大=owner/name", "Novel=paper/novel=/srv/my novel"))),
    ("minimal-pairs", minimal_pairs.Settings(MODEL, pll="original", words="mecab", precision="exact-decisions",
                                             prefix="none", leading_space=True, shared_tokens=True, seed=5)),
]


@pytest.mark.parametrize(("kind", "settings"), ASKED)
def test_the_command_gives_the_settings_of_the_run(kind: str, settings: Any, monkeypatch: pytest.MonkeyPatch,
                                                   tmp_path: Path) -> None:
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


def test_every_kind_with_a_command_has_one() -> None:
    assert set(COMMANDS) == set(SAMPLES) and command_line("no such kind", None, "x.csv") is None
