"""What every test begins and ends with."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import hypothesis
import pandas as pd
import pytest

from engine.commands.shared import common
from engine.evaluations.shared.declared_tables import MESSAGE, Table
from engine.messages.message import Message
from engine.runs import open as opening
from engine.runs.storage import database as storage
from engine.runs.storage.database import URL_VARIABLE
from tests.nightly import place
from tests.slow import is_nightly, is_slow, left_for_the_night
from tests.support import database, postgres
from tests.support.fakes import FakeBackend
from tests.support.in_process import KeptWorkers

# What is slow is for the bench to say; a busy machine is no fault of an example. Where CI is set the examples are the
# same every time, so that a change is blamed for what it broke; elsewhere new ones are looked for.
hypothesis.settings.register_profile(
    "hakari", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("hakari")
PLACE = place.here()
PLACE.take()
os.environ["HAKARI_SAMPLES"] = (
    "ja"  # pages in English are tested on the Japanese samples, where a test asks for no others
)


gc.disable()  # until all is collected: what is imported stays


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no test that the marker leaves out: some load half of what there is for models."""
    path = collection_path.relative_to(config.rootpath).as_posix()
    if not path.endswith(".py"):
        return None
    left_out = {
        "not slow and not nightly": is_slow(path) or is_nightly(path),
        "slow and not nightly": not is_slow(path) or is_nightly(path),
        "not nightly": is_nightly(path),
    }
    return left_out.get(config.option.markexpr, False) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow and the nightly tests; where an order is drawn, put the files into it."""
    if PLACE.order is not None:
        rank = PLACE.ordered([str(item.path) for item in items])
        items.sort(key=lambda item: rank[str(item.path)])
    for item in items:
        path = item.path.relative_to(item.config.rootpath).as_posix()
        for mark, has_it in ((pytest.mark.slow, is_slow(path)), (pytest.mark.nightly, is_nightly(path))):
            if has_it:
                item.add_marker(mark)
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for test, of_it in cases.items():
        for i in left_for_the_night(test, len(of_it)):
            of_it[i].add_marker(pytest.mark.nightly)


def pytest_report_header() -> str:
    """The place, so that what fails in it can be run there again."""
    return f"{place.SEED_VARIABLE}={PLACE.order or ''}: {PLACE}"


def pytest_collection_finish() -> None:
    """Let no collection of garbage walk through what was imported: torch, transformers and all modules stay.

    And collect seldom: at Python's own thresholds it took a sixth of the time of the tests of pages.
    """
    gc.freeze()
    gc.set_threshold(200_000, 10, 10)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def migrations_from_memory() -> Iterator[None]:
    """A new database is migrated once in a process; `tests/runs/storage/test_database.py` migrates each."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(storage, "_migrate", database.migrated_from_memory)
        yield


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """Streamlit's AppTest leaves its script as `__main__`, and spawned processes would import that."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="session")
def database_server() -> Iterator[postgres.Server | None]:
    """The PostgreSQL server of the whole session, where the tests are to run on one."""
    if not database.ON_POSTGRESQL:
        yield None
        return
    with postgres.running() as server:
        postgres.current = server
        yield server


@pytest.fixture(autouse=True)
def database_of_its_own(
    database_server: postgres.Server | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No test sees another's runs, on whichever database."""
    if database_server is None:
        monkeypatch.delenv(URL_VARIABLE, raising=False)
    else:
        monkeypatch.setenv(URL_VARIABLE, database.url_for(tmp_path, database_server))


@pytest.fixture
def no_cache_outlives_a_test() -> Iterator[None]:
    """Streamlit's caches are the process's. The engine is in one of them: clearing it closes the engine too."""
    import streamlit as st

    st.cache_data.clear()
    st.cache_resource.clear()
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBackend:
    """What the pages' engine computes with: no models, and a data directory of the test's own."""
    fake = FakeBackend(max_tokens=300)
    opened: Callable[..., opening.Engine] = opening.open_engine
    monkeypatch.setattr(opening, "open_engine", lambda: opened(tmp_path / "data", backend=fake))
    return fake


@pytest.fixture(scope="session")
def kept_workers() -> Iterator[KeptWorkers]:
    """The worker processes of the session's commands; none is started before one computes."""
    workers = KeptWorkers()
    yield workers
    workers.end()


@pytest.fixture(scope="module")
def commands_share_workers(kept_workers: KeptWorkers) -> Iterator[None]:
    """Commands that compute do so in the worker processes of the session."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(common, "open_computing", partial(common.open_computing, backend=kept_workers))
        yield


@pytest.fixture(autouse=True, scope="session")
def _tables_keep_messages() -> Iterator[None]:
    """A column of plain texts would keep the English of a message alone: such a column is declared as MESSAGE."""
    frame = Table.frame

    def checked(self: Table, rows: Sequence[Sequence[object]] = ()) -> pd.DataFrame:
        plain = [
            (index, column.name)
            for index, column in enumerate(column for column in self.columns if not column.is_family)
            if column.dtype != MESSAGE and column.type == "text"
        ]
        for row in rows:
            for index, name in plain:
                value = row[index]
                assert not isinstance(value, Message) or not value.values, f"{self.name}.{name}: {value}"
        return frame(self, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "frame", checked)
        yield
