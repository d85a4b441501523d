"""Runs of every kind over a small file with a column of its own, by a backend without models."""

from __future__ import annotations

from pathlib import Path

from dashboard.shared import session
from engine.datasets import sentence_pairs
from engine.datasets.formats.files import read_table
from engine.datasets.labelled import labelled_sentences
from engine.datasets.masked import masked_sentences
from engine.datasets.minimal_pairs.files import read_pairs
from engine.evaluations.catalog import EVALUATIONS
from tests.support.page_visits import SECONDS

SENTENCES = (
    "斉藤は笑った",
    "猫が庭にいる",
    "雨が降った",
    "本を読んだ",
    "魚を食べた",
    "空が青い",
    "道を歩いた",
    "犬が鳴いた",
)
ROWS = {
    "clusters": ["text,label,note,row", *(f"{text},{'甲乙'[i % 2]},=n{i},r{i}" for i, text in enumerate(SENTENCES))],
    "alignment": [
        "reference,candidate,type,annotator1,note,f1",
        *(f"{text},{SENTENCES[i - 1]},k,{i % 5},=n{i},x{i}" for i, text in enumerate(SENTENCES)),
    ],
    "minimal-pairs": [
        "acceptable,unacceptable,category,note",
        *(f"{text},{text[1:]}は,k{i % 2},=n{i}" for i, text in enumerate(SENTENCES)),
    ],
    "fill-mask": ["text,label,note", *(f"{text},{text[0]},=n{i}" for i, text in enumerate(SENTENCES))],
}
ROWS |= {"classification": ROWS["clusters"], "metric-study": ROWS["alignment"]}
MODELS = ("somebody/bert", "somebody/other")


def finished(kind: str, folder: Path, models: tuple[str, ...] = MODELS) -> str:
    """A run of the kind over its rows as a file, which lies in `folder`."""
    path = folder / "mine.csv"
    path.write_text("\n".join(ROWS[kind]) + "\n", encoding="utf-8")
    read = {
        "clusters": labelled_sentences.from_table,
        "classification": labelled_sentences.from_table,
        "fill-mask": masked_sentences.from_table,
        "alignment": sentence_pairs.from_table,
        "metric-study": sentence_pairs.from_table,
    }
    dataset = read_pairs([(path.name, path)]) if kind == "minimal-pairs" else read[kind](read_table(path))
    runs = session.engine().runs
    further = (
        {"resamples": 100}
        if kind == "clusters"
        else {"idfs": ("none",), "surface": False}
        if kind == "metric-study"
        else {"seeds": 2, "epochs": 1}
        if kind == "classification"
        else {}
    )
    run_id = runs.submit(kind, EVALUATIONS[kind].settings_type(models, **further), dataset).run_id
    run = runs.wait(run_id, SECONDS)
    assert run.state == "done", run.message
    return run_id
