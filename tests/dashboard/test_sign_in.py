"""Links that are opened before the sign-in: what is kept of them, and where they lead afterwards."""

from __future__ import annotations

import base64
import re
import zlib

import numpy as np
import pytest

from dashboard import sign_in
from dashboard.shared import session
from engine.errors import AccessError
from engine.messages.message import Message
from tests.support import page_visits


def packed(json: str) -> str:
    return base64.urlsafe_b64encode(zlib.compress(json.encode())).decode()


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
    assert re.fullmatch(
        "[A-Za-z0-9_-]{9,3600}", kept[sign_in.COOKIE]
    )  # browsers keep 4096 bytes with name and attributes


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        "clusters",
        "%",
        "あ",
        *(
            packed(json)
            for json in (
                "1",
                "[]",
                '["home", 1]',
                "[[], {}]",
                '["home", [5]]',
                '["home", {"a": ["\\ud800"]}]',
                "[" * 100_000,
            )
        ),
    ],
)
def test_a_cookie_of_others_leads_nowhere(cookie: str) -> None:
    assert sign_in.target_of(cookie) is None
