"""Adapters of the hub: their base is one of the hub too, at its revision, and the instance's policy holds for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.models.sources.adapters import Adapter, read_adapter
from tests.models.sources.test_model_location import SMALL_FILES, locate_apart
from tests.support.fake_hub import COMMIT, FakeHub

BASE = {**SMALL_FILES, "model.safetensors": b"base"}
Serve = Callable[..., FakeHub]


def adapter_config(base: str, revision: str | None = None) -> bytes:
    return json.dumps({"peft_type": "LORA", "base_model_name_or_path": base, "revision": revision}).encode()


def adapter(base: str, revision: str | None = None, **more: bytes) -> dict[str, bytes]:
    return {
        "adapter_config.json": adapter_config(base, revision),
        "adapter_model.safetensors": b"adapter",
        "README.md": b"# adapter",
        "optimizer.pt": b"state",
        **more,
    }


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers = []

    def start(files: dict[str, bytes], base: dict[str, bytes] | None = None) -> FakeHub:
        servers.append(FakeHub(files, {"someone/base": BASE if base is None else base}))
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_adapter_and_base_are_fetched(serve: Serve, tmp_path: Path) -> None:
    hub = serve(adapter("someone/base"))
    [found] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert found["files"] == ["adapter_config.json", "adapter_model.safetensors"]
    assert sorted(hub.fetched) == sorted({*found["files"], "config.json", "vocab.txt", "model.safetensors"})
    assert found["fingerprint"] != COMMIT and found["pinned"] == f"{COMMIT}+{COMMIT}"
    assert {report[2] for report in found["reports"]} == {"downloading someone/small-bert", "downloading someone/base"}
    # Both commits are pinned for the workers, who ask nobody.
    asked = hub.n_requests
    [again] = locate_apart(tmp_path, ("someone/small-bert", found["pinned"]), endpoint=hub.endpoint)
    assert again["fingerprint"] == found["fingerprint"] and hub.n_requests == asked


def test_the_base_has_its_revision(serve: Serve, tmp_path: Path) -> None:
    hub = serve(adapter("someone/base", "v7"))
    [refused] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert "someone/small-bert is an adapter of someone/base, which cannot be used." in refused["error"]
    assert "someone/base has no revision 'v7'" in refused["error"]


def test_a_local_adapter_has_a_base_on_the_hub(serve: Serve, tmp_path: Path) -> None:
    hub, folder = serve({}), tmp_path / "mine"
    folder.mkdir()
    for name, content in adapter("someone/base").items():
        (folder / name).write_bytes(content)
    [found] = locate_apart(tmp_path, (str(folder),), endpoint=hub.endpoint)
    assert found["path"] == str(folder) and found["pinned"] == f"+{COMMIT}"
    assert read_adapter(folder) == Adapter("LORA", "someone/base")


@pytest.mark.parametrize(
    "base", ["DIRECTORY", "./base", "/content/base", "~/base", "../base", "paper/nict=x", "someone/base:folder"]
)
def test_an_adapter_of_the_hub_names_no_directory_of_this_machine(base: str, serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    for name, content in BASE.items():
        (tmp_path / "base" / name).write_bytes(content)
    hub = serve(adapter(str(tmp_path / "base") if base == "DIRECTORY" else base))
    [refused] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert "it came from the hub, so the base model has to be one of the hub" in refused["error"]


def test_a_relative_directory_is_not_looked_for_either(serve: Serve, tmp_path: Path) -> None:
    """tests/models is a directory below the one in which the process runs."""
    hub = serve(adapter("tests/models"))
    [refused] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert "There is no model 'tests/models' on the Hugging Face Hub" in refused["error"]


@pytest.mark.parametrize(("pattern", "allowed"), [("someone/*", True), ("someone/small-bert", False)])
def test_the_policy_of_an_instance_holds_for_the_base(
    pattern: str, allowed: bool, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAKARI_ALLOWED_MODELS", pattern)
    hub = serve(adapter("someone/base"))
    [found] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert ("error" not in found) is allowed and ("model.safetensors" in hub.fetched) is allowed
    assert allowed or "The model 'someone/base' is not among those of this instance" in found["error"]


def test_pickled_weights_of_either_are_refused_on_a_shared_instance(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAKARI_ALLOWED_EMAILS", "ann@lab.example")
    files = {"adapter_config.json": adapter_config("someone/base"), "adapter_model.bin": b"pickle"}
    for adapter_files, base in ((files, BASE), (adapter("someone/base"), {**SMALL_FILES, "pytorch_model.bin": b"p"})):
        hub = serve(adapter_files, base)
        [refused] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
        assert "reads safetensors" in refused["error"] and not any(name.endswith(".bin") for name in hub.fetched)


def test_full_weights_and_an_adapter_in_one_repository(serve: Serve, tmp_path: Path) -> None:
    hub = serve({**BASE, **adapter("someone/base")})
    [refused] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert "holds full weights (model.safetensors) and an adapter beside them" in refused["error"]
    assert hub.fetched == []
