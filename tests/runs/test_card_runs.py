"""The runs of a card: which a model can go through, and which models they are held against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.datasets import sample_data
from engine.errors import InputError
from engine.evaluations.clusters import records as clusters
from engine.evaluations.minimal_pairs.records import Settings
from engine.evaluations.model_card.card import KINDS
from engine.runs.access.access import RunAccess
from engine.runs.access.viewers import LOCAL, SAMPLES_ID, Viewer
from engine.runs.card_runs import MOST_OTHERS, card_run, card_tasks, fitting_kinds, runs_like, runs_of
from engine.runs.open import Engine, open_engine
from engine.runs.storage.run_record import RunRecord
from tests.support.fakes import FakeBackend

SECONDS = 60
SAMPLE = sample_data.minimal_pairs()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path, backend=FakeBackend(), resume=False) as opened:
        yield opened


@pytest.fixture
def access(engine: Engine) -> RunAccess:
    return engine.access(LOCAL)


def done(engine: Engine, settings: Any, *, kind: str = "minimal-pairs", dataset: Any = SAMPLE, owner: str = "local"
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
        ("owner/second", run.id), ("owner/gpt", past.id), ("owner/third", sample.id)]
    # by the label or without it, it is one model
    assert card_run(access, past, "owner/second", access.result).model == "Ours=owner/second"
    assert {record.id for record in runs_of(access, "owner/second")} == {run.id, past.id}
    with pytest.raises(InputError, match="holds no model 'owner/tenth'"):
        card_run(access, run, "owner/tenth", access.result)
    # a member reads only what is shared, and the samples
    assert runs_like(engine.access(Viewer("member:a")), sample) == []
    access.share(past.id, True)
    assert [record.id for record in runs_like(engine.access(Viewer("member:a")), sample)] == [past.id]


def test_so_many_other_models_and_no_more(engine: Engine, access: RunAccess) -> None:
    names = tuple(f"owner/m{number}" for number in range(MOST_OTHERS + 5))
    small = type(SAMPLE).from_frame(SAMPLE.to_frame().head(4), "four pairs")
    run = done(engine, Settings(names[:3]), dataset=small)
    done(engine, Settings(names[3:]), dataset=small)
    others = card_run(access, run, names[0], access.result).others
    assert len(others) == MOST_OTHERS and len({other.model for other in others}) == MOST_OTHERS
