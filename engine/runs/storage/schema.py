"""The tables of the run store, as SQLAlchemy models for SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Float, ForeignKey, Index, Integer, String, Text, false
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

from engine.messages.earlier_texts import read_message
from engine.messages.message import Message, as_text


class UtcDateTime(TypeDecorator[datetime]):
    """A time, stored in UTC and always time-zone aware, also if the database does not support time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To the database: in UTC. Raises ValueError for a naive time."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(Message("A time needs a time zone; got {value!r}.", value=value))
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """From the database: aware, in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class MessageText(TypeDecorator[str]):
    """A message, with what it is made of; a text of an earlier version is recognised when it is translated."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """To the database."""
        return None if value is None else str.__str__(as_text(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """From the database."""
        return read_message(value) if value else value


class Messages(TypeDecorator[list[str]]):
    """A list of messages, as a value of JSON."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: list[str] | None, dialect: Dialect) -> list[str] | None:
        """To the database."""
        return None if value is None else [as_text(each) for each in value]

    def process_result_value(self, value: list[str] | None, dialect: Dialect) -> list[str] | None:
        """From the database."""
        return None if value is None else [read_message(each) for each in value]


class Base(DeclarativeBase):
    """The base class of all tables."""


class ProcessRow(Base):
    """A process that has or had this store open; see `engine.runs.storage.processes`."""

    __tablename__ = "processes"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    host: Mapped[str] = mapped_column(String(300))
    pid: Mapped[int]
    started: Mapped[float] = mapped_column(Float(53))
    last_heartbeat: Mapped[datetime] = mapped_column("signed", UtcDateTime)  # the column keeps its first name


class RunRow(Base):
    """One run. `number`: order of submission; `id`: public id, used in URLs."""

    __tablename__ = "runs"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(String(32), unique=True)
    owner: Mapped[str] = mapped_column(String(300))
    kind: Mapped[str] = mapped_column(String(60))
    name: Mapped[str] = mapped_column(Text)
    settings: Mapped[dict[str, Any]] = mapped_column(JSON)
    dataset_name: Mapped[str] = mapped_column(Text)
    dataset_hash: Mapped[str] = mapped_column(String(64), index=True)
    dataset_notices: Mapped[list[str]] = mapped_column(Messages)
    key: Mapped[str] = mapped_column(String(64))  # see `engine.runs.run_key`
    state: Mapped[str] = mapped_column(String(12), index=True)
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    label: Mapped[str] = mapped_column(MessageText, default="")
    message: Mapped[str] = mapped_column(MessageText, default="")
    created: Mapped[datetime] = mapped_column(UtcDateTime)
    started: Mapped[datetime | None] = mapped_column(UtcDateTime)
    finished: Mapped[datetime | None] = mapped_column(UtcDateTime)
    expected: Mapped[datetime | None] = mapped_column(UtcDateTime)  # estimated end of the present step
    per_second: Mapped[float | None] = mapped_column(Float(53))  # items of the present step, as reported last
    # The process that owns it; NULL when it has ended, or was released by a process that closed.
    process_id: Mapped[str | None] = mapped_column(ForeignKey("processes.id", ondelete="SET NULL"))
    stop_requested: Mapped[bool] = mapped_column(default=False)
    attempts: Mapped[int] = mapped_column(default=0)  # starts without an end
    shared: Mapped[bool] = mapped_column(default=False, server_default=false())  # the team may read it
    shared_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # NULL where it is not, or was before this was kept
    note: Mapped[str] = mapped_column(Text, default="", server_default="")
    models: Mapped[str] = mapped_column(Text, default="", server_default="")  # their names, one per line
    stored_bytes: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")  # dataset and result on disk
    deleted: Mapped[datetime | None] = mapped_column(UtcDateTime)  # when it was moved to the bin; NULL: it is not there
    tags: Mapped[str] = mapped_column(Text, default="", server_default="")  # one per line
    n_rows: Mapped[int | None] = mapped_column(Integer)  # of the dataset; NULL where it is not known yet
    headline: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))  # numbers for lists of runs
    comments_closed: Mapped[bool] = mapped_column(default=False, server_default=false())

    __table_args__ = (
        Index("runs_by_owner", "owner", "number"),
        Index("runs_by_key", "owner", "key"),
        Index("runs_shared", "shared", "number"),
        Index("runs_deleted", "deleted"),
    )


