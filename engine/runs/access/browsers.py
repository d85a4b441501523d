"""Browsers as owners of runs, on an instance without sign-in: an id in a signed cookie.

    cookie      <32 hexadecimal digits of the id>.<HMAC-SHA-256 of it under the secret of the instance>
    owner       browser:<id>

The signature keeps anybody from claiming an id that they saw somewhere; the id itself gives no rights. The secret is in
the data directory, readable by its owner alone.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import tempfile
import unicodedata
from pathlib import Path

from engine.errors import InputError, reason_of
from engine.messages.message import Message
from engine.runs.access.viewers import MEMBER_PREFIX, Viewer
from engine.runs.storage import listing
from engine.runs.storage.searching import BROWSER_PREFIX

_OF_NOBODY = (
    "browser",
    "ブラウザ",
    "everybody",
    "全員",
    "former member",
    "以前のメンバー",
)  # what those without a name are called
_ALIKE = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC")  # alphabets with letters of one look
# Of no width though they count as printable: fillers, variation selectors, a blank of Braille, the joiner of marks.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
SECRET_FILE = "browsers.key"  # in the data directory
SECRET_BYTES = 32
COOKIE = "hakari_browser"
COOKIE_VALUE = re.compile(r"([0-9a-f]{32})\.([0-9a-f]{64})")
SHOWN_DIGITS = 4


class Browsers:
    """The browsers of an instance: cookies are issued and checked under its secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @property
    def cookie_name(self) -> str:
        """The name of the cookie; instances on one host (browsers ignore the port) have different ones."""
        return f"{COOKIE}_{hashlib.sha256(self._secret).hexdigest()[:8]}"

    def issue(self) -> str:
        """The value of a cookie for a new browser."""
        browser_id = secrets.token_hex(16)
        return f"{browser_id}.{self._signature(browser_id)}"

    def viewer(self, cookie: str) -> Viewer | None:
        """The viewer whose browser sent the cookie; None for a value that this instance did not issue."""
        match = COOKIE_VALUE.fullmatch(cookie)
        if match is None or not hmac.compare_digest(match[2], self._signature(match[1])):
            return None
        return Viewer(f"{BROWSER_PREFIX}{match[1]}", signed_in=False)

    def _signature(self, browser_id: str) -> str:
        return hmac.new(self._secret, f"browser {browser_id}".encode(), hashlib.sha256).hexdigest()


def browsers(data_dir: Path) -> Browsers:
    """The browsers of the instance of a data directory, whose secret is made at the first call.

    Raises InputError when the secret cannot be written or read.
    """
    path = data_dir / SECRET_FILE
    try:
        if not path.exists():
            _write_secret(path)
        secret = path.read_bytes()
    except OSError as error:
        raise InputError(
            Message(
                "The secret of the instance, {path}, cannot be read or written: {error}. Correct the "
                "permissions of the data directory.",
                path=path,
                error=reason_of(error),
            )
        ) from error
    if len(secret) != SECRET_BYTES:
        raise InputError(
            Message(
                "The secret of the instance, {path}, has {secret} bytes instead of {SECRET_BYTES}. "
                "Delete it to have a new one made; browsers then start new lists, and all runs stay.",
                path=path,
                secret=len(secret),
                SECRET_BYTES=SECRET_BYTES,
            )
        )
    return Browsers(secret)


def default_name(owner: str) -> str:
    """What an owner of runs is called who has no name.

    >>> default_name("browser:3f2a99"), default_name("local"), default_name("ann@lab.example")
    ('Browser 3f2a', 'Everybody', 'ann@lab.example')
    >>> default_name("member:cf51688")
    'Former member cf51'
    """
    if owner.startswith(MEMBER_PREFIX):
        return Message("Former member {SHOWN_DIGITS}", SHOWN_DIGITS=owner.removeprefix(MEMBER_PREFIX)[:SHOWN_DIGITS])
    if owner.startswith(BROWSER_PREFIX):
        return Message("Browser {SHOWN_DIGITS}", SHOWN_DIGITS=owner.removeprefix(BROWSER_PREFIX)[:SHOWN_DIGITS])
    return "Everybody" if owner == "local" else owner


def passes_for_another(name: str) -> bool:
    """Whether readers could take a name that somebody chooses for what another is called, or for nobody's.

    Such are the names of those who have none, in both languages, and characters that are not seen or that look like
    those of another alphabet beside them. Two names that differ in such characters alone cannot be told apart either.

    >>> [passes_for_another(name) for name in ("Ann", "山田 Ken", "Аня", "Аnn", "Browser 3f2a", "ブラウザ3f2a", "A\u3164")]
    [False, False, False, True, True, True, True]
    """
    folded = listing.folded(name)
    alphabets = {
        alphabet for alphabet in _ALIKE if any(unicodedata.name(sign, "").startswith(alphabet) for sign in folded)
    }
    return (
        not name.isprintable()
        or bool(_UNSEEN.search(unicodedata.normalize("NFD", name)))
        or len(alphabets) > 1
        or folded.startswith(_OF_NOBODY)
    )


def _write_secret(path: Path) -> None:
    """Write a new secret, whole or not at all; of several processes the first one's stays."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".secret-")  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
        try:
            os.link(name, path)
        except FileExistsError:
            return
        except OSError:  # FAT and network drives have no hard links
            _write_new(path, Path(name).read_bytes())
    finally:
        os.unlink(name)


def _write_new(path: Path, content: bytes) -> None:
    """Write a file for its owner alone; one that is there stays."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
    except FileExistsError:
        return
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError:
        path.unlink(missing_ok=True)
        raise
