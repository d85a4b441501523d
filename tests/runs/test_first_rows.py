"""The first rows of a long run: which they are, that they are there during the run, and gone when it ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import Cancelled, InputError, RunError
from engine.evaluations.alignment import records as alignment
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.clusters import records as clusters
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway, GatewaySession
from engine.runs import execution
from engine.runs.first_rows import LEAST_ROWS, FirstRows, first_rows
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.json_codec import to_json_value
from engine.runs.storage.run_record import RunRecord
from tests.support.fakes import FakeBackend


def pairs(n: int) -> SentencePairs:
    texts = [f"文{number}だ" for number in range(n)]
    return SentencePairs.from_frame(pd.DataFrame({"reference": texts, "candidate": texts[::-1]}), "many")


def labelled(n: int) -> LabelledSentences:
    labels = ["a"] * (n - 30) + ["b"] * 30
    return LabelledSentences.from_frame(
        pd.DataFrame({"text": [f"文{number}だ" for number in range(n)], "label": labels}), "many"
    )


def test_a_twentieth_of_the_rows_and_at_most_two_hundred_under_the_first_model() -> None:
    settings = alignment.Settings(("owner/a", "owner/b"))
    assert first_rows(EVALUATIONS["alignment"], settings, pairs(LEAST_ROWS - 1)) is None
    some = first_rows(EVALUATIONS["alignment"], settings, pairs(LEAST_ROWS))
    assert some is not None
    assert some[0] == replace(settings, models=("owner/a",))
    assert some[1].references == pairs(LEAST_ROWS).references[:20] and some[1].rows == tuple(range(1, 21))
    many = first_rows(EVALUATIONS["alignment"], settings, pairs(9000))
    assert many is not None and len(many[1]) == 200
    assert first_rows(EVALUATIONS["dictionary"], settings, pairs(9000)) is None


def test_of_labelled_sentences_every_class_has_as_many() -> None:
    some = first_rows(EVALUATIONS["clusters"], clusters.Settings(("owner/a",)), labelled(600))
    assert some is not None
    assert pd.Series(some[1].labels).value_counts().to_dict() == {"a": 15, "b": 15}
    assert some[1].rows == (*range(1, 16), *range(571, 586)) and some[0].projection == "pca"


def test_of_many_classes_some_have_two_rows_each() -> None:
    frame = pd.DataFrame({"text": [f"文{n}" for n in range(900)], "label": [f"c{n // 3}" for n in range(900)]})
    many = LabelledSentences.from_frame(frame, "many")
    some = first_rows(EVALUATIONS["clusters"], clusters.Settings(("owner/a",)), many)
    assert some is not None and len(some[1]) == 44 and set(pd.Series(some[1].labels).value_counts()) == {2}


class Observed:
    """An alignment run in this thread that tells what its evaluation was given, and what was kept at that time."""

    def __init__(self, directory: Path, error: Exception | None = None) -> None:
        """error: what evaluating the first rows raises."""
        self.kept, self.artifacts, self.seen = FirstRows(directory), Artifacts(directory), []  # type: ignore[var-annotated]
        self.gateway = Gateway(FakeBackend(), Cache(directory / "cache.sqlite", 10**8))
        self.progress: list[tuple[int, int, str]] = []
        self._error = error

    def ending(self, dataset: SentencePairs) -> execution.Ending:
        """How the run of the dataset ends."""
        whole, settings = EVALUATIONS["alignment"], alignment.Settings(("owner/bert",))
        run = RunRecord(
            "a",
            "local",
            "alignment",
            "mine",
            to_json_value(settings),
            dataset.name,
            self.artifacts.save_dataset(dataset),
            (),
            "running",
            0,
            0,
            "",
            "",
            datetime.now(UTC),
            None,
            None,
            None,
            None,
        )

        def evaluate(settings: alignment.Settings, dataset: SentencePairs, session: GatewaySession) -> object:
            self.seen.append((len(dataset), self.kept.load("a", whole.result_type) if self.kept.has("a") else None))
            if self._error is not None and len(self.seen) == 1:
                raise self._error
            return whole.evaluate(settings, dataset, session)

        return execution.evaluated(
            run,
            {"alignment": replace(whole, evaluate=evaluate)},
            self.artifacts,
            self.gateway,
            lambda *progress: self.progress.append(progress),
            execution.RunFiles(lambda: b"", lambda _: None),
            lambda: False,
        )


def test_the_first_rows_are_there_while_the_run_goes_on_and_gone_when_it_ends(tmp_path: Path) -> None:
    observed = Observed(tmp_path)
    assert observed.ending(pairs(600)).state == "done"
    (n_first, before), (n_all, meanwhile) = observed.seen
    assert (n_first, before, n_all) == (30, None, 600)
    assert meanwhile.pairs["row"].tolist() == list(range(1, 31))
    result = observed.artifacts.load_result("a", alignment.Result)
    of_first = rescore(meanwhile, meanwhile.settings.scoring).pairs
    of_all = rescore(result, result.settings.scoring).pairs
    assert of_first["f1"].tolist() == of_all["f1"].tolist()[:30]
    assert not observed.kept.has("a") and not list((tmp_path / "results").glob(".tmp-*"))
    with pytest.raises(RunError, match="first rows of run a is not on the disk"):
        observed.kept.load("a", alignment.Result)
    # Their pieces answer the run, and their progress is a part of its own.
    assert observed.gateway.backend.n_items("token_similarities") == 600  # type: ignore[attr-defined]
    assert {total for _, total, label in observed.progress if label.startswith("Token similarities")} == {600}


@pytest.mark.parametrize(
    ("error", "state"),
    [(InputError("too few"), "done"), (ValueError("ours"), "done"), (Cancelled("Cancelled."), "cancelled")],
)
def test_what_goes_wrong_with_the_first_rows_is_not_the_run_s(error: Exception, state: str, tmp_path: Path) -> None:
    observed = Observed(tmp_path, error)
    assert observed.ending(pairs(400)).state == state
    assert len(observed.seen) == (2 if state == "done" else 1) and not observed.kept.has("a")


def test_a_short_run_is_evaluated_once(tmp_path: Path) -> None:
    observed = Observed(tmp_path)
    assert observed.ending(pairs(LEAST_ROWS - 1)).state == "done"
    assert [n for n, _ in observed.seen] == [LEAST_ROWS - 1]
