import json
from pathlib import Path

import psutil
import pytest
import torch
from transformers import AutoModel

from engine.errors import InputError, ModelError
from engine.models.loading import placement
from engine.models.loading.model_cache import MEMORY_VARIABLE, ModelCache, memory_bound
from engine.models.loading.weights import Task
from engine.models.sources.memory_budget import budget_of
from tests.support import tiny_models


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("models")
    return [str(tiny_models.bert(folder / f"bert{seed}", seed=seed)) for seed in range(3)]


def room_for(n_models: float, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    n_parameters = ModelCache().describe(name, None).facts.n_parameters
    monkeypatch.setenv(MEMORY_VARIABLE, str(n_models * n_parameters * 4 / 2**30))


def test_a_model_is_loaded_once(directories: list[str]) -> None:
    model_cache = ModelCache()
    first = model_cache.load(directories[0], None, "encode", "fp32")
    assert model_cache.load(directories[0], None, "encode", "fp32") is first
    assert model_cache.load(directories[0], None, "masked", "fp32") is not first
    assert model_cache.describe(directories[0], None) is model_cache.describe(directories[0], None)


def test_the_model_used_longest_ago_makes_room(directories: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    model_cache = ModelCache()
    room_for(2.5, directories[0], monkeypatch)
    first, second = (model_cache.load(name, None, "encode", "fp32") for name in directories[:2])
    assert model_cache.load(directories[0], None, "encode", "fp32") is first  # used again, so the second is the older
    model_cache.load(directories[2], None, "encode", "fp32")
    assert len(model_cache.held) == 2
    assert model_cache.load(directories[0], None, "encode", "fp32") is first
    assert model_cache.load(directories[1], None, "encode", "fp32") is not second


def test_a_model_beyond_the_bound_is_not_loaded(directories: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    model_cache = ModelCache()
    room_for(0.5, directories[0], monkeypatch)
    with pytest.raises(ModelError, match=r"GiB in memory; the models of a worker may take .*HAKARI_MODEL_MEMORY_GB"):
        model_cache.load(directories[0], None, "encode", "fp32")
    assert not model_cache.held


def test_a_model_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    model_cache = ModelCache()
    path = str(tiny_models.bert(tmp_path / "bert", seed=0))
    before = model_cache.load(path, None, "encode", "fp32")
    tiny_models.bert(tmp_path / "bert", seed=1)
    after = model_cache.load(path, None, "encode", "fp32")
    assert after is not before and after.facts.fingerprint != before.facts.fingerprint


def test_the_bound_is_a_share_of_half_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_DEVICE", "cpu")
    monkeypatch.delenv(MEMORY_VARIABLE, raising=False)
    monkeypatch.setenv("HAKARI_WORKERS", "4")
    assert memory_bound() == psutil.virtual_memory().total // 2 // 4
    monkeypatch.setenv(MEMORY_VARIABLE, "1.5")
    assert memory_bound() == 1.5 * 2**30
    for wrong in ("much", "0", "-1", "nan"):
        monkeypatch.setenv(MEMORY_VARIABLE, wrong)
        with pytest.raises(InputError, match=f"HAKARI_MODEL_MEMORY_GB is a number .* got '{wrong}'"):
            memory_bound()


def test_the_report_tells_what_is_in_memory_the_last_used_first(directories: list[str]) -> None:
    model_cache = ModelCache()
    assert model_cache.contents() == []
    model_cache.describe(directories[2], None)  # its weights are not read
    model_cache.load(directories[0], None, "encode", "fp32")
    masked = model_cache.load(directories[1], None, "masked", "fp32")
    model_cache.load(directories[0], None, "encode", "fp32")
    report = model_cache.contents()
    assert [(one["name"], one["task"], one["device"]) for one in report] == [
        (directories[0], "encode", "cpu"),
        (directories[1], "masked", "cpu"),
    ]
    n_numbers = sum(tensor.numel() for tensor in masked.model.state_dict().values() if tensor.dtype.is_floating_point)
    assert report[1]["parameters"] == masked.facts.n_parameters
    # float32, the tied output matrix once; the position numbers are a buffer of whole numbers
    assert 4 * masked.facts.n_parameters <= report[1]["bytes"] <= 4 * n_numbers + 10_000


def test_a_model_is_in_memory_once_for_all_its_tasks(directories: list[str]) -> None:
    model_cache = ModelCache()
    encoder = model_cache.load(directories[0], None, "encode", "fp32")
    masked = model_cache.load(directories[0], None, "masked", "fp32")
    assert masked.model.base_model is encoder.model and len(model_cache.held) == 1
    [report] = model_cache.contents()
    assert report["task"] == "encode, masked" and report["precision"] == "fp32"
    buffers = sum(buffer.numel() * buffer.element_size() for buffer in masked.model.buffers())
    assert report["bytes"] == 4 * masked.facts.n_parameters + buffers


@pytest.mark.parametrize("first", ["encode", "masked"])
def test_hidden_states_are_those_of_the_model_without_its_head(directories: list[str], first: Task) -> None:
    model_cache = ModelCache()
    model_cache.load(directories[0], None, first, "fp32")
    encoder = model_cache.load(directories[0], None, "encode", "fp32").model
    alone = AutoModel.from_pretrained(directories[0], dtype=torch.float32).eval()
    assert type(encoder) is type(alone)
    ids = torch.arange(3, 12)[None]
    with torch.inference_mode():
        torch.testing.assert_close(encoder(ids).last_hidden_state, alone(ids).last_hidden_state, rtol=0, atol=0)


def test_each_precision_is_a_model_of_its_own_and_takes_its_share(
    directories: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model_cache = ModelCache()
    room_for(1.6, directories[0], monkeypatch)
    loaded = {name: model_cache.load(directories[0], None, "encode", name) for name in ("fp32", "bf16")}
    assert [loaded[name].model.dtype for name in loaded] == [torch.float32, torch.bfloat16]
    assert model_cache.load(directories[0], None, "encode", "fp32") is loaded["fp32"]  # one and a half fit
    model_cache.load(directories[0], None, "encode", "fp16")  # and the one used longest ago makes room
    assert [report["precision"] for report in model_cache.contents()] == ["fp16", "fp32"]
    sizes = [report["bytes"] for report in model_cache.contents()]
    assert sizes[1] - sizes[0] == 2 * loaded["fp32"].facts.n_parameters


def test_a_head_that_was_not_published_is_missed_only_by_who_asks_it(tmp_path: Path) -> None:
    path = tiny_models.bert(tmp_path / "bert")
    model = AutoModel.from_pretrained(path)
    config = json.loads((path / "config.json").read_text())
    model.save_pretrained(path)
    (path / "config.json").write_text(json.dumps({**config, "architectures": ["BertForMaskedLM"]}))
    model_cache = ModelCache()
    loaded = model_cache.load(str(path), None, "encode", "fp32")
    assert torch.equal(loaded.model.embeddings.word_embeddings.weight, model.embeddings.word_embeddings.weight)
    with pytest.raises(ModelError, match=r"lack .* parts that a BertForMaskedLM needs"):
        model_cache.load(str(path), None, "masked", "fp32")


def test_the_models_in_memory_make_room_for_one_that_the_device_has_no_room_for(
    directories: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model_cache = ModelCache()
    model_cache.load(directories[0], None, "encode", "fp32")
    needed = budget_of(model_cache.describe(directories[1], None).facts, "fp32").total
    monkeypatch.setattr(
        placement,
        "free_memory",  # of the device: none while the first model is there
        lambda device: needed if not model_cache.held else needed - 1,
    )
    model_cache.load(directories[1], None, "encode", "fp32")
    assert [report["name"] for report in model_cache.contents()] == [directories[1]]
    monkeypatch.setattr(placement, "free_memory", lambda device: needed - 1)
    with pytest.raises(ModelError, match=r"does not fit into the free memory .* of cpu\): it takes .* in fp32: "):
        model_cache.load(directories[2], None, "encode", "fp32")
    assert not model_cache.held
