"""Who is asking: a member of the team, or the one local user; and who is a member at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import AccessError, InputError

LOCAL_ID = "local"
SAMPLES_ID = "samples"  # owns the runs of the samples, which everybody may read
EVERYONE = "*"
ADDRESS = re.compile(r"[^@\s,;]+@[^@\s,;]+")


@dataclass(frozen=True)
class Viewer:
    """One person as the engine knows them: `id` owns runs (an address in lower case), `name` is for greeting."""

    id: str
    name: str = ""
    is_admin: bool = False


LOCAL = Viewer(LOCAL_ID)


@dataclass(frozen=True)
class Members:
    """Who may use a hosted instance, by the address that their provider vouches for; all in lower case.

    addresses: single persons. domains: everybody of these ("example.org"), "*" everybody the provider signs in.
    admins: members too.
    """

    addresses: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()

    def identify(self, claims: Mapping[str, object]) -> Viewer:
        """The member that the claims of an identity token speak of.

        claims: OIDC's standard claims; `email` decides, and `email_verified` where the provider sends it. It is
        asked at every page view, so whoever is taken off the list is refused at the next, whatever their token.
        Raises AccessError for anybody else, saying which address was seen.
        """
        address = str(claims.get("email") or "").strip().lower()
        if not ADDRESS.fullmatch(address):
            raise AccessError("Your sign-in tells no e-mail address, and members are known by theirs. Ask whoever runs "
                              "this instance to request the scope 'email' from the provider.")
        if claims.get("email_verified") in (False, "false"):
            raise AccessError(f"Your provider has not verified the address {address}. Verify it there and sign in "
                              "again.")
        domain = address.partition("@")[2]
        is_admin = address in self.admins
        if not (is_admin or address in self.addresses or domain in self.domains or EVERYONE in self.domains):
            raise AccessError(f"{address} is not a member of this instance. Ask whoever runs it to add the address, or "
                              "sign in with another one.")
        return Viewer(address, str(claims.get("name") or address), is_admin)


def members(environment: Mapping[str, str]) -> Members | None:
    """The members that HAKARI_ALLOWED_EMAILS, HAKARI_ALLOWED_DOMAINS and HAKARI_ADMINS name, None where none does.

    Each is a list separated by commas or white space. Raises InputError for an entry that cannot be one.
    """
    addresses = _listed(environment, "HAKARI_ALLOWED_EMAILS")
    domains = frozenset(name.removeprefix("@") for name in _listed(environment, "HAKARI_ALLOWED_DOMAINS"))
    admins = _listed(environment, "HAKARI_ADMINS")
    if wrong := sorted(one for one in addresses | admins if not ADDRESS.fullmatch(one)):
        raise InputError(f"HAKARI_ALLOWED_EMAILS and HAKARI_ADMINS list e-mail addresses; got {', '.join(wrong)}.")
    if wrong := sorted(one for one in domains if "@" in one):
        raise InputError(f"HAKARI_ALLOWED_DOMAINS lists domains such as example.org; got {', '.join(wrong)}.")
    return Members(addresses, domains, admins) if addresses or domains or admins else None


def _listed(environment: Mapping[str, str], variable: str) -> frozenset[str]:
    return frozenset(environment.get(variable, "").replace(",", " ").lower().split())
