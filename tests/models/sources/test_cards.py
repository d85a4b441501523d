import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.models.sources import cards
from engine.models.sources.cards import (
    BUILT_IN,
    built_in_directory,
    built_in_models,
    first_built_in,
    held_out_figures,
    language_of,
    training_record,
)

ROOT = Path(__file__).parents[3]
HELD_OUT = {
    "builtin/bert-mini-ja": {
        "documents": 3,
        "masked_accuracy": 0.375,
        "masked_nats": 3.0,
        "n_masked": 1000,
        "mask_only_accuracy": 0.3125,
        "mask_only_nats": 3.25,
        "n_mask_only": 1000,
    },
    "builtin/gpt2-mini-ja": {"documents": 3, "nats_per_token": 4.5, "nats_per_character": 3.0, "n_tokens": 1000},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Built-in models as the pretraining command leaves them, but for the weights."""
    monkeypatch.setattr(cards, "FOLDER", tmp_path)
    for name, held_out in HELD_OUT.items():
        directory = tmp_path / name.removeprefix("builtin/")
        directory.mkdir()
        (directory / "config.json").write_text("{}")
        (directory / "pretraining.json").write_text(json.dumps({"parameters": 7, "held_out": held_out}))
    return tmp_path


def test_every_card_is_found_under_its_name() -> None:
    assert set(HELD_OUT) < set(BUILT_IN)
    assert all(name == card.name and card.label and card.description for name, card in BUILT_IN.items())
    assert first_built_in("masked", "causal") == ("builtin/bert-mini-ja", "builtin/gpt2-mini-ja")
    assert built_in_models() == tuple(BUILT_IN) == built_in_models("masked", "causal")
    assert first_built_in("masked", "causal", language="en") == ("builtin/bert-mini-en", "builtin/gpt2-mini-en")
    assert {*built_in_models(language="ja"), *built_in_models(language="en")} == set(BUILT_IN)
    assert language_of("builtin/gpt2-mini-en") == "en" and language_of("owner/any") == "ja"
    assert all(BUILT_IN[name].kind == "causal" for name in built_in_models("causal"))


def test_the_held_out_figures_are_the_records_own(folder: Path) -> None:
    figures = held_out_figures("builtin/bert-mini-ja")
    assert [(figure.value, figure.better) for figure in figures] == [
        (0.375, "higher"),
        (0.3125, "higher"),
        (3.25, "lower"),
    ]
    assert [(figure.value, figure.unit) for figure in held_out_figures("builtin/gpt2-mini-ja")] == [
        (4.5, "nats per token"),
        (3.0, "nats per character"),
    ]
    assert training_record("builtin/bert-mini-ja")["parameters"] == 7


def test_a_model_that_is_not_there_is_an_error(folder: Path) -> None:
    with pytest.raises(ModelError, match=r"no built-in model 'bert'\. The built-in models are builtin/bert-mini-ja, "):
        built_in_directory("bert")
    (folder / "bert-mini-ja" / "pretraining.json").write_text("{")
    with pytest.raises(ModelError, match=r"training record .* cannot be read"):
        held_out_figures("builtin/bert-mini-ja")
    (folder / "bert-mini-ja" / "config.json").unlink()
    with pytest.raises(ModelError, match="missing from this installation"):
        built_in_directory("builtin/bert-mini-ja")


def test_cards_facts_and_locations_need_no_torch() -> None:
    script = (
        "import sys; "
        "from engine.models.sources import cards, facts, model_files, model_location, paper_cards, recipe_files; "
        "print({'torch', 'transformers', 'numpy', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, text=True, capture_output=True, check=True)
    assert done.stdout.strip() == "set()"
