"""What the table of families says is what the installed transformers makes of a configuration of each."""

from __future__ import annotations

import pytest
from transformers import CONFIG_MAPPING, AutoConfig

from engine.errors import ModelError
from engine.models.loading.architecture import architecture_of
from engine.models.loading.published_classes import known_architectures, refuse_diffusion
from engine.models.loading.quantised_weights import quantised_by
from engine.models.sources.hub.families import DIFFUSION, FAMILIES, GROUPS, OWN_CODE, Family, families_named

READ = [family for family in FAMILIES if family.kind is not None]
REFUSED = [family for family in FAMILIES if family.kind is None]


def name(family: Family) -> str:
    return family.name


@pytest.mark.parametrize("family", READ, ids=name)
def test_a_family_is_read_as_the_table_says(family: Family) -> None:
    config = AutoConfig.for_model(family.model_type, architectures=[family.architecture])
    if family.in_both_directions:
        config.is_causal = False
    architecture = architecture_of(config)
    assert (architecture.kind, architecture.has_decoder_head) == (family.kind, family.by_decoder)
    assert known_architectures("m", {"architectures": [family.architecture]}) == [family.architecture]
    settings = {"quantization_config": {"quant_method": family.quantised}} if family.quantised else {}
    assert quantised_by("m", settings) == family.quantised
    assert family.quantised == "" or "dequantised" in family.outcome


@pytest.mark.parametrize("family", REFUSED, ids=name)
def test_a_family_is_refused_as_the_table_says(family: Family) -> None:
    assert family.outcome.startswith("refused: ")
    if family.note == DIFFUSION:
        with pytest.raises(ModelError, match="diffusion language model"):
            refuse_diffusion("m", {"model_type": family.model_type})
    elif family.note == OWN_CODE:
        assert family.model_type not in CONFIG_MAPPING
    else:
        assert family.quantised
        with pytest.raises(ModelError, match="only the kernels of other packages"):
            quantised_by("m", {"quantization_config": {"quant_method": family.quantised}})


def test_each_group_has_families_and_each_name_is_one() -> None:
    assert {family.group for family in FAMILIES} == set(GROUPS)
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)


def test_families_are_found_by_name_or_example() -> None:
    assert [family.name for family in families_named("ruri")] == ["Ruri v3"]
    assert [family.name for family in families_named(" T5-BASE ")] == ["T5 (Retrieva)", "T5 baseline"]
    assert families_named("") == [] == families_named("no such family")
