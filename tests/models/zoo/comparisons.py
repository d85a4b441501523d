"""The tests of every kind of model. A module takes them over and names its kinds as COMPARED_KINDS (see `conftest`)."""

from __future__ import annotations

import pytest

from tests.models.zoo import checks
from tests.models.zoo.specimens import Specimen


def test_kind_and_tokens(specimen: Specimen) -> None:
    checks.check_facts_and_tokens(specimen)


@pytest.mark.usefixtures("mixed_batches")
def test_vectors_and_similarities(specimen: Specimen) -> None:
    checks.check_vectors(specimen)


@pytest.mark.usefixtures("mixed_batches")
def test_log_likelihoods(specimen: Specimen) -> None:
    {"masked": checks.check_masked, "causal": checks.check_causal}[specimen.kind.kind](specimen)
