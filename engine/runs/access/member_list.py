"""The list of members of a hosted instance, from its environment and from a file that is read again when it changes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.errors import InputError
from engine.hosted import ADDRESSES, ADMINS, DOMAINS, MEMBERS_FILE, listed
from engine.messages.message import Message
from engine.runs.access.look_alikes import is_ambiguous, normalized_address, skeleton
from engine.runs.access.viewers import ADDRESS, EVERYONE, Members

ADMIN = "admin"
EMPTY_SECONDS = 60.0  # for which a file that is emptied changes nothing: sign-ins that end do not come back

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
        self._empty_since: float | None = None
        self._content = self._read()
        self._members = parsed_members(environment, self._content)

    def current(self) -> Members:
        """The members; the file is read again, and an invalid one leaves them as they were."""
        with self._lock:
            try:
                content = self._read()
                if not content.strip() and self._content.strip() and not self._is_settled():
                    raise InputError(
                        Message(
                            "The file of members {path} ({FILE_VARIABLE}) is empty. If it stays so for {seconds:.0f} "
                            "seconds, those it named are members no more.",
                            path=self._path,
                            FILE_VARIABLE=MEMBERS_FILE,
                            seconds=EMPTY_SECONDS,
                        )
                    )
                self._empty_since = None
                if content != self._content:
                    self._members, self._content = parsed_members(self._environment, content), content
                    logger.info("The list of members was read again.")
                self.fault = ""
            except InputError as error:
                if str(error) != self.fault:
                    logger.error("The file of members cannot be used; the previous members apply.")
                self.fault = str(error)
            return self._members

    def _is_settled(self) -> bool:
        """Whether the file has been empty for long: an editor that writes it anew empties it first."""
        now = time.monotonic()
        self._empty_since = now if self._empty_since is None else self._empty_since
        return now - self._empty_since >= EMPTY_SECONDS

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
                invalid=", ".join(invalid),
            )
        )
    if invalid := sorted(entry for entry in domains if "@" in entry):
        raise InputError(
            Message(
                "HAKARI_ALLOWED_DOMAINS lists domains such as example.org; got {invalid}.", invalid=", ".join(invalid)
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
                invalid=", ".join(map(ascii, invalid)),
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
