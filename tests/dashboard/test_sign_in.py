"""Links that are opened before the sign-in: what is kept of them, and where they lead afterwards."""

from __future__ import annotations

import base64
import re
import zlib
from urllib.parse import urlencode

import numpy as np
import pytest

from dashboard import sign_in
from dashboard.shared import session
from engine.errors import AccessError
from engine.messages.message import Message
from tests.support import page_visits

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "backend")


def test_a_link_keeps_every_value_of_its_choices_through_the_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a choice of several values the last one alone was left, an empty one was dropped, and a long link was lost."""
    kept: dict[str, str] = {}

    def refuse() -> None:
        raise AccessError(Message("Sign in to use this instance."))

    monkeypatch.setattr(session, "viewer", refuse)
    monkeypatch.setattr(session, "signed_in", lambda: False)
    monkeypatch.setattr(sign_in, "set_cookie", lambda name, value, seconds: kept.update({name: value}))
    sentence = "".join(map(chr, np.random.default_rng(0).integers(0x4E00, 0x9000, 600)))  # of 600 kanji
    page_visits.visit("clusters", run="0123", hide=["天気", "a&b"], search="", text=sentence)
    link = sign_in.target_of(kept[sign_in.COOKIE])
    assert link == ("clusters", {"run": ["0123"], "hide": ["天気", "a&b"], "search": [""], "text": [sentence]})
    # A browser keeps 4096 bytes, name and attributes among them.
    assert re.fullmatch("[A-Za-z0-9_-]{9,3600}", kept[sign_in.COOKIE])


def packed(link: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(link)).decode()


@pytest.mark.parametrize(
    "cookie",
    [
        *(
            "",
            "clusters",
            "%",
            "あ",
            "clusters%3Frun%3Da",
            packed(b"\xff"),
            packed(b"home?a=1")[:-9],
            packed(b"else?a=1"),
        ),
        *(packed(b"home?" + b"a=1&" * 10_000_000), packed(b"[" * 100_000)),
    ],
)
def test_a_cookie_of_others_leads_nowhere(cookie: str) -> None:
    assert sign_in.target_of(cookie) is None


def test_what_is_no_letter_in_a_cookie_can_stand_in_an_address() -> None:
    target = sign_in.target_of(packed(b"home?a=%ED%A0%80"))  # half of a surrogate pair
    assert target is not None and urlencode(target[1], doseq=True)
