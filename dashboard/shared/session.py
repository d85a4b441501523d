"""The viewer of a page, and the engine's handle: one for the whole server."""

from __future__ import annotations

import streamlit as st

from engine.errors import AccessError, InputError
from engine.runs import open as opening
from engine.runs.access import browsers as browser_cookies
from engine.runs.access.access import RunAccess
from engine.runs.access.browsers import Browsers
from engine.runs.access.viewers import LOCAL, Viewer


@st.cache_resource(show_spinner=False, on_release=lambda engine: engine.close())
def engine() -> opening.Engine:
    """The engine, opened at the first visit and shared by all sessions."""
    return opening.open_engine()


@st.cache_resource(show_spinner=False)
def browsers() -> Browsers:
    """The browsers of this instance. Raises InputError when its secret cannot be read or written."""
    return browser_cookies.browsers(engine().data_dir)


def hosted() -> bool:
    """Whether this is a team's instance, with sign-in; without it each browser has its own list of runs."""
    return engine().configuration.hosted


def signed_in() -> bool:
    """Whether the browser holds a valid sign-in, of a member or not."""
    return bool(st.user.get("is_logged_in"))


def viewer() -> Viewer:
    """The viewer; identified anew at every run of a page, so that a former member is refused at once.

    Without sign-in it is the browser, by its signed cookie, or LOCAL where it sends none. Raises AccessError for
    somebody who is not signed in or no member, InputError when members and sign-in are not set up together.
    """
    members = engine().configuration.members
    can_sign_in = "is_logged_in" in st.user
    if members is None:
        if can_sign_in:
            raise InputError("Sign-in is set up, but nobody is a member yet. Name the members in HAKARI_ALLOWED_EMAILS "
                             "or HAKARI_ALLOWED_DOMAINS (* for everybody the provider signs in) and start again.")
        issued = browsers()
        return issued.viewer(str(st.context.cookies.get(issued.cookie_name, ""))) or LOCAL
    if not can_sign_in:
        raise InputError("Members are named, but there is no way to sign in. Set up [auth] in .streamlit/secrets.toml "
                         "(deploy/secrets.toml.example shows it) and start again.")
    if not signed_in():
        raise AccessError("Sign in to use this instance.")
    return members.identify(st.user.to_dict())


def access() -> RunAccess:
    """The runs as the viewer may see and change them. Raises what `viewer` raises."""
    return engine().access(viewer())
