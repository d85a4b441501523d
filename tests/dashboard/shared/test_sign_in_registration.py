"""A sign-in whose registration at the provider is not filled in."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.shared import session

REGISTRATION = dict.fromkeys(session.REGISTRATION, "x")


def page() -> None:
    import streamlit as st

    from dashboard.shared import session
    from engine.errors import EngineError

    try:
        session.viewer()
    except EngineError as error:
        st.text(f"{type(error).__name__}: {error}")


@pytest.mark.parametrize(
    ("registration", "says"),
    [
        (REGISTRATION, "AccessError: Sign in to use this instance."),
        (
            {**REGISTRATION, "client_id": "", "cookie_secret": ""},
            "has no value for cookie_secret, client_id. Fill it in",
        ),
        ({"client_secret": "x"}, "has no value for redirect_uri, cookie_secret, client_id, server_metadata_url."),
    ],
)
def test_what_is_missing_is_said_before_anybody_signs_in(
    registration: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "user", {"is_logged_in": False})  # as a server with [auth] has it
    monkeypatch.setattr(session, "engine", lambda: SimpleNamespace(membership=object()))
    app = AppTest.from_function(page)
    app.secrets["auth"] = registration
    app.run()
    assert not app.exception and says in app.text[0].value
