"""The runs of a card: which a model can go through, and which models they are held against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.datasets import sample_data
from engine.errors import InputError
from engine.evaluations.clusters import records as clusters
from engine.evaluations.minimal_pairs.records import Settings
from engine.evaluations.model_card.card import KINDS
from engine.runs.access.access import RunAccess
from engine.runs.access.viewers import LOCAL, Viewer
from engine.runs.card_runs import (
    MOST_OTHERS,
    CardJob,
    card_job,
    card_run,
    card_tasks,
    default_runs,
    fitting_kinds,
    runs_like,
    runs_of,
)
from engine.runs.computing import SAMPLES_ID
from engine.runs.open import Engine, open_engine
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.schema import RunRow
from engine.runs.storage.searching import Search
from tests.support.fakes import FakeBackend
from tests.waiting import SECONDS

SAMPLE = sample_data.minimal_pairs()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path, backend=FakeBackend(), resume=False) as opened:
        yield opened


@pytest.fixture
def access(engine: Engine) -> RunAccess:
    return engine.access(LOCAL)


def done(
    engine: Engine, settings: Any, *, kind: str = "minimal-pairs", dataset: Any = SAMPLE, owner: str = "local"
) -> RunRecord:
    run = engine.runs.wait(engine.runs.submit(kind, settings, dataset, owner=owner).run_id, SECONDS)
    assert run.state == "done", run.message
    return run


def test_a_model_goes_through_what_it_can(engine: Engine) -> None:
    session = engine.gateway.session("test")
    facts = {name: session.describe(name) for name in ("owner/bert", "owner/gpt", "owner/encoder")}
    assert fitting_kinds(facts["owner/bert"]) == KINDS
    assert fitting_kinds(facts["owner/gpt"]) == tuple(kind for kind in KINDS if kind != "fill-mask")
    assert set(KINDS) - set(fitting_kinds(facts["owner/encoder"])) == {"fill-mask", "minimal-pairs"}
    with_decoder = replace(facts["owner/encoder"], n_seq2seq_parameters=1)
    assert set(KINDS) - set(fitting_kinds(with_decoder)) == {"fill-mask"}
    assert fitting_kinds(replace(facts["owner/gpt"], endpoint=object())) == ("minimal-pairs",)  # type: ignore[arg-type]
    tasks = {task.kind: task for task in card_tasks("owner/gpt", facts["owner/gpt"], session)}
    assert tasks["clusters"].settings.pooling == tasks["classification"].settings.pooling == "mean-without-special"
    plain = {task.kind: task for task in card_tasks("owner/bert", facts["owner/bert"], session)}
    assert plain["clusters"].settings == clusters.Settings(("owner/bert",))
    own = sample_data.minimal_pairs()
    (task,) = card_tasks("owner/bert", facts["owner/bert"], session, ["minimal-pairs"], {"minimal-pairs": own})
    assert task.dataset is own
    with pytest.raises(InputError, match="got idf"):
        card_tasks("owner/bert", facts["owner/bert"], session, ["idf"])


def test_models_of_the_same_data_and_settings_alone(engine: Engine, access: RunAccess) -> None:
    run = done(engine, Settings(("owner/bert", "owner/second")))
    past = done(engine, Settings(("owner/gpt", "Ours=owner/second")))
    sample = done(engine, Settings(("owner/third",)), owner=SAMPLES_ID)
    done(engine, Settings(("owner/fourth",), words="mecab"))  # another setting
    done(engine, Settings(("owner/fifth",)), dataset=replace(SAMPLE, acceptable=("猫。", *SAMPLE.acceptable[1:])))
    done(engine, Settings(("owner/sixth",)), owner="somebody")  # not to be read
    assert {record.id for record in runs_like(access, run)} == {past.id, sample.id}
    card = card_run(access, run, "owner/bert", access.result)
    assert [(other.model, other.run_id) for other in card.others] == [
        ("owner/second", run.id),
        ("owner/gpt", past.id),
        ("owner/third", sample.id),
    ]
    # by the label or without it, it is one model
    assert card_run(access, past, "owner/second", access.result).model == "Ours=owner/second"
    assert {record.id for record in runs_of(access, "owner/second")} == {run.id, past.id}
    with pytest.raises(InputError, match="holds no model 'owner/tenth'"):
        card_run(access, run, "owner/tenth", access.result)
    # a member reads only what is shared, and the samples
    assert runs_like(engine.access(Viewer("member:a")), sample) == []
    access.share(past.id, True)
    assert [record.id for record in runs_like(engine.access(Viewer("member:a")), sample)] == [past.id]


def test_a_card_is_of_the_samples_unless_runs_are_chosen(engine: Engine, access: RunAccess) -> None:
    other_data = replace(SAMPLE, acceptable=("猫。", *SAMPLE.acceptable[1:]))
    done(engine, Settings(("owner/bert",)), dataset=other_data)
    done(engine, Settings(("owner/bert",)), owner="browser:b")  # to be read without sign-in, and of somebody else
    found = runs_of(access, "owner/bert")
    assert len(found) == 2 and default_runs(access, found) == ()
    done(engine, Settings(("owner/bert",), words="mecab"))
    own = done(engine, Settings(("owner/bert",)))
    assert [run.id for run in default_runs(access, runs_of(access, "owner/bert"))] == [own.id]
    prepared = done(engine, Settings(("owner/bert", "owner/second")), owner=SAMPLES_ID)
    assert [run.id for run in default_runs(access, runs_of(access, "owner/bert"))] == [prepared.id]
    assert [run.id for run in default_runs(access, runs_of(access, "owner/second"))] == [prepared.id]


def test_conditions_beside_a_model_are_no_models_and_keep_no_run_apart(engine: Engine, access: RunAccess) -> None:
    own = done(engine, Settings(("owner/gpt",), other_prefixes=("none",)))
    other = done(engine, Settings(("owner/gpt-other",)))
    assert [run.id for run in runs_like(access, own)] == [other.id]
    card = card_run(access, own, "owner/gpt", engine.runs.result)
    assert card.result.conditions and (card.model, [one.model for one in card.others]) == (
        "owner/gpt",
        ["owner/gpt-other"],
    )


def test_so_many_other_models_and_no_more(engine: Engine, access: RunAccess) -> None:
    names = tuple(f"owner/m{number}" for number in range(MOST_OTHERS + 5))
    small = type(SAMPLE).from_frame(SAMPLE.to_frame().head(4), "four pairs")
    run = done(engine, Settings(names[:3]), dataset=small)
    done(engine, Settings(names[3:]), dataset=small)
    others = card_run(access, run, names[0], access.result).others
    assert len(others) == MOST_OTHERS and len({other.model for other in others}) == MOST_OTHERS


def test_runs_of_one_press_are_a_job_and_later_ones_another(access: RunAccess, monkeypatch: pytest.MonkeyPatch) -> None:
    def record(run_id: str, second: float, state: str, kind: str = "clusters", owner: str = "local") -> RunRecord:
        return RunRecord(
            run_id,
            owner,
            kind,
            run_id,
            {"models": ["A=owner/bert"]},
            "d",
            "h",
            (),
            state,
            0,
            0,
            "",
            "",
            datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second),
            None,
            None,
            None,
            None,
        )

    def job(*runs: RunRecord) -> tuple[list[str], list[str]]:
        monkeypatch.setattr(RunAccess, "mine", lambda self, search: [run for run in runs if run.owner == "local"])
        monkeypatch.setattr(RunAccess, "team", lambda self, search: list(runs))
        of = card_job(access, "owner/bert", ("x", "s"))  # two that the address names
        assert card_job(access, "owner/other") == CardJob((), ())
        return [run.id for run in of.runs], [run.id for run in of.failed]

    assert job(
        record("old", 0, "done"),
        record("a", 100, "done"),
        record("b", 101, "running"),
        record("c", 125, "failed", "alignment"),
        record("not of a card", 130, "queued", "idf"),
    ) == (["a", "b", "c"], ["c"])
    assert job(record("a", 0, "done"), record("b", 1, "cancelled")) == ([], [])
    assert job(record("a", 0, "failed"), record("b", 1, "done")) == ([], [])  # which was run again
    # Another's run is shown where the address names it and the viewer has none, another's failure never.
    assert job(record("x", 0, "running", owner="ben"), record("y", 1, "failed", owner="ben")) == (["x", "y"], [])
    assert job(record("x", 0, "running", owner="ben"), record("a", 1, "queued")) == (["a"], [])
    assert job(record("s", 0, "running", owner=SAMPLES_ID)) == ([], [])
    assert job(record("stranger's", 0, "running", owner="ben")) == ([], [])
    # What lies between two runs that have not ended was submitted by itself.
    assert job(
        record("a", 0, "queued"),
        record("b", 1000, "done"),
        record("c", 2000, "cancelled"),
        record("d", 3000, "running"),
    ) == (["a", "d"], [])
    # A job of two presses; within one, each run is near the next and not near all.
    assert job(
        record("a", 0, "done"),
        record("b", 30, "queued"),
        record("c", 60, "done"),
        record("d", 91, "done"),
        record("e", 200, "running"),
        record("f", 229, "cancelled"),
    ) == (["a", "b", "c", "e", "f"], [])


def test_runs_that_have_not_ended_are_found_behind_many_newer_ones(engine: Engine, access: RunAccess) -> None:
    newest = Search().limit

    def row(number: int, state: str, second: float) -> RunRow:
        return RunRow(
            id=f"run{number}",
            owner="local",
            kind="clusters",
            name="",
            settings={"models": ["owner/bert"]},
            dataset_name="d",
            dataset_hash="h",
            dataset_notices=[],
            key="",
            state=state,
            created=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second),
        )

    with engine.store.session() as session:
        session.add_all(
            [
                row(0, "queued", 0),
                *(row(number, "done", 1000 + number) for number in range(1, newest + 1)),
                row(newest + 1, "running", 5000),
            ]
        )
    assert "run0" not in {run.id for run in access.mine()}
    assert [run.id for run in card_job(access, "owner/bert").runs] == ["run0", f"run{newest + 1}"]
