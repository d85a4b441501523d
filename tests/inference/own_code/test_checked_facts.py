"""Facts that a confined process says of its model: of the right types, or refused; what decides keys is computed outside."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import RunError
from engine.inference.own_code.checked_facts import checked_facts
from engine.models import worker
from engine.models.sources.facts import ModelFacts
from engine.models.sources.model_location import LocatedModel, locate
from engine.models.sources.own_code.own_code import OwnCode
from engine.models.sources.own_code.trusted import VARIABLE
from tests.inference.own_code import own_models
from tests.support import tiny_models

Case = tuple[dict[str, Any], LocatedModel, OwnCode]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """What a process would say of a model, here of the plain one with the same weights."""
    folder = tmp_path_factory.mktemp("models")
    plain = tiny_models.bert(folder / "plain")
    own = own_models.masked(plain, folder / "own")
    request = {"model": str(plain), "revision": None, "items": [""], "settings": {}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, own_models.allowed(own))
        located = locate(str(own))
    assert located.own_code is not None
    return worker.run_chunk("describe", request)[0], located, located.own_code


def test_facts_are_those_of_the_model_with_fingerprints_from_outside(case: Case) -> None:
    said, located, own_code = case
    facts = ModelFacts.from_dict(checked_facts(said, located, own_code))
    plain = ModelFacts.from_dict(said)
    assert (facts.n_parameters, facts.scripts, facts.token_check) == (
        plain.n_parameters,
        plain.scripts,
        plain.token_check,
    )
    assert (facts.fingerprint, facts.tokenizer_fingerprint) == (located.fingerprint, located.tokenizer_fingerprint)
    assert facts.fingerprint != plain.fingerprint and facts.path == str(located.path)
    assert facts.own_code == f"own@{own_code.entries[0].rpartition('@')[2]}"  # no directory of the server


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "scores"},
        {"kind": ["masked"]},
        {"device": "cuda:0"},
        {"n_layers": -1},
        {"n_layers": True},
        {"n_layers": "2"},
        {"has_mask": 1},
        {"latin_tokens": 1},
        {"architecture": "x" * 1_001},
        {"scripts": [["a"]]},
        {"scripts": ["a"] * 100_001},
        {"control_tokens": "abc"},
        {"token_check": {"file": "x"}},
        {"token_check": {"file": 1, "repaired": False, "n_texts": 0}},
        {"token_check": {"file": "x", "repaired": False, "n_texts": 0, "more": 1}},
        {"token_check": "x"},
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], case: Case) -> None:
    said, located, own_code = case
    with pytest.raises(RunError, match=r"What the own code of .* says of the model cannot be"):
        checked_facts({**said, **changes}, located, own_code)


@pytest.mark.parametrize("name", ["architecture", "n_layers", "token_check"])
def test_what_is_missing_is_refused(name: str, case: Case) -> None:
    said, located, own_code = case
    with pytest.raises(RunError, match=f"cannot be .*{name}"):
        checked_facts({key: value for key, value in said.items() if key != name}, located, own_code)
