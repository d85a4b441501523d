"""Sign-ins of a hosted instance: who a visitor is, and when a sign-in ends.

A sign-in begins when the provider has confirmed an account, and is known by the SHA-256 of the cookie that the browser
then gets. It ends when its user signs out, or signs out everywhere, when the administrator ends it, when the account is
no longer a member, or after SIGN_IN_DAYS. From then on the cookie is worth nothing, whoever holds a copy of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from engine.errors import AccessError
from engine.messages.message import Message
from engine.runs.access.audit import AuditLog
from engine.runs.access.look_alikes import skeleton
from engine.runs.access.member_list import MemberList
from engine.runs.access.viewers import Identity, Viewer, look_alike, member_id
from engine.runs.storage import members
from engine.runs.storage.members import SignIn
from engine.runs.storage.store import Store


@dataclass(frozen=True)
class Membership:
    """The members of an instance and their sign-ins. Thread-safe.

    changed: called with the id of each run whose owner changed, when an account takes over what its address owned.
    """

    store: Store
    listed: MemberList
    audit: AuditLog = field(default_factory=AuditLog)
    changed: Callable[[str], None] = lambda run_id: None

    def viewer(self, claims: Mapping[str, object], key: str) -> Viewer:
        """The member with the claims of an identity token, whose sign-in has not ended.

        At an account's first sign-in it takes over what earlier versions recorded under its address. Raises AccessError
        for anybody else, and for an account whose address belongs to another one or looks like that of another member.
        """
        sign_in = members.sign_ins(self.store, [key]).get(key)
        if sign_in is None or sign_in.account != _account_of(claims):
            raise AccessError(Message("Your sign-in has ended. Sign in again."))
        identity = self.listed.current().identify(claims)
        if not members.is_bound(self.store, identity.account):
            self._bind(identity)
        if sign_in.address is None:  # listed after the sign-in
            members.admit_sign_in(self.store, key, identity.account.address)
        return identity.viewer

    def start(self, claims: Mapping[str, object], key: str) -> None:
        """Record a sign-in, of a member or not; who is no member is told why at each page."""
        account = _account_of(claims)
        if account is None:  # no page opens with such a token
            return
        try:
            identity = self.listed.current().identify(claims)
            self._bind(identity)
        except AccessError:
            members.start_sign_in(self.store, key, SignIn(account, None))
            self.audit.record("sign-in refused", Viewer(account, address=str(claims.get("email") or "")))
            return
        members.start_sign_in(self.store, key, SignIn(account, identity.account.address))
        self.audit.record("sign-in", identity.viewer)

    def is_open(self, key: str) -> bool:
        """Whether the sign-in has not ended, of a member or not."""
        return bool(members.sign_ins(self.store, [key]))

    def member_of(self, key: str) -> Viewer | None:
        """The member whose sign-in it is; None when it has ended or is of no member."""
        sign_in = members.sign_ins(self.store, [key]).get(key)
        if sign_in is None or sign_in.address is None or not self.listed.current().admit(sign_in.address):
            return None
        return Viewer(sign_in.account, address=sign_in.address)

    def end(self, key: str) -> None:
        """Sign out: end one sign-in."""
        sign_in = members.sign_ins(self.store, [key]).get(key)
        if sign_in is not None and members.end_sign_ins(self.store, keys=[key]):
            self.audit.record("sign-out", Viewer(sign_in.account, address=sign_in.address or ""))

    def end_everywhere(self, viewer: Viewer) -> int:
        """End every sign-in of a member; returns their number."""
        n_ended = members.end_sign_ins(self.store, account=viewer.id)
        self.audit.record("sign-out everywhere", viewer, sign_ins=n_ended)
        return n_ended

    def ended(self, keys: Collection[str]) -> set[str]:
        """Those of the keys whose sign-ins have ended, after ending those of accounts that are no longer members."""
        listed = self.listed.current()
        removed = {
            key: sign_in
            for key, sign_in in members.member_sign_ins(self.store).items()
            if sign_in.address is not None and not listed.admit(sign_in.address)
        }
        if removed and members.end_sign_ins(self.store, keys=removed):
            for account, address in sorted({(sign_in.account, sign_in.address or "") for sign_in in removed.values()}):
                self.audit.record("sign-ins ended: no longer a member", Viewer(account, address=address))
        return set(keys) - set(members.sign_ins(self.store, keys))

    def _bind(self, identity: Identity) -> None:
        account = identity.account
        own_skeleton = skeleton(account.shown_address)
        for other in members.every(self.store):
            if (
                other.id != account.id
                and other.address != account.address
                and (skeleton(other.shown_address) == own_skeleton)
            ):
                raise look_alike(account.shown_address)
        for run_id in members.bind(self.store, account, identity.former_owners):
            self.changed(run_id)


def _account_of(claims: Mapping[str, object]) -> str | None:
    """The id of the account of an identity token; None where the token names none."""
    issuer, subject = claims.get("iss"), claims.get("sub")
    if isinstance(issuer, str) and isinstance(subject, str) and issuer and subject:
        return member_id(issuer, subject)
    return None
