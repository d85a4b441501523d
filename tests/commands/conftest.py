"""A command speaks the language of its environment, whatever a page before it in the same process chose."""

from __future__ import annotations

import pytest

from engine.messages import languages


@pytest.fixture(autouse=True)
def language_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_chosen", languages._of_environment)
