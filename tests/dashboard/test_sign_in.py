"""Links that are opened before the sign-in: what is kept of them, and where they lead afterwards."""

from __future__ import annotations

import pytest

from dashboard import sign_in
from dashboard.shared import session
from engine.errors import AccessError
from engine.messages.message import Message
from tests.support import page_visits

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "backend")


def test_a_link_keeps_every_value_of_its_choices_through_the_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a choice of several values the last one alone was left, and an empty one was dropped."""
    kept: dict[str, str] = {}

    def refuse() -> None:
        raise AccessError(Message("Sign in to use this instance."))

    monkeypatch.setattr(session, "viewer", refuse)
    monkeypatch.setattr(session, "signed_in", lambda: False)
    monkeypatch.setattr(sign_in, "set_cookie", lambda name, value, seconds: kept.update({name: value}))
    page_visits.visit("clusters", run="0123", hide=["天気", "a&b"], search="")
    link = sign_in.target_of(kept[sign_in.COOKIE])
    assert link == ("clusters", {"run": ["0123"], "hide": ["天気", "a&b"], "search": [""]})
