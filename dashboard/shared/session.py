"""The viewer of a page, and the engine's handle: one for the whole server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import streamlit as st

from engine.errors import AccessError, InputError, RunError
from engine.messages.message import Message, list_of
from engine.runs import open as opening
from engine.runs.access import browsers as browser_cookies
from engine.runs.access.access import RunAccess
from engine.runs.access.browsers import Browsers
from engine.runs.access.datasets import DatasetAccess
from engine.runs.access.viewers import LOCAL, Viewer

SIGN_IN_HEADER = "X-Hakari-Sign-In"  # of `dashboard.serving.sign_in_cookies`
TABS_HEADER = "X-Hakari-Most-Tabs"  # of `dashboard.serving.tab_bounds`, where a tab is one too many
# What Streamlit's sign-in needs of [auth]; it finds out at the press of the button.
REGISTRATION = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")


_given: opening.Engine | None = None  # by a command that draws pages without a server


def is_of_command() -> bool:
    """Whether a command draws the pages, for nobody's browser."""
    return _given is not None


def engine() -> opening.Engine:
    """The engine, opened at the first visit and shared by all sessions."""
    return _given or _opened()


@st.cache_resource(show_spinner=False, on_release=lambda engine: engine.close())
def _opened() -> opening.Engine:
    return opening.open_engine()


@contextmanager
def of_command(opened: opening.Engine) -> Iterator[None]:
    """Let the pages that are drawn in the block, in this process without a server, use the engine of a command."""
    global _given
    _given = opened
    try:
        yield
    finally:
        _given = None


@st.cache_resource(show_spinner=False)
def browsers() -> Browsers:
    """The browsers of this instance. Raises InputError when its secret cannot be read or written."""
    return browser_cookies.browsers(engine().data_dir)


def hosted() -> bool:
    """Whether this is a team's instance, with sign-in; without it each browser has its own list of runs."""
    return engine().configuration.hosted


def opens_by_link() -> bool:
    """Whether whoever has the link of a run may read it: nobody signs in, and no sign-in is set up."""
    return not hosted() and not (st.secrets.load_if_toml_exists() and "auth" in st.secrets)


def signed_in() -> bool:
    """Whether the browser holds a valid sign-in that has not ended, of a member or not."""
    membership, key = engine().membership, st.context.headers.get(SIGN_IN_HEADER)
    return bool(st.user.get("is_logged_in")) and (membership is None or key is None or membership.is_open(key))


def viewer() -> Viewer:
    """The viewer; identified anew at every run of a page, so that who is no member any more is refused at once.

    Without sign-in it is the browser, by its signed cookie, or LOCAL where it sends none. Raises AccessError for
    somebody who is not signed in, whose sign-in has ended, or who is no member;
    InputError when members and sign-in are not set up together; RunError for a tab too many.
    """
    if _given is not None:  # as `is_of_command`, for the types
        return of_operator(_given)
    if most := st.context.headers.get(TABS_HEADER):
        raise RunError(
            Message(
                "Too many tabs of this instance are open: it draws {most} of one user, or of one address before the "
                "sign-in. Close some and load this one again.",
                most=most,
            )
        )
    membership = engine().membership
    can_sign_in = "is_logged_in" in st.user
    if membership is None:
        if can_sign_in:
            raise InputError(
                Message(
                    "Sign-in is set up, but nobody is a member yet. Name the members in "
                    "HAKARI_ALLOWED_EMAILS, HAKARI_ALLOWED_DOMAINS or HAKARI_MEMBERS_FILE (* for "
                    "everybody the provider signs in) and start again."
                )
            )
        issued = browsers()
        return issued.viewer(str(st.context.cookies.get(issued.cookie_name, ""))) or LOCAL
    if not can_sign_in:
        raise InputError(
            Message(
                "Members are named, but there is no way to sign in. Set up [auth] in "
                ".streamlit/secrets.toml (deploy/secrets.toml.example shows it) and start again."
            )
        )
    if not st.user.get("is_logged_in"):
        if missing := [key for key in REGISTRATION if not st.secrets["auth"].get(key)]:
            raise InputError(
                Message(
                    "The sign-in is not set up completely: [auth] in Streamlit's secrets has no "
                    "value for {missing}. Fill it in (deploy/secrets.toml.example says what each is) "
                    "and start again.",
                    missing=list_of(missing),
                )
            )
        raise AccessError(Message("Sign in to use this instance."))
    key = st.context.headers.get(SIGN_IN_HEADER)
    if key is None:
        raise InputError(
            Message(
                "Members sign in to the server of dashboard/server.py. Start it with "
                "python -m streamlit run dashboard/server.py."
            )
        )
    return membership.viewer(st.user.to_dict(), key)


def of_operator(opened: opening.Engine) -> Viewer:
    """Who a command reads as: with sign-in the runs that are shared with the team, without it those of all browsers."""
    return replace(LOCAL, signed_in=opened.membership is not None)


def sign_out_everywhere() -> None:
    """End every sign-in of the viewer, on all devices. Raises what `viewer` raises."""
    membership = engine().membership
    if membership is not None:
        membership.end_everywhere(viewer())


def access() -> RunAccess:
    """The runs as the viewer may see and change them. Raises what `viewer` raises."""
    return engine().access(viewer())


def datasets() -> DatasetAccess:
    """The kept data sets as the viewer may see and change them. Raises what `viewer` raises."""
    return DatasetAccess(access())
