import json
import os
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.models.sources.model_files import (
    fingerprint,
    read_config,
    tokenizer_files,
    tokenizer_fingerprint,
    weight_files,
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "vocab.txt").write_text("[PAD]\n")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    return tmp_path


def test_safetensors_come_before_pickled_weights(model: Path) -> None:
    (model / "pytorch_model.bin").write_bytes(b"others")
    assert [path.name for path in weight_files(model)] == ["model.safetensors"]
    (model / "model.safetensors").unlink()
    assert [path.name for path in weight_files(model)] == ["pytorch_model.bin"]


def test_an_index_names_its_shards(model: Path) -> None:
    (model / "model.safetensors").unlink()
    first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
    index = {"weight_map": {"a": first, "b": second, "c": first}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
    (model / first).touch()
    with pytest.raises(ModelError, match=rf"names weights that are not beside it: {second}"):
        weight_files(model)
    (model / second).touch()
    assert [path.name for path in weight_files(model)] == ["model.safetensors.index.json", first, second]


def test_missing_weights_say_what_is_there(model: Path) -> None:
    (model / "model.safetensors").rename(model / "tf_model.h5")
    with pytest.raises(ModelError, match=r"no weights in .*only tf_model.h5, vocab.txt"):
        weight_files(model)


def test_a_directory_of_a_configuration_alone_lacks_weights(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError) as caught:
        weight_files(tmp_path)
    assert str(caught.value) == (
        f"There are no weights in {tmp_path}: neither model.safetensors nor pytorch_model.bin (nor an index of "
        "several). Save the model with save_pretrained."
    )


def test_a_distributed_checkpoint_is_refused(model: Path) -> None:
    (model / "shard-00000-model-00001-of-00001.safetensors").touch()
    with pytest.raises(ModelError, match="distributed training checkpoint"):
        weight_files(model)


@pytest.mark.parametrize(("content", "words"), [("{no", "cannot be read as JSON"), ("[]", "no JSON object but a list")])
def test_a_broken_configuration_is_named(model: Path, content: str, words: str) -> None:
    (model / "config.json").write_text(content)
    with pytest.raises(ModelError, match=rf"config.json.*{words}"):
        read_config(model)


def test_a_directory_without_configuration_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no config.json\. A model directory holds"):
        read_config(tmp_path)


def test_the_fingerprint_follows_what_decides_the_numbers(model: Path) -> None:
    first = fingerprint(model)
    assert len(first) == 64 and fingerprint(model) == first

    (model / "README.md").write_text("A card.")
    (model / "pretraining.json").write_text("{}")
    (model / "pytorch_model.bin").write_bytes(b"not read, safetensors are")
    assert fingerprint(model) == first

    seen = {first}
    for name in ("config.json", "vocab.txt", "model.safetensors"):
        before = (model / name).read_bytes()
        (model / name).write_bytes(before[:-1] + b"!")
        seen.add(fingerprint(model))
        (model / name).write_bytes(before)
        assert fingerprint(model) == first
    assert len(seen) == 4


def test_a_file_renamed_or_moved_between_names_changes_the_fingerprint(model: Path) -> None:
    first = fingerprint(model)
    (model / "vocab.txt").rename(model / "merges.txt")
    assert fingerprint(model) != first


def test_contents_are_hashed_once_until_a_file_changes(model: Path) -> None:
    weights = model / "model.safetensors"
    first, state = fingerprint(model), weights.stat()
    # Same size, same time: taken as unchanged. That is the bargain of remembering, so the time must be kept apart.
    weights.write_bytes(b"WEIGHTS")
    os.utime(weights, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert fingerprint(model) == first
    os.utime(weights, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert fingerprint(model) != first


def test_the_tokenizer_has_a_fingerprint_of_its_own(model: Path) -> None:
    first = tokenizer_fingerprint(model)
    assert [path.name for path in tokenizer_files(model)] == ["vocab.txt"]
    (model / "model.safetensors").write_bytes(b"other weights")
    (model / "config.json").write_text('{"model_type": "bert", "num_hidden_layers": 3}')
    assert tokenizer_fingerprint(model) == first
    (model / "config.json").write_text('{"model_type": "bert", "tokenizer_class": "BertJapaneseTokenizer"}')
    assert tokenizer_fingerprint(model) != first
