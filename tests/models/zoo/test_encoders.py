"""Encoders, against plain transformers."""

from __future__ import annotations

import pytest

from tests.models.zoo import checks
from tests.models.zoo.kinds.encoders import ENCODERS
from tests.models.zoo.specimens import Specimen, build, names


@pytest.fixture(scope="module", params=ENCODERS, ids=names(ENCODERS))
def specimen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Specimen:
    return build(request.param, tmp_path_factory.mktemp("zoo") / "model")


def test_kind_and_tokens(specimen: Specimen) -> None:
    checks.check_facts_and_tokens(specimen)


@pytest.mark.usefixtures("mixed_batches")
def test_vectors_and_similarities(specimen: Specimen) -> None:
    checks.check_vectors(specimen)
