"""Viewers (a member of the team, or the local user), and the membership of a hosted instance."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from engine.errors import AccessError, InputError

LOCAL_ID = "local"  # owner of the runs of a browser without a cookie and of earlier versions; everybody may change them
SAMPLES_ID = "samples"  # owner of the sample runs, which everybody may read
EVERYONE = "*"
ADDRESS = re.compile(r"[^@\s,;]+@[^@\s,;]+")


@dataclass(frozen=True)
class Viewer:
    """A user: `id` (owner of runs), `name` (for display).

    id: the e-mail address of a member in lower case; without sign-in, that of a browser
    (`engine.runs.access.browsers`), or LOCAL_ID. signed_in: False on an instance without sign-in, where everybody reads
    every run that was started without sign-in.
    """

    id: str
    name: str = ""
    is_admin: bool = False
    signed_in: bool = True


LOCAL = Viewer(LOCAL_ID, signed_in=False)


@dataclass(frozen=True)
class Members:
    """The members of a hosted instance, by the normalised e-mail address from their identity provider.

    addresses: single users. domains: all users of a domain ("example.org"), "*" for all who can sign in.
    admins: members with administrator rights. unverified: whether a token without `email_verified` is accepted, from a
    provider that gives out verified addresses only and does not say so.
    """

    addresses: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()
    unverified: bool = False

    def identify(self, claims: Mapping[str, object]) -> Viewer:
        """The member with the claims of an identity token.

        claims: OIDC's standard claims; `email` identifies the user, `email_verified` must be true. Called at every page
        view, so a removed member is refused at the next one, even with a valid token. Raises AccessError, with the
        address in its message, for anybody else.
        """
        email = claims.get("email")
        raw_address = email.strip() if isinstance(email, str) else ""
        if not ADDRESS.fullmatch(raw_address) or not raw_address.isprintable():
            raise AccessError("Your sign-in has no e-mail address, which identifies a member. Ask the administrator "
                              "to request the scope 'email' from the provider.")
        self._require_verified(raw_address, claims)
        if is_ambiguous(raw_address):
            raise _look_alike(raw_address)
        address = normalized_address(raw_address)
        local_part, _, domain = address.partition("@")
        is_admin = address in self.admins
        if not (is_admin or address in self.addresses):
            if domain not in self.domains and EVERYONE not in self.domains:
                raise AccessError(f"{address} is not a member of this instance. Ask the administrator to add the "
                                  "address, or sign in with another one.")
            if not local_part.isascii():  # it may look like the address of another member of the domain
                raise _look_alike(raw_address)
        own = raw_address.lower()  # as in the rows of earlier runs; nothing ambiguous is left that it could hide
        return Viewer(own, str(claims.get("name") or own), is_admin)

    def _require_verified(self, address: str, claims: Mapping[str, object]) -> None:
        verified = claims.get("email_verified")
        if verified is True or (isinstance(verified, str) and verified.strip().lower() == "true"):
            return
        if verified is None and self.unverified:
            return
        raise AccessError(
            f"Your provider does not say whether it has verified the address {address}. Verify it there and sign in "
            "again, or ask the administrator." if verified is None else
            f"Your provider has not verified the address {address}. Verify it there and sign in again, or ask the "
            "administrator.")


def members(environment: Mapping[str, str]) -> Members | None:
    """The members of HAKARI_ALLOWED_EMAILS, HAKARI_ALLOWED_DOMAINS and HAKARI_ADMINS; None if all are empty.

    Each is a list separated by commas or white space. HAKARI_UNVERIFIED_EMAILS=yes accepts tokens without
    `email_verified`. Raises InputError for an invalid entry.
    """
    addresses = _listed(environment, "HAKARI_ALLOWED_EMAILS")
    domains = frozenset(name.removeprefix("@") for name in _listed(environment, "HAKARI_ALLOWED_DOMAINS"))
    admins = _listed(environment, "HAKARI_ADMINS")
    if invalid := sorted(entry for entry in addresses | admins if not ADDRESS.fullmatch(entry)):
        raise InputError(f"HAKARI_ALLOWED_EMAILS and HAKARI_ADMINS list e-mail addresses; got {', '.join(invalid)}.")
    if invalid := sorted(entry for entry in domains if "@" in entry):
        raise InputError(f"HAKARI_ALLOWED_DOMAINS lists domains such as example.org; got {', '.join(invalid)}.")
    if invalid := sorted(entry for entry in addresses | admins | domains if is_ambiguous(entry)):
        raise InputError("The lists of members hold characters that look like others: "
                         f"{', '.join(map(ascii, invalid))}. Write these entries with plain letters.")
    unverified = environment.get("HAKARI_UNVERIFIED_EMAILS", "").strip().lower()
    if unverified not in ("", "yes", "no"):
        raise InputError(f"HAKARI_UNVERIFIED_EMAILS is yes or no; got {unverified!r}.")
    if not (addresses or domains or admins):
        return None
    lists = (frozenset(map(normalized_address, entries)) for entries in (addresses, domains, admins))
    return Members(*lists, unverified=unverified == "yes")  # type: ignore[arg-type, misc]


def normalized_address(text: str) -> str:
    """An address or a domain for comparison: NFKC, case folded, and the domain in its ASCII form.

    >>> normalized_address("Ann@LAB.example"), normalized_address("ann@bücher.example")
    ('ann@lab.example', 'ann@xn--bcher-kva.example')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    local_part, at, domain = folded.rpartition("@")
    if not domain.isascii():
        with suppress(UnicodeError):  # no name of a domain: it equals no other
            domain = domain.encode("idna").decode("ascii")
    return f"{local_part}{at}{domain}"


def is_ambiguous(text: str) -> bool:
    """Whether two different addresses become one by the comparison: a Kelvin sign for k, full-width letters, ß for ss.

    >>> is_ambiguous("\u212aen@lab.example"), is_ambiguous("Ken@lab.example"), is_ambiguous("斉藤@lab.example")
    (True, False, False)
    """
    if text.isascii():
        return False
    return unicodedata.normalize("NFKC", text) != text or text.casefold() != text.lower()


def _look_alike(address: str) -> AccessError:
    return AccessError(f"The address {address} has characters that can be taken for others ({address!a}). Sign in with "
                       "another one, or ask the administrator to add exactly this address.")


def _listed(environment: Mapping[str, str], variable: str) -> frozenset[str]:
    return frozenset(environment.get(variable, "").replace(",", " ").split())
