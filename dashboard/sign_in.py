"""Sign-in to a team's instance: a button for who is not signed in, the reason for who is no member; links survive it.

A provider sends everybody back to the home page. So the requested link is put into a cookie of the browser while the
button is shown, and followed once after the return.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode

import streamlit as st

from dashboard import pages
from dashboard.script_cookie import set_cookie
from dashboard.shared import session
from dashboard.shared.wording import show_error, verbatim
from engine.errors import AccessError
from engine.messages.languages import tr
from engine.runs.access.viewers import Viewer

COOKIE = "hakari_next"
COOKIE_SECONDS = 900
MOST_BYTES = 100_000  # of a link that is unpacked
FOLLOWED = "sign-in-followed"


@dataclass(frozen=True)
class Visitor:
    """Who opened the page: a viewer, or the error why there is none."""

    viewer: Viewer | None
    refused: AccessError | None = None

    @property
    def admitted(self) -> bool:
        """Whether the pages are open to them."""
        return self.viewer is not None

    @property
    def id(self) -> str:
        """The id of the viewer, "" for nobody."""
        return self.viewer.id if self.viewer is not None else ""


def visitor() -> Visitor:
    """Who opened the page; InputError when sign-in and members are not set up together."""
    try:
        return Visitor(session.viewer())
    except AccessError as error:
        return Visitor(None, error)


def admit(visitor: Visitor, page: st.Page) -> bool:
    """Whether the page may be shown; otherwise the sign-in panel, with the reason of a refusal, was drawn instead."""
    if visitor.viewer is None:
        _sign_in_panel(page, visitor.refused if session.signed_in() else None)
        return False
    if session.hosted() and not session.is_of_command():  # which has no browser
        _follow_link(page)
        _account_line(visitor.viewer)
    return True


def link_of(page: str, parameters: Mapping[str, Sequence[str]]) -> str:
    """A link within the dashboard as the cookie holds it: a page's name and its query, packed, because a browser keeps no
    cookie of more than 4 KiB and an address spells a kana in nine characters.

    >>> target_of(link_of("clusters", {"run": ["a b"], "hide": ["x", ""]}))
    ('clusters', {'run': ['a b'], 'hide': ['x', '']})
    """
    link = f"{page}?{urlencode(parameters, doseq=True)}"
    return base64.urlsafe_b64encode(zlib.compress(link.encode(), 9)).decode().rstrip("=")


def target_of(cookie: str) -> tuple[str, dict[str, list[str]]] | None:
    """Page and query of a link from the cookie; None when it names no page of the dashboard, or others have set it.

    >>> target_of(link_of("https://evil.example", {})), target_of("clusters")
    (None, None)
    """
    unpacker = zlib.decompressobj()
    try:
        packed = base64.urlsafe_b64decode(cookie + "=" * (-len(cookie) % 4))
        name, _, query = unpacker.decompress(packed, MOST_BYTES).decode().partition("?")
    except (ValueError, zlib.error):
        return None
    page_names = {page.name for section in pages.SECTIONS.values() for page in section}
    is_whole = unpacker.eof and name in page_names
    return (name, parse_qs(query, keep_blank_values=True)) if is_whole else None


def _sign_in_panel(page: st.Page, refused: AccessError | None) -> None:
    parameters = {key: st.query_params.get_all(key) for key in st.query_params}
    if page.url_path or parameters:
        set_cookie(COOKIE, link_of(page.url_path or "home", parameters), COOKIE_SECONDS)
    with st.container(horizontal_alignment="center"), st.container(border=True, width=460):
        st.title("Hakari", anchor=False)  # untranslated
        if refused is None:
            st.markdown(
                tr(
                    "Evaluate language models with your team. Your sentences and results are private until you "
                    "share a run."
                )
            )
            if page.url_path:
                st.caption(tr("After signing in you go on to the page you asked for."))
            if st.button(tr("Sign in"), type="primary", key="sign-in", icon=":material/login:"):
                st.login()
        else:
            show_error(refused)
            if st.button(tr("Sign in with another account"), key="sign-out", icon=":material/logout:"):
                st.logout()


def _follow_link(page: st.Page) -> None:
    link = st.context.cookies.get(COOKIE)
    if link and not st.session_state.get(FOLLOWED):
        st.session_state[FOLLOWED] = True
        target = target_of(link)
        if target is not None and not page.url_path:
            name, parameters = target
            st.switch_page(pages.path(name), query_params=parameters)
    if link:
        set_cookie(COOKIE, "", 0)


def _account_line(viewer: Viewer) -> None:
    with st.sidebar:
        st.caption(f":material/person: {verbatim(viewer.name)}", help=verbatim(viewer.address))  # untranslated
        if st.button(tr("Sign out"), key="sign-out", type="tertiary", icon=":material/logout:"):
            st.logout()
        if st.button(
            tr("Sign out everywhere"),
            key="sign-out-everywhere",
            type="tertiary",
            icon=":material/devices:",
            help=tr("Ends your sign-ins in all browsers, within seconds also on pages that are open there."),
        ):
            session.sign_out_everywhere()
            st.logout()
