"""What is fetched of a repository: subfolders, modules of sentence-transformers, and files that an index names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.models.sources.test_model_location import SMALL_FILES, locate_apart
from tests.models.sources.test_modules import NEW, OLD, modules_json
from tests.support.fake_hub import COMMIT, FakeHub, put_in_cache

CONFIG = b'{"model_type": "bert"}'
ELSEWHERE = {
    "onnx/config.json": CONFIG,
    "onnx/model.onnx": b"x",
    "openvino/openvino_model.bin": b"x",
    "coreml/config.json": CONFIG,
    "1_Pooling/README.md": b"x",
    "README.md": b"x",
    "model.onnx": b"x",
}
SENTENCES = {
    **SMALL_FILES,
    **ELSEWHERE,
    "model.safetensors": b"s",
    "modules.json": modules_json(NEW).encode(),
    "config_sentence_transformers.json": b"{}",
    "sentence_bert_config.json": b"{ }",
    "1_Pooling/config.json": b"{  }",
    "2_Dense/config.json": b"{   }",
    "2_Dense/model.safetensors": b"d",
    "2_Dense/pytorch_model.bin": b"p",
}  # No two contents are equal: the client fetches each once.
FETCHED = sorted({*SENTENCES} - {*ELSEWHERE, "2_Dense/pytorch_model.bin"})
OLDER = {
    **ELSEWHERE,
    "config.json": b'{"__version__": "0.2.0"}',
    "modules.json": modules_json(OLD).encode(),
    "0_Transformer/config.json": CONFIG,
    "0_Transformer/pytorch_model.bin": b"w",
    "0_Transformer/vocab.txt": b"[PAD]\n",
    "0_Transformer/sentence_bert_config.json": b"{}",
    "1_Pooling/config.json": b"{}",
}
FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
INDEX = json.dumps({"weight_map": {"a": FIRST, "b": SECOND}}).encode()
TWO = {
    f"{folder}/{name}": content + space
    for folder, space in (("base", b"\n"), ("large", b"\n\n"))
    for name, content in {
        "config.json": CONFIG,
        "model.safetensors": b"w",
        "vocab.txt": b"[PAD]",
        "chat_template.jinja": b"{{ messages[0]['content'] }}",
        "deeper/vocab.txt": b"[UNK]",
    }.items()
}
TWO |= {"README.md": b"x", "vocab.txt": b"[CLS]"}
Serve = Callable[[dict[str, bytes]], FakeHub]


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers = []

    def start(files: dict[str, bytes]) -> FakeHub:
        servers.append(FakeHub(files))
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_modules_are_fetched_and_other_formats_are_not(serve: Serve, tmp_path: Path) -> None:
    hub = serve(SENTENCES)
    [found] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert found["files"] == FETCHED == sorted(hub.fetched)
    assert found["root"] == found["path"] and found["fingerprint"] == COMMIT
    asked = hub.n_requests
    [again] = locate_apart(tmp_path, ("someone/small-bert", COMMIT), endpoint=hub.endpoint)
    assert again["path"] == found["path"] and hub.n_requests == asked
    [offline] = locate_apart(tmp_path, ("someone/small-bert",), offline=True)
    assert offline["path"] == found["path"]


def test_a_copy_without_modules_is_completed(serve: Serve, tmp_path: Path) -> None:
    """As an earlier version of Hakari left it in the cache."""
    put_in_cache(tmp_path, {name: SENTENCES[name] for name in FETCHED if "/" not in name})
    [refused] = locate_apart(tmp_path, ("someone/small-bert",), offline=True)
    assert "no complete copy" in refused["error"]
    hub = serve(SENTENCES)
    [found] = locate_apart(tmp_path, ("someone/small-bert", COMMIT), endpoint=hub.endpoint)
    assert found["files"] == FETCHED and "1_Pooling/config.json" in hub.fetched and "vocab.txt" not in hub.fetched


def test_a_transformer_in_a_folder_of_its_own_is_fetched(serve: Serve, tmp_path: Path) -> None:
    hub = serve(OLDER)
    [found] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert found["files"] == sorted({*OLDER} - {*ELSEWHERE})
    assert found["path"] == f"{found['root']}/0_Transformer"
    [again] = locate_apart(tmp_path, ("someone/small-bert",), offline=True)
    assert again == {**found, "reports": []}


def test_of_a_subfolder_nothing_else_is_fetched(serve: Serve, tmp_path: Path) -> None:
    hub = serve(TWO)
    calls = (("someone/small-bert:base",), ("someone/small-bert:large",), ("someone/small-bert:base", COMMIT))
    base, large, pinned = locate_apart(tmp_path, *calls, endpoint=hub.endpoint)
    assert base["files"] == large["files"] == ["chat_template.jinja", "config.json", "model.safetensors", "vocab.txt"]
    assert sorted(hub.fetched) == sorted(f"{folder}/{name}" for folder in ("base", "large") for name in base["files"])
    assert Path(base["path"]).name == "base" and base["reports"][-1][2] == "downloading someone/small-bert:base"
    # Two models of one commit have two keys in the cache.
    assert len({base["fingerprint"], large["fingerprint"], COMMIT}) == 3
    assert pinned["fingerprint"] == base["fingerprint"]
    [offline] = locate_apart(tmp_path, calls[1], offline=True)
    assert offline["fingerprint"] == large["fingerprint"]


def test_a_subfolder_that_is_not_there(serve: Serve, tmp_path: Path) -> None:
    hub = serve(TWO)
    calls = (
        ("someone/small-bert:small",),
        ("someone/small-bert:../x",),
        ("someone/small-bert:",),
        ("someone/small-bert:/etc",),
        ("someone/small-bert",),
    )
    missing, *odd, whole = locate_apart(tmp_path, *calls, endpoint=hub.endpoint)
    assert "has no folder 'small'" in missing["error"]
    assert all("it is no Hugging Face id" in answer["error"] for answer in odd)
    assert "neither model.safetensors nor pytorch_model.bin" in whole["error"]
    assert hub.fetched == []


def test_the_files_that_an_index_names_are_fetched(serve: Serve, tmp_path: Path) -> None:
    files = {
        **SMALL_FILES,
        "model.safetensors.index.json": INDEX,
        FIRST: b"a",
        SECOND: b"b",
        "model-00003-of-00003.safetensors": b"of another save",
    }
    hub = serve(files)
    [found] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert found["files"] == sorted({*files} - {"README.md", "model-00003-of-00003.safetensors"})


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([FIRST, SECOND], f"names weights that are not beside it: {SECOND}"),
        ([FIRST, "../../../../blobs/x"], "names a file that is not beside it: '../../../../blobs/x'"),
        ([FIRST, "/etc/passwd"], "names a file that is not beside it: '/etc/passwd'"),
    ],
)
def test_an_index_of_files_that_are_not_there(names: list[str], words: str, serve: Serve, tmp_path: Path) -> None:
    index = json.dumps({"weight_map": dict(zip("ab", names, strict=True))}).encode()
    hub = serve({**SMALL_FILES, "pytorch_model.bin.index.json": index, FIRST: b"a"})
    [refused] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert words in refused["error"] and hub.fetched == ["pytorch_model.bin.index.json"]
