"""Models from directories, each damaged in one way. The models are random; see `tiny_models`."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel, T5Config, T5ForConditionalGeneration

from engine.errors import ModelError
from engine.models.loading.weights import _load_error, load
from engine.models.sources.model_location import locate
from tests.support import fake_hub, tiny_models
from tests.support.layouts import papers as paper_layouts


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {make.__name__: make(folder / make.__name__) for make in (tiny_models.bert, tiny_models.gpt2_unigram)}


@pytest.fixture
def bert(originals: dict[str, Path], tmp_path: Path) -> Path:
    return shutil.copytree(originals["bert"], tmp_path / "bert")


@pytest.fixture
def gpt2(originals: dict[str, Path], tmp_path: Path) -> Path:
    return shutil.copytree(originals["gpt2_unigram"], tmp_path / "gpt2")


def pickle_weights(
    directory: Path, *, rename: Callable[[str], str] = str, zipped: bool = True
) -> dict[str, torch.Tensor]:
    """Put pytorch_model.bin in the place of model.safetensors; returns the numbers under their usual names."""
    weights = load_file(directory / "model.safetensors")
    torch.save(
        {rename(name): tensor for name, tensor in weights.items()},
        directory / "pytorch_model.bin",
        _use_new_zipfile_serialization=zipped,
    )
    (directory / "model.safetensors").unlink()
    return weights


def change_config(directory: Path, **changes: object) -> None:
    path = directory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_loaded_model_is_ready_to_be_asked(bert: Path) -> None:
    loaded = load(str(bert), "masked")
    assert type(loaded.model).__name__ == "BertForMaskedLM" and not loaded.model.training
    assert {(p.dtype, p.device.type, p.requires_grad) for p in loaded.model.parameters()} == {
        (torch.float32, loaded.device.type, False)
    }
    assert loaded.facts.name == str(bert) and loaded.facts.n_parameters == loaded.model.num_parameters()
    assert type(load(locate(str(bert)), "encode").model).__name__ == "BertModel"


def test_weights_as_publishers_of_2019_laid_them_out_are_read_number_by_number(tmp_path: Path) -> None:
    folder = paper_layouts.japanese_bert(tmp_path / "nict", widen=True)
    published = torch.load(folder / "pytorch_model.bin", weights_only=True)
    loaded = load(f"paper/nict={folder}", "masked").model.state_dict()
    names = [name for name in published if not name.startswith(("cls.seq_relationship", "bert.pooler"))]
    assert sum("gamma" in name for name in names) == 2 * 2 + 2  # two norms a layer, the embeddings' and the head's
    for name in names:
        now = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        torch.testing.assert_close(loaded[now], published[name], rtol=0, atol=0)
    assert type(load(f"paper/nict={folder}", "encode").model).__name__ == "BertModel"


@pytest.mark.parametrize(
    ("token", "task", "words"),
    [
        ("[MASK]", "masked", r"The tokenizer of .*\(full-width, MeCab with jumandic.*\) has no mask token"),
        ("[UNK]", "encode", "so nothing can stand for a word"),
    ],
)
def test_a_published_vocabulary_that_lacks_a_token_is_an_error(
    tmp_path: Path, token: str, task: str, words: str
) -> None:
    special = [one for one in paper_layouts.SPECIAL if one != token]
    folder = paper_layouts.japanese_bert(tmp_path / "nict", special=special, widen=True)
    with pytest.raises(ModelError, match=words):
        load(f"paper/nict={folder}", task)  # type: ignore[arg-type]


def test_half_precision_weights_become_float32(bert: Path) -> None:
    model = AutoModel.from_pretrained(bert, dtype=torch.float16)
    model.save_pretrained(bert)
    loaded = load(str(bert), "encode")
    name, expected = next(iter(model.state_dict().items()))
    assert loaded.model.dtype == torch.float32 and loaded.precision == "fp32" and loaded.facts.dtype == "float16"
    assert torch.equal(loaded.model.state_dict()[name].cpu(), expected.float())


def test_safetensors_win_over_a_pickle_beside_them(bert: Path, tmp_path: Path) -> None:
    (bert / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(tmp_path / "sprung"), protocol=2))
    load(str(bert), "masked")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("zipped", [True, False])
def test_weights_of_the_papers_age_are_read_to_the_last_bit(bert: Path, zipped: bool) -> None:
    # Checkpoints of 2019 call a norm's numbers gamma and beta, and come in torch's first file format.
    def old(name: str) -> str:
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")

    expected = pickle_weights(bert, rename=old, zipped=zipped)
    numbers = load(str(bert), "masked").model.state_dict()
    assert all(torch.equal(numbers[name].cpu(), tensor) for name, tensor in expected.items())


class Trap:
    """Unpickled without restraint, it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("how", ["zip", "torch's first format", "bare pickle"])
