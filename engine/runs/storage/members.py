"""The accounts of members, what they own, and their sign-ins."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from engine.errors import AccessError, InputError
from engine.messages.message import Message
from engine.runs.storage.schema import (
    CommentRow,
    KeptDatasetRow,
    MemberRow,
    PresetRow,
    RatingRow,
    RunRow,
    SignInRow,
    StarRow,
    VisitRow,
)
from engine.runs.storage.store import Store

SIGN_IN_DAYS = 30  # as long as the browser keeps the cookie


@dataclass(frozen=True)
class Account:
    """An account at an identity provider: issuer and subject say whose it is, the address is for display.

    id: the owner of its runs. address: normalized. shown_address: as the provider writes it.
    """

    id: str
    issuer: str
    subject: str
    address: str
    shown_address: str


@dataclass(frozen=True)
class SignIn:
    """A sign-in that has not ended: its account, and the address by which it is a member (None: it is none)."""

    account: str
    address: str | None


def bind(store: Store, account: Account, former_owners: Collection[str]) -> list[str]:
    """Record the account with its address, and give it what `former_owners` own; returns the ids of these runs.

    Raises AccessError when another account has the address.
    """
    try:
        with store.session() as session:
            holder = session.scalar(select(MemberRow).where(MemberRow.address == account.address))
            if holder is not None and holder.id != account.id:
                raise _taken(account)
            row = session.get(MemberRow, account.id) or MemberRow(
                id=account.id, issuer=account.issuer, subject=account.subject, created=datetime.now(UTC)
            )
            row.address, row.shown_address = account.address, account.shown_address
            session.add(row)
            return _transfer(session, set(former_owners) - {account.id}, account.id)
    except IntegrityError as error:  # another account took the address at the same time
        raise _taken(account) from error


def is_bound(store: Store, account: Account) -> bool:
    """Whether the account is recorded with its present address."""
    query = select(MemberRow).where(MemberRow.id == account.id)
    with store.session() as session:
        row = session.scalar(query)
        return row is not None and (row.address, row.shown_address) == (account.address, account.shown_address)


def every(store: Store) -> list[Account]:
    """All accounts that are recorded, by address."""
    with store.session() as session:
        return [
            Account(row.id, row.issuer, row.subject, row.address, row.shown_address)
            for row in session.scalars(select(MemberRow).order_by(MemberRow.address))
        ]


def shown_addresses(store: Store, owners: Collection[str]) -> dict[str, str]:
    """The addresses of those of the owners that are accounts."""
    query = select(MemberRow.id, MemberRow.shown_address).where(MemberRow.id.in_(owners))
    with store.session() as session:
        return {member_id: address for member_id, address in session.execute(query)}


def release(store: Store, account: Account, *, with_runs: bool) -> list[str]:
    """Forget an account, and end its sign-ins: another one may then sign in with its address.

    with_runs: what it owns goes to the address, and so to whoever signs in with it next; otherwise to nobody until the
    same account signs in again. Returns the ids of the runs that changed.
    """
    with store.session() as session:
        session.execute(delete(MemberRow).where(MemberRow.id == account.id))
        session.execute(delete(SignInRow).where(SignInRow.account == account.id))
        return _transfer(session, {account.id}, account.address) if with_runs else []


def start_sign_in(store: Store, key: str, sign_in: SignIn) -> None:
    """Record a sign-in; those that are too old go."""
    now = datetime.now(UTC)
    with store.session() as session:
        session.execute(delete(SignInRow).where(SignInRow.created < now - timedelta(days=SIGN_IN_DAYS)))
        session.merge(SignInRow(key=key, account=sign_in.account, address=sign_in.address, created=now))


def admit_sign_in(store: Store, key: str, address: str) -> None:
    """Record by which address the account of a sign-in is a member, one that was none before."""
    with store.session() as session:
        session.execute(
            update(SignInRow)
            .where(SignInRow.key == key)
            .values(address=address)
            .execution_options(synchronize_session=False)
        )


def sign_ins(store: Store, keys: Collection[str]) -> dict[str, SignIn]:
    """Those of the sign-ins that have not ended."""
    oldest = datetime.now(UTC) - timedelta(days=SIGN_IN_DAYS)
    query = select(SignInRow).where(SignInRow.key.in_(keys), SignInRow.created >= oldest)
    with store.session() as session:
        return {row.key: SignIn(row.account, row.address) for row in session.scalars(query)}


def member_sign_ins(store: Store) -> dict[str, SignIn]:
    """Every sign-in of a member that has not ended."""
    with store.session() as session:
        return {
            row.key: SignIn(row.account, row.address)
            for row in session.scalars(select(SignInRow).where(SignInRow.address.is_not(None)))
        }


def end_sign_ins(store: Store, *, keys: Collection[str] = (), account: str | None = None) -> int:
    """End these sign-ins, and all of an account; returns their number."""
    ends = SignInRow.key.in_(keys) if account is None else SignInRow.account == account
    with store.session() as session:
        return int(session.execute(delete(SignInRow).where(ends)).rowcount)  # type: ignore[attr-defined]


def _transfer(session: Session, owners: set[str], owner: str) -> list[str]:
    """Make `owner` the owner of what others own; returns the ids of the runs."""
    run_ids = list(session.scalars(select(RunRow.id).where(RunRow.owner.in_(owners))))
    session.execute(
        update(RunRow).where(RunRow.owner.in_(owners)).values(owner=owner).execution_options(synchronize_session=False)
    )
    for run_id in set(session.scalars(select(StarRow.run_id).where(StarRow.viewer.in_(owners)))):
        session.merge(StarRow(viewer=owner, run_id=run_id))
    session.execute(delete(StarRow).where(StarRow.viewer.in_(owners)))
    _transfer_presets(session, owners, owner)
    _transfer_ratings(session, owners, owner)
    session.execute(
        update(CommentRow)
        .where(CommentRow.author.in_(owners))
        .values(author=owner)
        .execution_options(synchronize_session=False)
    )
    session.execute(delete(VisitRow).where(VisitRow.viewer.in_(owners)))
    names = set(session.scalars(select(KeptDatasetRow.name).where(KeptDatasetRow.owner == owner)))
    kept = session.execute(
        select(KeptDatasetRow.set_id, KeptDatasetRow.name).where(KeptDatasetRow.owner.in_(owners)).distinct()
    ).all()
    for set_id, name in kept:
        free_name = _free(name, names)
        names.add(free_name)
        session.execute(
            update(KeptDatasetRow)
            .where(KeptDatasetRow.set_id == set_id)
            .values(owner=owner, name=free_name)
            .execution_options(synchronize_session=False)
        )
    return run_ids


def _transfer_presets(session: Session, owners: set[str], owner: str) -> None:
    taken = {(row.kind, row.name) for row in session.scalars(select(PresetRow).where(PresetRow.owner == owner))}
    for row in list(session.scalars(select(PresetRow).where(PresetRow.owner.in_(owners)))):
        name = _free(row.name, {name for kind, name in taken if kind == row.kind})
        taken.add((row.kind, name))
        session.add(PresetRow(owner=owner, kind=row.kind, name=name, settings=row.settings, created=row.created))
        session.delete(row)


def _transfer_ratings(session: Session, owners: set[str], owner: str) -> None:
    """Of an item that several of them rated the last score stays."""
    rows = session.scalars(select(RatingRow).where(RatingRow.rater.in_((*owners, owner))).order_by(RatingRow.created))
    last = {(row.run_id, row.question, row.item): (row.score, row.created) for row in rows}
    session.execute(delete(RatingRow).where(RatingRow.rater.in_((*owners, owner))))
    session.add_all(
        RatingRow(run_id=run_id, rater=owner, question=question, item=item, score=score, created=created)
        for (run_id, question, item), (score, created) in last.items()
    )


def _free(name: str, names: Collection[str]) -> str:
    """The name, with a number appended where it is one of `names`."""
    return next(
        candidate
        for number in range(1, len(names) + 2)
        if (candidate := name if number == 1 else f"{name} ({number})") not in names
    )


def _taken(account: Account) -> AccessError:
    return AccessError(
        Message(
            "The address {shown_address} belongs to another account that has signed in here. Sign "
            "in with that account, or ask the administrator to release the address "
            "(python -m engine members --release).",
            shown_address=account.shown_address,
        )
    )


def by_address(store: Store, address: str) -> Account:
    """The account with a normalized address. Raises InputError when none has signed in with it."""
    account = next((account for account in every(store) if account.address == address), None)
    if account is None:
        raise InputError(
            Message("Nobody has signed in as {address} yet. python -m engine members lists who has.", address=address)
        )
    return account