class StarRow(Base):
    """A run that a viewer has starred."""

    __tablename__ = "stars"

    viewer: Mapped[str] = mapped_column(String(300), primary_key=True)
    run_id: Mapped[str] = mapped_column(String(32), primary_key=True)

    __table_args__ = (Index("stars_by_run", "run_id"),)


class ViewerNameRow(Base):
    """The name that a browser has. `folded_name`: for comparison, so that no two can be taken for each other."""

    __tablename__ = "viewer_names"

    viewer: Mapped[str] = mapped_column(String(300), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    folded_name: Mapped[str] = mapped_column(String(300), unique=True)


class KeptDatasetRow(Base):
    """One version of a data set that is kept by name. `set_id`: public id, the same for all of its versions."""

    __tablename__ = "kept_datasets"

    set_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # 1, 2 …
    owner: Mapped[str] = mapped_column(String(300))
    name: Mapped[str] = mapped_column(String(300))
    dataset_type: Mapped[str] = mapped_column(String(60))  # the name of the class
    dataset_hash: Mapped[str] = mapped_column(String(64), index=True)
    notices: Mapped[list[str]] = mapped_column(Messages)
    n_rows: Mapped[int]
    shared: Mapped[bool] = mapped_column(default=False)
    created: Mapped[datetime] = mapped_column(UtcDateTime)

    __table_args__ = (Index("kept_by_name", "owner", "name", "version", unique=True),)


class PresetRow(Base):
    """Settings that an owner keeps by name for the page of a kind; `settings`: without models."""

    __tablename__ = "presets"

    owner: Mapped[str] = mapped_column(String(300), primary_key=True)
    kind: Mapped[str] = mapped_column(String(60), primary_key=True)
    name: Mapped[str] = mapped_column(String(300), primary_key=True)
    settings: Mapped[dict[str, Any]] = mapped_column(JSON)
    created: Mapped[datetime] = mapped_column(UtcDateTime)


class RatingRow(Base):
    """The score that a rater gave to an item of a run's dataset, asked a question (`engine.runs.ratings.questions`).

    item: the position of its pair, 0 the first; of single sentences, as `MinimalPairs.sentences` counts them.
    """

    __tablename__ = "ratings"

    run_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    rater: Mapped[str] = mapped_column(String(300), primary_key=True)
    question: Mapped[str] = mapped_column(String(40), primary_key=True)
    item: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    score: Mapped[float] = mapped_column(Float(53))
    created: Mapped[datetime] = mapped_column(UtcDateTime)

    __table_args__ = (Index("ratings_by_rater", "rater"),)


class CommentRow(Base):
    """A comment on a run (`engine.runs.comments`). mentions: the ids of those whom it names, a line break around each."""

    __tablename__ = "comments"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    run_id: Mapped[str] = mapped_column(String(32))
    author: Mapped[str] = mapped_column(String(300))
    text: Mapped[str] = mapped_column(Text)
    view: Mapped[str] = mapped_column(Text)
    mentions: Mapped[str] = mapped_column(Text)
    created: Mapped[datetime] = mapped_column(UtcDateTime)

    __table_args__ = (Index("comments_by_run", "run_id", "created"), Index("comments_by_author", "author", "created"))


class VisitRow(Base):
    """When a viewer last saw what is new."""

    __tablename__ = "visits"

    viewer: Mapped[str] = mapped_column(String(300), primary_key=True)
    seen: Mapped[datetime] = mapped_column(UtcDateTime)


class MemberRow(Base):
    """An account that has signed in as a member. `id`: the owner of its runs, made of issuer and subject.

    address: normalized, for comparison; only one account has it. shown_address: as the provider wrote it last.
    """

    __tablename__ = "members"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    issuer: Mapped[str] = mapped_column(Text)
    subject: Mapped[str] = mapped_column(Text)
    address: Mapped[str] = mapped_column(String(320), unique=True)
    shown_address: Mapped[str] = mapped_column(String(320))
    created: Mapped[datetime] = mapped_column(UtcDateTime)


class SignInRow(Base):
    """A sign-in that has not ended. `key`: SHA-256 of its cookie. `address`: None for an account that is no member."""

    __tablename__ = "sign_ins"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    account: Mapped[str] = mapped_column(String(64), index=True)  # as `members.id`
    address: Mapped[str | None] = mapped_column(String(320))
    created: Mapped[datetime] = mapped_column(UtcDateTime)
