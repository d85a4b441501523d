"""Looking for models by name: on this machine, and on a hub that a fake stands for."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from huggingface_hub.errors import OfflineModeIsEnabled
from safetensors.numpy import save_file

from engine.errors import ModelError
from engine.models.loading.architecture import kind_of
from engine.models.sources.allowed_models import AllowedModels
from engine.models.sources.cards import BUILT_IN, built_in_directory, training_record
from engine.models.sources.hub import search
from engine.models.sources.hub.search import LISTED, described, on_hub, on_this_machine, published_kind
from engine.models.sources.paper_cards import PAPER_CARDS

EVERYTHING = AllowedModels()


class FakeHub:
    """`HfApi` as far as it is asked, with two models; the arguments of the last call are kept."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.asked = error, dict[str, Any]()

    def list_models(self, **arguments: Any) -> list[SimpleNamespace]:
        self.asked = arguments
        if self.error is not None:
            raise self.error
        return [
            SimpleNamespace(
                id="owner/bert",
                tags=["ja", "license:cc-by-sa-4.0"],
                config={"architectures": ["BertForMaskedLM"], "model_type": "bert"},
                safetensors=SimpleNamespace(parameters={"F32": 100_000_000, "I64": 512}),
            ),
            SimpleNamespace(
                id="other/llama",
                tags=[],
                config={"architectures": ["LlamaForCausalLM"]},
                safetensors=SimpleNamespace(parameters={"BF16": 1_000_000_000}),
            ),
            SimpleNamespace(id="owner/unknown", tags=None, config=None, safetensors=None),
        ]


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    directory = built_in_directory("builtin/bert-mini-ja")
    monkeypatch.setattr(search, "cached_snapshots", lambda: [("cached/bert", directory)])


def test_the_hub_says_kind_size_licence_and_memory() -> None:
    hub = FakeHub()
    bert, llama, unknown = on_hub(" bert ", EVERYTHING, hub)
    assert hub.asked["search"] == "bert" and hub.asked["limit"] == LISTED and hub.asked["sort"] == "downloads"
    assert (bert.name, bert.source, bert.kind, bert.license) == ("owner/bert", "hub", "masked", "cc-by-sa-4.0")
    assert (bert.n_parameters, bert.n_bytes) == (100_000_512, 4 * 100_000_512)
    # On a CPU it is computed in float32: the weights at least.
    assert bert.memory is not None and 4 * 100_000_512 <= bert.memory < 5 * 100_000_512
    assert (llama.kind, llama.license, llama.n_bytes) == ("causal", "", 2 * 10**9)
    assert llama.memory == 4 * 10**9  # what the hub says of it is its weights alone
    assert unknown == search.Match("owner/unknown", "hub")


def test_only_what_may_be_named_is_listed(tmp_path: Path) -> None:
    allowed = AllowedModels(("owner/*",), (tmp_path,), any_path=False)
    assert [match.name for match in on_hub("", allowed, FakeHub())] == ["owner/bert", "owner/unknown"]
    (tmp_path / "mine-bert").mkdir()
    (tmp_path / "mine-bert" / "config.json").write_text("{}")
    names = [match.name for match in on_this_machine("BERT", allowed)]
    assert str(tmp_path / "mine-bert") in names and "builtin/bert-mini-ja" in names and "cached/bert" not in names
    assert not [name for name in names if name.startswith("paper/")]


@pytest.mark.parametrize("error", [ConnectionError("no route"), OfflineModeIsEnabled("offline"), TimeoutError("late")])
def test_a_hub_that_cannot_be_reached_is_told_in_words(error: Exception) -> None:
    with pytest.raises(ModelError, match=r"cannot be searched from here .*Models of this machine are listed"):
        on_hub("bert", EVERYTHING, FakeHub(error))


def test_models_of_this_machine_by_name_and_label() -> None:
    everything = on_this_machine("", EVERYTHING)
    assert {match.name for match in everything} == {*BUILT_IN, *PAPER_CARDS, "cached/bert"}
    assert [match.name for match in on_this_machine("32k", EVERYTHING)] == ["builtin/bert-mini-ja-32k"]
    tohoku = [match.name for match in on_this_machine("tohoku", EVERYTHING)]
    assert "paper/tohoku-univ" in tohoku and not [name for name in tohoku if name in BUILT_IN]
    assert on_this_machine("no such model", EVERYTHING) == []


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_a_directory_says_what_its_record_says(name: str) -> None:
    match = described(name, "built-in", built_in_directory(name))
    assert (match.kind, match.problem) == (BUILT_IN[name].kind, "")
    assert match.n_parameters == training_record(name)["parameters"] and match.memory is not None
    assert match.n_bytes == (built_in_directory(name) / "model.safetensors").stat().st_size
    assert match.memory > 4 * match.n_parameters and match.license in ("cc0-1.0", "cc-by-sa-4.0")


def test_a_damaged_copy_is_listed_with_its_problem(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BertModel"]}))
    assert "no weights" in described("x", "directory", tmp_path).problem.lower()
    save_file({"a": np.zeros((2, 3), np.float32)}, tmp_path / "model.safetensors")
    assert described("x", "directory", tmp_path).n_parameters == 6
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 20)
    assert "damaged" in described("x", "directory", tmp_path).problem


@pytest.mark.parametrize(
    "architecture",
    [
        "BertForMaskedLM",
        "BertForPreTraining",
        "BertModel",
        "BertLMHeadModel",
        "RobertaForCausalLM",
        "GPT2LMHeadModel",
        "LlamaForCausalLM",
        "ElectraForPreTraining",
        "ElectraForMaskedLM",
        "XLNetLMHeadModel",
        "T5ForConditionalGeneration",
        "DebertaV2ForMaskedLM",
        "ModernBertForMaskedLM",
        "BertForSequenceClassification",
    ],
)
def test_the_kind_is_that_of_the_loaded_model(architecture: str) -> None:
    import transformers

    config = getattr(transformers, architecture).config_class(architectures=[architecture])
    assert published_kind(config.to_dict()) == kind_of(config)


def test_gguf_files_are_listed_by_the_name_that_they_are_inspected_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached, mine = tmp_path / "cached", tmp_path / "mine"
    for folder in (cached / "small", mine / "both"):
        folder.mkdir(parents=True)
    for path in (cached / "a.gguf", cached / "small/b.gguf", cached / "c-00001-of-00002.gguf", mine / "d.gguf"):
        path.write_bytes(b"GGUF")
    (cached / "config.json").write_text('{"model_type": "llama"}')  # of no model by itself
    (cached / "README.md").write_text("---\nlicense: mit\n---\n")
    for name in ("config.json", "model.safetensors", "e.gguf"):
        (mine / "both" / name).write_text("{}")
    monkeypatch.setattr(search, "cached_snapshots", lambda: [("owner/name", cached)])
    allowed = AllowedModels(("owner/*",), (mine,), any_path=False)
    found = {match.name: match for match in on_this_machine("", allowed) if match.source in ("directory", "cache")}
    both = str(mine / "both")
    assert {*found} == {
        "owner/name:a.gguf", "owner/name:small/b.gguf", str(mine / "d.gguf"), both, f"{both}/e.gguf"
    }  # fmt: skip
    first = found["owner/name:a.gguf"]
    assert (first.kind, first.license, first.n_bytes, first.problem) == ("causal", "mit", 4, "")
