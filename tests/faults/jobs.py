"""Small runs of every kind, drawn from the samples: what clients submit."""

from __future__ import annotations

import functools
import io
from dataclasses import dataclass
from random import Random
from typing import Any

import openpyxl

from engine.datasets import sample_data
from engine.evaluations.alignment import records as alignment
from engine.evaluations.classification import records as classification
from engine.evaluations.clusters import records as clusters
from engine.evaluations.dictionary import records as dictionary
from engine.evaluations.fill_mask import records as fill_mask
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.minimal_pairs import records as minimal_pairs

BERT, GPT2 = "builtin/bert-mini-ja", "builtin/gpt2-mini-ja"
VARIANTS = 12  # of each kind: a run that has been computed before is read from the cache
SETTINGS: dict[str, Any] = {
    "clusters": clusters.Settings((BERT,), projection="pca", resamples=100),
    "classification": classification.Settings((BERT,), seeds=1, epochs=2, hidden=(8,)),
    "fill-mask": fill_mask.Settings((BERT,), resamples=20),
    "alignment": alignment.Settings((BERT,)),
    "metric-study": metric_study.Settings((BERT,), idfs=("none", "references"), penalties=("none",), pooling="none"),
    "minimal-pairs": minimal_pairs.Settings((BERT, GPT2)),
    "dictionary": dictionary.Settings(BERT, "small"),
}
SAMPLES = {
    "clusters": sample_data.labelled_sentences,
    "classification": sample_data.labelled_sentences,
    "fill-mask": sample_data.masked_sentences,
    "alignment": sample_data.sentence_pairs,
    "metric-study": sample_data.scored_pairs,
    "minimal-pairs": sample_data.minimal_pairs,
}
ROWS = {"clusters": 12, "classification": 20, "fill-mask": 6, "alignment": 6, "metric-study": 8, "minimal-pairs": 8}
CORPUS_ROWS = 30
WORKBOOK_ROWS = 15_000
# Kinds whose page takes an uploaded file and a press of a button, as the sample's file is laid out.
ON_PAGES = {
    "fill-mask": ("text", "label", "domain"),
    "minimal-pairs": ("acceptable", "unacceptable"),
    "classification": ("text", "label"),
}


@dataclass(frozen=True)
class Job:
    """A kind of run, and which of its variants."""

    kind: str
    variant: int

    @property
    def name(self) -> str:
        return f"{self.kind} {self.variant}"


def drawn(draw: Random) -> Job:
    """Any job."""
    return Job(draw.choice(list(SETTINGS)), draw.randrange(VARIANTS))


def drawn_for_page(draw: Random) -> Job:
    """A job that a page can submit."""
    return Job(draw.choice(list(ON_PAGES)), draw.randrange(VARIANTS))


def dataset(job: Job, language: str = "ja") -> Any:
    """The rows of a job, drawn from the sample by its variant. Not of a dictionary, whose data is `corpus`."""
    sample = SAMPLES[job.kind](language)
    frame = sample.to_frame()
    draw = Random(f"{job.kind}/{job.variant}")
    if "label" in frame and job.kind != "fill-mask":
        labels = draw.sample(sorted(set(frame["label"])), 2)  # several sentences of each class
        frame = frame[frame["label"].isin(labels)]
    chosen = sorted(draw.sample(range(len(frame)), ROWS[job.kind]))
    return type(sample).from_frame(frame.iloc[chosen].reset_index(drop=True), job.name)


def corpus(job: Job) -> list[tuple[str, io.BytesIO]]:
    """The files of a dictionary's corpus."""
    texts = list(sample_data.labelled_sentences().to_frame()["text"])
    lines = Random(job.name).sample(texts, CORPUS_ROWS)
    return [(f"{part}.txt", io.BytesIO("\n".join(lines[part::2]).encode())) for part in range(2)]


def csv_file(job: Job) -> bytes:
    """The rows of a job as the file that a page takes; English, as is the model that such a page begins with."""
    frame = dataset(job, "en").to_frame()
    columns = [column for column in ON_PAGES[job.kind] if column in frame]
    return str(frame[columns].to_csv(index=False)).encode()


@functools.cache
def reader_workbook() -> bytes:
    """A workbook that takes a reader long enough to be killed."""
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet()
    sheet.append(["text", "label"])
    for row in range(WORKBOOK_ROWS):
        sheet.append([f"{row}番目の文がここにある。", "ab"[row % 2]])
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()
