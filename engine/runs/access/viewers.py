"""Viewers (a member of the team, or the local user), and who is a member of a hosted instance."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import AccessError
from engine.messages.message import Message
from engine.runs.access.look_alikes import is_ambiguous, normalized_address
from engine.runs.storage.members import Account

LOCAL_ID = "local"  # owner of the runs of a browser without a cookie and of earlier versions; everybody may change them
MEMBER_PREFIX = "member:"  # of the owner of a member's runs
EVERYONE = "*"
ADDRESS = re.compile(r"[^@\s,;]+@[^@\s,;]+")


@dataclass(frozen=True)
class Viewer:
    """A user: `id` (owner of runs), `name` and `address` (for display).

    id: of a member, made of issuer and subject of the sign-in (`member_id`); without sign-in, that of a browser
    (`engine.runs.access.browsers`), or LOCAL_ID. signed_in: False on an instance without sign-in, where everybody reads
    every run that was started without sign-in.
    """

    id: str
    name: str = ""
    is_admin: bool = False
    signed_in: bool = True
    address: str = ""


LOCAL = Viewer(LOCAL_ID, signed_in=False)


@dataclass(frozen=True)
class Identity:
    """A member as a sign-in names it. former_owners: the owners by which earlier versions knew it, its address."""

    viewer: Viewer
    account: Account
    former_owners: tuple[str, ...]


@dataclass(frozen=True)
class Members:
    """Who is a member of a hosted instance, by normalized e-mail addresses.

    addresses: single users. domains: all users of a domain ("example.org"), "*" for all who can sign in.
    admins: members with administrator rights. unverified: whether a token without `email_verified` is accepted, from a
    provider that gives out verified addresses only and does not say so.
    """

    addresses: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()
    unverified: bool = False

    def include(self, others: Members) -> bool:
        """Whether these name all that others name."""
        return others.addresses <= self.addresses and others.domains <= self.domains and others.admins <= self.admins

    def identify(self, claims: Mapping[str, object]) -> Identity:
        """The member with the claims of an identity token.

        claims: OIDC's standard claims. `iss` and `sub` say who it is; `email`, whose `email_verified` must be true,
        says whether it is a member. Called at every page view, so a removed member is refused at the next one, even
        with a valid token. Raises AccessError, with the address in its message, for anybody else.
        """
        email = claims.get("email")
        raw_address = email.strip() if isinstance(email, str) else ""
        if not ADDRESS.fullmatch(raw_address) or not raw_address.isprintable():
            raise AccessError(
                Message(
                    "Your sign-in has no e-mail address, by which members are listed. Ask the "
                    "administrator to request the scope 'email' from the provider."
                )
            )
        issuer, subject = claims.get("iss"), claims.get("sub")
        if not (isinstance(issuer, str) and isinstance(subject, str) and issuer and subject):
            raise AccessError(
                Message(
                    "Your sign-in does not say which account it is (the claims iss and sub). Ask "
                    "the administrator to check the provider."
                )
            )
        self._require_verified(raw_address, claims)
        if is_ambiguous(raw_address):
            raise look_alike(raw_address)
        address = normalized_address(raw_address)
        if not self.admit(address):
            raise AccessError(
                Message(
                    "{address} is not a member of this instance. Ask the administrator to add the "
                    "address, or sign in with another one.",
                    address=address,
                )
            )
        is_listed = address in self.admins or address in self.addresses
        if not is_listed and not address.partition("@")[0].isascii():
            raise look_alike(raw_address)  # of another member of the domain
        account = Account(member_id(issuer, subject), issuer, subject, address, raw_address)
        viewer = Viewer(
            account.id, str(claims.get("name") or raw_address.lower()), address in self.admins, address=raw_address
        )
        return Identity(viewer, account, (raw_address.lower(), address))

    def admit(self, address: str) -> bool:
        """Whether the owner of a normalized address is a member."""
        domain = address.rpartition("@")[2]
        return address in self.admins or address in self.addresses or domain in self.domains or EVERYONE in self.domains

    def _require_verified(self, address: str, claims: Mapping[str, object]) -> None:
        verified = claims.get("email_verified")
        if verified is True or (verified is None and self.unverified):
            return
        raise AccessError(
            Message(
                "Your provider does not say whether it has verified the address {address} (its claim "
                "email_verified has to be true). Verify it there and sign in again, or ask the administrator.",
                address=address,
            )
            if verified is None
            else Message(
                "Your provider has not verified the address {address} (its claim email_verified has to be true). "
                "Verify it there and sign in again, or ask the administrator.",
                address=address,
            )
        )


def member_id(issuer: str, subject: str) -> str:
    """The owner of the runs of an account; the same for the same account whatever its address becomes.

    >>> member_id("https://accounts.example", "17")
    'member:cf5168866576d4f64bb3ea78c4a0042a'
    """
    return MEMBER_PREFIX + hashlib.sha256(f"{issuer}\n{subject}".encode()).hexdigest()[:32]


def look_alike(address: str) -> AccessError:
    """The refusal of an address that can be taken for another."""
    return AccessError(
        Message(
            "The address {address} has characters that can be taken for others ({address!a}). Sign "
            "in with another one, or ask the administrator to add exactly this address.",
            address=address,
        )
    )
