"""The list of members of a hosted instance, from its environment and from a file that is read again when it changes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.errors import InputError
from engine.hosted import ADDRESSES, ADMINS, DOMAINS, MEMBERS_FILE, listed
from engine.messages.message import Message, list_of
from engine.runs.access.look_alikes import is_ambiguous, normalized_address, skeleton
from engine.runs.access.viewers import ADDRESS, EVERYONE, Members

ADMIN = "admin"
# For which a file that is emptied, and one that names somebody no more, has to stay as it is before it counts: an editor
# empties a file and writes it anew, a copy arrives in parts, and sign-ins that end do not come back.
EMPTY_SECONDS, SHORTER_SECONDS = 60.0, 3.0

logger = logging.getLogger(__name__)


class MemberList:
    """The members as they are listed now. Thread-safe.

    `fault`: why the file cannot be used at the moment, "" where it can; then the previous members apply.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Read the list. Raises InputError for an invalid entry, or a file that cannot be read."""
        self._environment = environment
        path = environment.get(MEMBERS_FILE, "").strip()
        self._path = Path(path).expanduser().absolute() if path else None
        self._lock = threading.Lock()
        self.fault = ""
        self._changed = "", 0.0  # what the file holds that does not count yet, and since when
        self._content = self._read()
        self._members = parsed_members(environment, self._content)

    def current(self) -> Members:
        """The members; the file is read again, and an invalid one leaves them as they were.

        Whom a changed file adds is a member at once; whom it names no more is one until it has stayed so for a while.
        """
        with self._lock:
            try:
                content = self._read()
                if content != self._content:
                    self._change(content)
                self.fault = ""
            except InputError as error:
                if str(error) != self.fault:
                    logger.error("The file of members cannot be used; the previous members apply.")
                self.fault = str(error)
            return self._members

    def _change(self, content: str) -> None:
        """Let a changed file count, if it has stayed as it is for long enough."""
        members = parsed_members(self._environment, content)
        is_emptied = not content.strip()
        if members.include(self._members) or self._is_settled(
            content, EMPTY_SECONDS if is_emptied else SHORTER_SECONDS
        ):
            self._members, self._content = members, content
            logger.info("The list of members was read again.")
        elif is_emptied:
            raise InputError(
                Message(
                    "The file of members {path} ({FILE_VARIABLE}) is empty. If it stays so for {seconds:.0f} "
                    "seconds, those it named are members no more.",
                    path=self._path,
                    FILE_VARIABLE=MEMBERS_FILE,
                    seconds=EMPTY_SECONDS,
                )
            )

    def _is_settled(self, content: str, seconds: float) -> bool:
        """Whether the file has held this content for so long."""
        now = time.monotonic()
        if self._changed[0] != content or not self._changed[1]:
            self._changed = content, now
        return now - self._changed[1] >= seconds

    def _read(self) -> str:
        if self._path is None:
            return ""
        try:
            return self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else Message("it is not UTF-8")
            raise InputError(
                Message(
                    "The file of members {path} ({FILE_VARIABLE}) cannot be read: {reason}.",
                    path=self._path,
                    FILE_VARIABLE=MEMBERS_FILE,
                    reason=reason,
                )
            ) from error


def parsed_members(environment: Mapping[str, str], file_content: str = "") -> Members:
    """The members of the environment and of a file.

    Each variable is a list separated by commas or white space. A line of the file is an address, a domain as
    `@example.org`, `*`, or `admin` and an address; `#` begins a comment. HAKARI_UNVERIFIED_EMAILS=yes accepts tokens
    without `email_verified`. Raises InputError for an invalid entry.
    """
    file_addresses, file_domains, file_admins = _entries_of(file_content)
    addresses = listed(environment, ADDRESSES) | file_addresses
    domains = {name.removeprefix("@") for name in listed(environment, DOMAINS)} | file_domains
    admins = listed(environment, ADMINS) | file_admins
    if invalid := sorted(entry for entry in addresses | admins if not ADDRESS.fullmatch(entry)):
        raise InputError(
            Message(
                "HAKARI_ALLOWED_EMAILS, HAKARI_ADMINS and the file of members list e-mail addresses; got {invalid}.",
                invalid=list_of(invalid),
            )
        )
    if invalid := sorted(entry for entry in domains if "@" in entry):
        raise InputError(
            Message(
                "HAKARI_ALLOWED_DOMAINS lists domains such as example.org; got {invalid}.", invalid=list_of(invalid)
            )
        )
    _refuse_look_alikes(addresses | admins, domains)
    unverified = environment.get("HAKARI_UNVERIFIED_EMAILS", "").strip().lower()
    if unverified not in ("", "yes", "no"):
        raise InputError(Message("HAKARI_UNVERIFIED_EMAILS is yes or no; got {unverified!r}.", unverified=unverified))
    lists = (frozenset(map(normalized_address, entries)) for entries in (addresses, domains, admins))
    return Members(*lists, unverified=unverified == "yes")  # type: ignore[arg-type, misc]


def _refuse_look_alikes(addresses: Iterable[str], domains: Iterable[str]) -> None:
    invalid = sorted(entry for entry in {*addresses, *domains} if is_ambiguous(entry))
    by_skeleton: dict[str, str] = {}
    for address in sorted(set(map(normalized_address, addresses))):
        other = by_skeleton.setdefault(skeleton(address), address)
        if other != address:
            invalid += [other, address]
    if invalid:
        raise InputError(
            Message(
                "The lists of members hold characters that look like others: {invalid}. Write these "
                "entries with plain letters.",
                invalid=list_of(map(ascii, invalid)),
            )
        )


def _entries_of(content: str) -> tuple[set[str], set[str], set[str]]:
    """Addresses, domains and administrators of the lines of a file. Raises InputError with the line that is wrong."""
    addresses: set[str] = set()
    domains: set[str] = set()
    admins: set[str] = set()
    for number, line in enumerate(content.splitlines(), 1):
        match line.partition("#")[0].split():
            case []:
                continue
            case [entry] if entry == EVERYONE or (entry.startswith("@") and len(entry) > 1):
                domains.add(entry.removeprefix("@"))
            case [entry] if ADDRESS.fullmatch(entry):
                addresses.add(entry)
            case [word, entry] if word.lower() == ADMIN and ADDRESS.fullmatch(entry):
                admins.add(entry)
            case _:
                raise InputError(
                    Message(
                        "Line {number} of the file of members ({FILE_VARIABLE}) is no entry: write "
                        "an address, @ and a domain, *, or admin and an address.",
                        number=number,
                        FILE_VARIABLE=MEMBERS_FILE,
                    )
                )
    return addresses, domains, admins
