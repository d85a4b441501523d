"""How a GGUF file is named: by its path, by a directory or repository that has one, and on the hub by its own name."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.errors import AccessError, ModelError
from engine.models.loading.model_description import describe
from engine.models.sources.allowed_models import allowed_models
from engine.models.sources.model_location import locate
from engine.models.sources.names import local_directory, model_directories, split_label, split_revision
from engine.runs.run_key import run_key
from tests.models.loading.gguf.writing import CASES, convert, made
from tests.models.sources.test_model_location import locate_apart
from tests.support.fake_hub import COMMIT, FakeHub, put_in_cache

NAME = "someone/small-bert"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    case = CASES["qwen3"]
    specimen = made(case, folder)
    for quantisation in ("Q8_0", "Q4_0"):
        convert(case, specimen, folder / f"model-{quantisation}.gguf", quantisation)
    return folder


@pytest.fixture
def directory(source: Path, tmp_path: Path) -> Path:
    for path in source.glob("*.gguf"):
        (tmp_path / path.name).symlink_to(path)  # as in the cache of the hub
    return tmp_path


def test_of_several_files_one_is_named_by_its_path(directory: Path) -> None:
    with pytest.raises(
        ModelError, match=r"holds several .* \(model-Q4_0\.gguf, model-Q8_0\.gguf\)\. Name one of .*/model-Q4_0\.gguf"
    ):
        locate(str(directory))
    names = [str(directory / f"model-{quantisation}.gguf") for quantisation in ("Q8_0", "Q4_0")]
    facts = [describe(locate(name)).facts for name in names]
    assert [found.quantised for found in facts] == ["GGUF Q8_0", "GGUF Q4_0"]
    assert [found.path for found in facts] == names and [locate(name).address for name in names] == names
    assert len({found.fingerprint for found in facts}) == 2
    assert len({found.tokenizer_fingerprint for found in facts}) == 1
    checks = [found.token_check for found in facts]
    assert [check and (check.file, check.repaired) for check in checks] == [(Path(name).name, False) for name in names]


def test_a_directory_with_one_file_is_that_file(directory: Path) -> None:
    (directory / "model-Q4_0.gguf").unlink()
    by_directory, by_path = locate(str(directory)), locate(str(directory / "model-Q8_0.gguf"))
    assert by_directory.fingerprint == by_path.fingerprint and by_directory.file == by_path.file
    assert by_directory.address == str(directory / "model-Q8_0.gguf")


def test_other_weights_go_before_a_file_that_is_not_named(directory: Path) -> None:
    (directory / "model.safetensors").write_bytes(b"w")
    (directory / "config.json").write_text("{}")
    assert locate(str(directory)).file is None
    assert locate(str(directory / "model-Q8_0.gguf")).file is not None


def test_the_fingerprint_is_of_the_content(source: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.gguf").write_bytes((source / "model-Q8_0.gguf").read_bytes())
    first, second = (locate(str(tmp_path / name)).fingerprint for name in ("one", "two"))
    assert first == second
    path = tmp_path / "two" / "two.gguf"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1  # of the last number
    path.write_bytes(content)
    assert locate(str(tmp_path / "two")).fingerprint != first


def test_parts_of_a_file_are_refused(directory: Path) -> None:
    for number in (1, 2):
        (directory / "model-Q4_0.gguf").unlink(missing_ok=True)
        (directory / f"model-0000{number}-of-00002.gguf").write_bytes(b"GGUF")
    (directory / "model-Q8_0.gguf").unlink()
    for name in (directory, directory / "model-00002-of-00002.gguf"):
        with pytest.raises(ModelError, match=r"is one of 2 parts, which are not read\. Merge them once"):
            locate(str(name))


def test_a_card_or_a_name_that_is_no_file(directory: Path) -> None:
    with pytest.raises(ModelError, match=r"is a GGUF file, which says itself .* without the card paper/nict"):
        locate(f"paper/nict={directory / 'model-Q8_0.gguf'}")
    with pytest.raises(ModelError, match=r"no file '.*model-Q2_K\.gguf'\. Check its path; .* owner/name:file\.gguf\."):
        locate(str(directory / "model-Q2_K.gguf"))
    with pytest.raises(ModelError, match=r"no file 'Qwen/Qwen3-0\.6B-GGUF/Qwen3-0\.6B-Q8_0\.gguf'"):
        locate("Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf")


def test_a_path_is_a_path_wherever_names_are_taken_apart(directory: Path) -> None:
    path = directory / "a=b@c.gguf"
    path.symlink_to((directory / "model-Q8_0.gguf").resolve())
    assert split_label(str(path)) == ("", str(path)) and split_revision(str(path)) == (str(path), None)
    assert split_label(f"Ours={path}") == ("Ours", str(path))
    assert local_directory(str(path)) == directory.resolve() and model_directories(str(path)) == (directory.resolve(),)
    keys = {run_key("clusters", {"models": [str(path)]}, "d")}
    (directory / "tokenizer.json").write_text("{}")
    keys.add(run_key("clusters", {"models": [str(path)]}, "d"))
    assert len(keys) == 2  # what lies beside the file decides the tokens


def test_what_an_instance_allows_holds_for_files(directory: Path) -> None:
    path = str(directory / "model-Q8_0.gguf")
    allowed_models({"HAKARI_ALLOWED_MODELS": str(directory)}, hosted=True).require(path)
    allowed_models({"HAKARI_ALLOWED_MODELS": path}, hosted=True).require(f"Ours={path}")
    with pytest.raises(AccessError, match="not among the models of this instance"):
        allowed_models({"HAKARI_ALLOWED_MODELS": path}, hosted=True).require(str(directory / "model-Q4_0.gguf"))
    allowed_models({"HAKARI_ALLOWED_MODELS": "Qwen/*"}, hosted=True).require("Qwen/Qwen3-0.6B-GGUF:model-Q8_0.gguf")
    for entries in ("Qwen/*", "/srv/models"):
        with pytest.raises(AccessError, match="not among the models of this instance"):
            allowed_models({"HAKARI_ALLOWED_MODELS": entries}, hosted=True).require(path)


def test_what_is_made_of_a_file_belongs_to_this_account_and_goes_with_the_file(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    (tmp_path / "a").mkdir()
    path = tmp_path / "a" / "model.gguf"
    path.write_bytes((source / "model-Q8_0.gguf").read_bytes())
    made_of_it = locate(str(path)).path
    assert locate(str(path)).path == made_of_it and made_of_it.is_relative_to(temporary)
    (parent,) = temporary.iterdir()
    assert stat.S_IMODE(parent.stat().st_mode) == 0o700
    path.rename(tmp_path / "other.gguf")
    again = locate(str(tmp_path / "other.gguf")).path
    assert again.is_dir() and not made_of_it.exists() and len(list(parent.iterdir())) == 1
    # Where others can write, they could put files of their own into it.
    parent.chmod(0o777)
    with pytest.raises(ModelError, match=r"cannot be written to .* others can write to it.*TMPDIR"):
        locate(str(tmp_path / "other.gguf"))
    os.rename(parent, tmp_path / "elsewhere")
    parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match="cannot be written"):
        locate(str(tmp_path / "other.gguf"))


def test_what_was_taken_out_of_the_temporary_directory_is_made_again(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    path = str(directory / "model-Q8_0.gguf")
    whole = locate(path)
    names, fingerprint = {file.name for file in whole.path.iterdir()}, whole.fingerprint
    for name in names:  # as a service does that removes files which were not read for days
        (whole.path / name).unlink()
        assert locate(path).fingerprint == fingerprint
        assert {file.name for file in whole.path.iterdir()} == names


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


def test_of_a_repository_the_named_file_alone_is_fetched(source: Path, serve: Serve, tmp_path: Path) -> None:
    files = {path.name: path.read_bytes() for path in source.glob("*.gguf")}
    hub = serve({**files, "README.md": b"x", "deeper/model-Q8_0.gguf": files["model-Q8_0.gguf"] + b"\0"})
    several, named, missing, deeper = locate_apart(
        tmp_path,
        (NAME,),
        (f"{NAME}:model-Q8_0.gguf",),
        (f"{NAME}:model-Q2_K.gguf",),
        (f"{NAME}:deeper/model-Q8_0.gguf",),
        endpoint=hub.endpoint,
    )
    assert "holds several models in the format GGUF (model-Q4_0.gguf, model-Q8_0.gguf)" in several["error"]
    assert f"such as {NAME}:model-Q4_0.gguf." in several["error"]
    assert "has no file 'model-Q2_K.gguf' on the Hugging Face Hub, but model-Q4_0.gguf, model-Q8_0" in missing["error"]
    assert sorted(hub.fetched) == ["deeper/model-Q8_0.gguf", "model-Q8_0.gguf"]
    assert named["files"] == ["config.json", "model.gguf", "tokenizer.json", "tokenizer_config.json"]
    assert named["torch"] is False and named["pinned"] == COMMIT and named["source"] == "hub"
    assert len({named["fingerprint"], deeper["fingerprint"], COMMIT}) == 3
    asked = hub.n_requests
    again, unnamed = locate_apart(tmp_path, (f"{NAME}:model-Q8_0.gguf", COMMIT), (NAME,), endpoint=hub.endpoint)
    assert again["fingerprint"] == named["fingerprint"] and "several" in unnamed["error"]
    assert hub.n_requests > asked  # of the one without a commit
    offline, other, ambiguous = locate_apart(
        tmp_path, (f"{NAME}:model-Q8_0.gguf",), (f"{NAME}:model-Q4_0.gguf",), (NAME,), offline=True
    )
    assert offline["fingerprint"] == named["fingerprint"]
    # One of several is not taken because it happens to be in the cache.
    assert "no complete copy" in other["error"] and "no complete copy" in ambiguous["error"]


def test_a_repository_with_one_file_is_that_file(source: Path, serve: Serve, tmp_path: Path) -> None:
    hub = serve({"model.gguf": (source / "model-Q8_0.gguf").read_bytes(), "config.json": b"{}", "image.png": b"x"})
    (found,) = locate_apart(tmp_path, (NAME,), endpoint=hub.endpoint)
    assert sorted(hub.fetched) == ["config.json", "model.gguf"]
    asked = hub.n_requests
    named, pinned = locate_apart(tmp_path, (f"{NAME}:model.gguf", COMMIT), (NAME, COMMIT), endpoint=hub.endpoint)
    assert found["fingerprint"] == named["fingerprint"] == pinned["fingerprint"] and hub.n_requests == asked


def test_parts_in_a_repository_are_refused_before_they_are_fetched(serve: Serve, tmp_path: Path) -> None:
    first, second = "m-00001-of-00002.gguf", "m-00002-of-00002.gguf"
    hub = serve({first: b"a", second: b"b"})
    alone, several = locate_apart(tmp_path, (f"{NAME}:{first}",), (NAME,), endpoint=hub.endpoint)
    assert "is one of 2 parts" in alone["error"] and "several" in several["error"] and not hub.fetched


def test_safetensors_of_a_repository_go_before_its_gguf_files(serve: Serve, tmp_path: Path) -> None:
    put_in_cache(tmp_path, {"config.json": b'{"model_type": "bert"}', "model.safetensors": b"w", "m.gguf": b"g"})
    (found,) = locate_apart(tmp_path, (NAME,), offline=True)
    assert found["fingerprint"] == COMMIT
