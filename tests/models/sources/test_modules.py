"""sentence-transformers directories: where the transformer lies, and which files count."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.inference.keys import facts_key
from engine.models.sources.model_location import locate
from engine.models.sources.modules import Module, missing_module_files, read_modules
from engine.runs.run_key import run_key

PACKAGE = "sentence_transformers.models."
NEW = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense"), ("3_Normalize", "Normalize"))
OLD = (("0_Transformer", "Transformer"), ("1_Pooling", "Pooling"))


def modules_json(entries: tuple[tuple[str, str], ...]) -> str:
    return json.dumps(
        [
            {"idx": number, "name": str(number), "path": path, "type": PACKAGE + kind}
            for number, (path, kind) in enumerate(entries)
        ]
    )


def put(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    put(tmp_path, {"config.json": '{"model_type": "bert"}', "model.safetensors": "weights", "vocab.txt": "[PAD]\n"})
    return tmp_path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """As sentence-transformers 0.2 wrote it: its own config.json on top, the transformer in a folder."""
    put(
        tmp_path,
        {
            "config.json": '{"__version__": "0.2.0"}',
            "modules.json": modules_json(OLD),
            "0_Transformer/config.json": '{"model_type": "bert"}',
            "0_Transformer/pytorch_model.bin": "weights",
            "0_Transformer/vocab.txt": "[PAD]\n",
            "0_Transformer/sentence_bert_config.json": '{"max_seq_length": 64}',
            "1_Pooling/config.json": "{}",
        },
    )
    return tmp_path


def test_without_modules_the_fingerprint_is_that_of_earlier_versions(new: Path) -> None:
    lines = [
        f"{name}\t{sha256((new / name).read_bytes()).hexdigest()}\n"
        for name in ("config.json", "model.safetensors", "vocab.txt")
    ]
    assert locate(str(new)).fingerprint == sha256("".join(lines).encode()).hexdigest()


def test_each_file_that_decides_how_sentences_are_read_counts(new: Path) -> None:
    files = {
        "modules.json": modules_json(NEW),
        "config_sentence_transformers.json": "{}",
        "sentence_bert_config.json": "{}",
        "1_Pooling/config.json": "{}",
        "2_Dense/config.json": "{}",
        "2_Dense/pytorch_model.bin": "dense",
        "2_Dense/model.safetensors": "dense",
    }
    seen = {(locate(str(new)).fingerprint, facts_key(locate(str(new)), ()), run_key("clusters", {"m": str(new)}, ""))}
    for name, content in files.items():
        for text in (content, content + "\n"):
            put(new, {name: text})
            seen.add(
                (
                    locate(str(new)).fingerprint,
                    facts_key(locate(str(new)), ()),
                    run_key("clusters", {"m": str(new)}, ""),
                )
            )
    for values in zip(*seen, strict=True):
        assert len(set(values)) == 1 + 2 * len(files)
    before = locate(str(new)).fingerprint
    put(new, {"onnx/model.onnx": "x", "1_Pooling/README.md": "x", "2_Dense/pytorch_model.bin": "not read"})
    assert locate(str(new)).fingerprint == before


def test_the_transformer_beside_its_modules(new: Path) -> None:
    put(new, {"modules.json": modules_json(NEW)})
    located = locate(str(new))
    assert (located.path, located.root, located.address) == (new, new, str(new))


def test_the_transformer_in_a_folder_of_its_own(old: Path) -> None:
    located = locate(str(old))
    assert (located.path, located.root) == (old / "0_Transformer", old)
    assert located.address == str(old) and locate(located.address).fingerprint == located.fingerprint
    before = located.fingerprint
    assert before != locate(str(old / "0_Transformer")).fingerprint  # whose pooling is not known
    for name in ("1_Pooling/config.json", "0_Transformer/sentence_bert_config.json", "0_Transformer/vocab.txt"):
        put(old, {name: "{ }"})
        assert locate(str(old)).fingerprint != before
        before = locate(str(old)).fingerprint


def test_a_recipe_lies_beside_the_transformer(old: Path) -> None:
    put(old, {"0_Transformer/hakari.json": '{"normalize": ["lower"]}'})
    assert locate(str(old)).recipe is not None


def test_pickled_weights_of_a_module_are_refused_on_a_shared_instance(
    new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(new, {"modules.json": modules_json(NEW), "2_Dense/pytorch_model.bin": "dense"})
    monkeypatch.setenv("HAKARI_ALLOWED_EMAILS", "ann@lab.example")
    with pytest.raises(ModelError, match="reads safetensors"):
        locate(str(new))
    put(new, {"2_Dense/model.safetensors": "dense"})
    assert locate(str(new)).path == new


@pytest.mark.parametrize("content", ["{}", "[1]", '[{"path": "a"}]', '[{"path": 1, "type": "x"}]', "[" * 100_000])
def test_a_malformed_list_of_modules(new: Path, content: str) -> None:
    put(new, {"modules.json": content})
    with pytest.raises(ModelError, match=r"modules\.json .*It lists the modules of a sentence-transformers model"):
        locate(str(new))


@pytest.mark.parametrize("path", ["../elsewhere", "/etc", "a/../../b", "..", "a\\b"])
def test_modules_elsewhere_are_refused(new: Path, path: str) -> None:
    put(new, {"modules.json": modules_json((("", "Transformer"), (path, "Pooling")))})
    with pytest.raises(ModelError, match="which is not below"):
        locate(str(new))


def test_what_a_download_left_out_is_known(new: Path) -> None:
    put(new, {"modules.json": modules_json(NEW), "2_Dense/config.json": "{}"})
    modules = read_modules(new)
    assert modules[1] == Module("1_Pooling", "Pooling")
    assert missing_module_files(new, modules, "") == ["1_Pooling/config.json"]
