"""The bound on downloaded models is asked before anything is fetched, against the cache as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import InputError
from engine.models.sources.hub.download_quota import VARIABLE, download_limit
from tests.models.sources.test_model_location import SMALL_FILES, locate_apart
from tests.support.fake_hub import FakeHub

WEIGHTS = 300_000
NAME = "someone/small-bert"


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    server = FakeHub({**SMALL_FILES, "model.safetensors": b"s" * WEIGHTS})
    yield server
    server.shutdown()
    server.server_close()


def bound(monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    monkeypatch.setenv(VARIABLE, f"{n_bytes / 2**30:.12f}")


def test_a_model_beyond_the_bound_is_refused_before_it_is_fetched(
    hub: FakeHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound(monkeypatch, WEIGHTS)  # the config and the vocabulary come to it
    [refused] = locate_apart(tmp_path, (NAME,), endpoint=hub.endpoint)
    assert f"{NAME} has 0.3 MB to download" in refused["error"] and "take 0.0 MB of 0.3 MB" in refused["error"]
    assert hub.fetched == []


def test_a_model_within_the_bound_is_fetched_and_fills_it(
    hub: FakeHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound(monkeypatch, WEIGHTS + 100)
    [found] = locate_apart(tmp_path, (NAME,), endpoint=hub.endpoint)
    assert found["files"] == ["config.json", "model.safetensors", "vocab.txt"]
    [again] = locate_apart(tmp_path, (NAME,), endpoint=hub.endpoint)  # what is there takes nothing more
    assert again["path"] == found["path"]
    hub.files_by_repository[NAME]["model.safetensors"] = b"t" * WEIGHTS
    hub.fetched.clear()
    other = tmp_path / "hub" / f"models--{NAME.replace('/', '--')}"
    other.rename(other.with_name("models--someone--else"))
    [refused] = locate_apart(tmp_path, (NAME,), endpoint=hub.endpoint)
    assert "the largest are: someone/else (0.3 MB)" in refused["error"] and hub.fetched == []


@pytest.mark.parametrize("value", ["many", "-1", "nan", "inf"])
def test_a_bound_that_makes_no_sense_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(InputError, match=VARIABLE):
        download_limit()


def test_without_a_value_there_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("", " ", "0"):
        monkeypatch.setenv(VARIABLE, value)
        assert download_limit() is None
    monkeypatch.setenv(VARIABLE, "1.5")
    assert download_limit() == 3 * 2**29