def test_a_weights_file_that_holds_code_is_refused_and_not_run(bert: Path, tmp_path: Path, how: str) -> None:
    trap = {**pickle_weights(bert), "trap": Trap(tmp_path / "sprung")}
    if how == "bare pickle":
        (bert / "pytorch_model.bin").write_bytes(pickle.dumps({"trap": trap["trap"]}, protocol=2))
    else:
        torch.save(trap, bert / "pytorch_model.bin", _use_new_zipfile_serialization=how == "zip")
    with pytest.raises(ModelError, match=r"pytorch_model.bin of .* is refused: .*code \(posix.system\).*safetensors"):
        load(str(bert), "masked")
    assert not (tmp_path / "sprung").exists()
    # The proof that the trap works.
    pickle.loads(pickle.dumps(trap["trap"]))
    assert (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.safetensors", b""),
        ("model.safetensors", b"\0" * 100),
        ("model.safetensors", b"<html>404</html>"),
        ("pytorch_model.bin", b""),
        ("pytorch_model.bin", b"junk" * 50),
        ("pytorch_model.bin", b"version https://git-lfs.github.com/spec/v1\n"),
    ],
)
def test_damaged_weights_are_named(bert: Path, name: str, content: bytes) -> None:
    (bert / "model.safetensors").unlink()
    (bert / name).write_bytes(content)
    with pytest.raises(ModelError, match=rf"{name} of {bert} is refused|weights of {bert} \({name}\) cannot be loaded"):
        load(str(bert), "masked")


@pytest.mark.parametrize(
    "error", [pickle.UnpicklingError("GLOBAL os.system"), OSError("broken: /cache/snap/model.bin")]
)
def test_a_model_of_the_hub_is_named_by_its_id_and_not_by_a_path_of_the_server(error: Exception) -> None:
    facts = SimpleNamespace(name="owner/bert")
    said = str(_load_error(facts, (Path("/cache/snap/model.bin"),), error))  # type: ignore[arg-type]
    assert "owner/bert" in said and "/cache" not in said


def test_weights_cut_short_are_named(bert: Path) -> None:
    path = bert / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(ModelError, match="cannot be loaded"):
        load(str(bert), "masked")


def test_weights_of_another_shape_are_refused(bert: Path) -> None:
    change_config(bert, intermediate_size=48)
    with pytest.raises(ModelError, match=r"6 parts of the weights .* have another shape than config\.json says"):
        load(str(bert), "masked")


def test_weights_without_the_head_fill_no_masks_but_encode(bert: Path) -> None:
    AutoModel.from_pretrained(bert).save_pretrained(bert)
    change_config(bert, architectures=["BertForMaskedLM"])  # it claims a head that it does not have
    with pytest.raises(ModelError, match=r"lack \d+ parts that a BertForMaskedLM needs \(cls\.predictions"):
        load(str(bert), "masked")
    assert load(str(bert), "encode").facts.kind == "masked"


def test_the_kind_must_fit_the_task(bert: Path, gpt2: Path) -> None:
    with pytest.raises(ModelError, match=r"\(GPT2LMHeadModel\) is a causal model and fills no masks.*builtin/bert"):
        load(str(gpt2), "masked")
    with pytest.raises(ModelError, match=r"\(BertForMaskedLM\) is a masked model and does not score.*builtin/gpt2"):
        load(str(bert), "causal")
    change_config(bert, architectures=["BertModel"])
    with pytest.raises(ModelError, match="is an encoder without language-model head"):
        load(str(bert), "masked")
    with pytest.raises(ModelError, match="one of encode, masked, causal, seq2seq; got 'guess'"):
        load(str(bert), "guess")  # type: ignore[arg-type]


def test_a_tokenizer_without_mask_fills_no_masks(bert: Path) -> None:
    settings = json.loads((bert / "tokenizer_config.json").read_text())
    change = {**settings, "tokenizer_class": "PreTrainedTokenizerFast", "mask_token": None}
    (bert / "tokenizer_config.json").write_text(json.dumps(change))
    with pytest.raises(ModelError, match="has no mask token"):
        load(str(bert), "masked")


def test_an_encoder_decoder_counts_as_its_encoder(bert: Path) -> None:
    torch.manual_seed(0)
    T5ForConditionalGeneration(
        T5Config(
            vocab_size=300,
            d_model=32,
            d_kv=16,
            d_ff=48,
            num_layers=2,
            num_decoder_layers=1,
            num_heads=2,
        )
    ).save_pretrained(bert)
    loaded = load(str(bert), "encode")
    assert (loaded.facts.kind, loaded.facts.n_layers, loaded.facts.max_tokens) == ("encoder", 2, 64)
    with torch.inference_mode():
        states = loaded.model(
            input_ids=torch.ones(1, 3, dtype=torch.long, device=loaded.device), output_hidden_states=True
        ).hidden_states
    assert len(states) == 3 and states[0].shape == (1, 3, 32)


def test_the_device_is_the_named_one_or_an_error(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_DEVICE", "cpu")
    assert load(str(bert), "encode").facts.device == "cpu"
    monkeypatch.setenv("HAKARI_DEVICE", "cuda:99")
    with pytest.raises(ModelError, match="HAKARI_DEVICE names a device that is not here: 'cuda:99'"):
        load(str(bert), "encode")


def test_a_model_of_the_hub_is_loaded_by_id_and_revision(bert: Path, tmp_path: Path) -> None:
    files = {path.name: path.read_bytes() for path in bert.iterdir()}
    fake_hub.put_in_cache(tmp_path, files, branch="v1")
    script = """
from engine.models.loading.weights import load
facts = load("someone/small-bert", "masked", revision="v1").facts
print(facts.source, facts.name, facts.revision, facts.fingerprint, facts.n_parameters)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=fake_hub.ROOT,
        text=True,
        check=True,
        capture_output=True,
        timeout=120,
        env=fake_hub.environment(tmp_path, offline=True),
    )
    n_parameters = load(str(bert), "masked").facts.n_parameters
    assert done.stdout.split() == ["hub", "someone/small-bert", "v1", fake_hub.COMMIT, str(n_parameters)]
