"""Viewers (a member of the team, or the local user), and the membership of a hosted instance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import AccessError, InputError

LOCAL_ID = "local"
SAMPLES_ID = "samples"  # owner of the sample runs, which everybody may read
EVERYONE = "*"
ADDRESS = re.compile(r"[^@\s,;]+@[^@\s,;]+")


@dataclass(frozen=True)
class Viewer:
    """A user: `id` (owner of runs; an e-mail address in lower case), `name` (for display)."""

    id: str
    name: str = ""
    is_admin: bool = False


LOCAL = Viewer(LOCAL_ID)


@dataclass(frozen=True)
class Members:
    """The members of a hosted instance, by the e-mail address from their identity provider; all in lower case.

    addresses: single users. domains: all users of a domain ("example.org"), "*" for all who can sign in.
    admins: members with administrator rights.
    """

    addresses: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()

    def identify(self, claims: Mapping[str, object]) -> Viewer:
        """The member with the claims of an identity token.

        claims: OIDC's standard claims; `email` identifies the user, `email_verified` is checked if present. Called at
        every page view, so a removed member is refused at the next one, even with a valid token. Raises AccessError,
        with the address in its message, for anybody else.
        """
        address = str(claims.get("email") or "").strip().lower()
        if not ADDRESS.fullmatch(address):
            raise AccessError("Your sign-in has no e-mail address, which identifies a member. Ask the administrator "
                              "to request the scope 'email' from the provider.")
        if claims.get("email_verified") in (False, "false"):
            raise AccessError(f"Your provider has not verified the address {address}. Verify it there and sign in "
                              "again.")
        domain = address.partition("@")[2]
        is_admin = address in self.admins
        if not (is_admin or address in self.addresses or domain in self.domains or EVERYONE in self.domains):
            raise AccessError(f"{address} is not a member of this instance. Ask the administrator to add the address, "
                              "or sign in with another one.")
        return Viewer(address, str(claims.get("name") or address), is_admin)


def members(environment: Mapping[str, str]) -> Members | None:
    """The members of HAKARI_ALLOWED_EMAILS, HAKARI_ALLOWED_DOMAINS and HAKARI_ADMINS; None if all are empty.

    Each is a list separated by commas or white space. Raises InputError for an invalid entry.
    """
    addresses = _listed(environment, "HAKARI_ALLOWED_EMAILS")
    domains = frozenset(name.removeprefix("@") for name in _listed(environment, "HAKARI_ALLOWED_DOMAINS"))
    admins = _listed(environment, "HAKARI_ADMINS")
    if invalid := sorted(entry for entry in addresses | admins if not ADDRESS.fullmatch(entry)):
        raise InputError(f"HAKARI_ALLOWED_EMAILS and HAKARI_ADMINS list e-mail addresses; got {', '.join(invalid)}.")
    if invalid := sorted(entry for entry in domains if "@" in entry):
        raise InputError(f"HAKARI_ALLOWED_DOMAINS lists domains such as example.org; got {', '.join(invalid)}.")
    return Members(addresses, domains, admins) if addresses or domains or admins else None


def _listed(environment: Mapping[str, str], variable: str) -> frozenset[str]:
    return frozenset(environment.get(variable, "").replace(",", " ").lower().split())
