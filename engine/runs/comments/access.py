"""Who may read and write comments: whoever may read the run. Its owner may close them, and remove any of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

from engine.errors import InputError, RunError
from engine.messages.message import Message
from engine.runs.access.access import RunAccess
from engine.runs.comments import rows
from engine.runs.comments.rows import Comment
from engine.runs.computing import SAMPLES_ID
from engine.runs.naming import shown_text, unknown_run
from engine.runs.storage import listing, members
from engine.runs.storage.run_record import RunRecord

MOST_CHARACTERS = 2_000
MOST_OF_A_RUN = 1_000
MOST_A_MINUTE = 10  # of one author
MOST_ON_A_RUN_A_MINUTE = 30  # of all: a browser without sign-in is somebody else without its cookie
MOST_OF_AN_AUTHOR = 200  # on one run
MOST_OF_A_VIEW = 1_500  # characters of the address of what a comment is about; of a longer one the row alone is kept
MOST_NEW = 20
MOST_LOOKED_AT = 1_000  # comments, for those on runs that the viewer may read
ROW = "row"
# "@" and a name. Japanese text follows without a space; letters of ASCII make it a longer name or an address.
_NAMED = r"(?<![A-Za-z0-9_.])@({})(?![A-Za-z0-9_@]|[.-][A-Za-z0-9])"


@dataclass(frozen=True)
class Talk:
    """The comments on a run, the first one first, and what their authors and its owner are called. closed: it takes no more."""

    comments: tuple[Comment, ...]
    names: Mapping[str, str]
    closed: bool


@dataclass(frozen=True)
class CommentAccess:
    """The comments on the runs that the viewer of `runs` may read. The author of a comment is always that viewer."""

    runs: RunAccess

    def of_run(self, run_id: str) -> Talk:
        """The comments on a run. Raises RunError for one that the viewer may not read, as for an unknown one."""
        run = self._readable(run_id)
        found = tuple(rows.of_run(self.runs.store, run_id))
        names = self.runs.owner_names({run.owner, *(comment.author for comment in found)})
        return Talk(found, names, rows.is_closed(self.runs.store, run_id))

    def n_of_run(self, run_id: str) -> int:
        """How many comments a run has. Raises as `of_run`."""
        self._readable(run_id)
        return rows.n_of_run(self.runs.store, run_id)

    def write(self, run_id: str, text: str, view: Mapping[str, Iterable[str]] | None = None) -> Comment:
        """Comment on a run. view: what of the page it is about, as the parameters of its address.

        Raises InputError for no text, one that is too long, closed comments and too many, and as `of_run`.
        """
        run = self._readable(run_id)
        text = shown_text(text).strip()
        self._check(run, text)
        comment = Comment(uuid4().hex, run_id, self.runs.viewer.id, text, _query(view or {}), datetime.now(UTC))
        rows.add(self.runs.store, comment, self._named_in(text))
        self.runs.audit.record("comment", self.runs.viewer, run=run_id)
        return comment

    def remove(self, comment_id: str) -> None:
        """Remove a comment of the viewer's own, or any on a run of the viewer's; raises RunError for others."""
        comment = rows.by_id(self.runs.store, comment_id)
        run = self.runs.get(comment.run_id) if comment is not None else None
        if comment is None or run is None or not self.may_remove(run, comment):
            raise RunError(Message("There is no such comment, or it is not yours to remove."))
        rows.remove(self.runs.store, comment_id)
        self.runs.audit.record("remove a comment", self.runs.viewer, run=comment.run_id)

    def may_remove(self, run: RunRecord, comment: Comment) -> bool:
        """Whether the viewer may remove a comment on a run."""
        return comment.author == self.runs.viewer.id or self.runs.may_change(run)

    def close(self, run_id: str, closed: bool) -> None:
        """Take no more comments on a run of the viewer's, or take them again; raises as all changes of a run do."""
        self.runs.close_comments(run_id, closed)

    def mentionable(self) -> dict[str, str]:
        """What may stand after "@" in a comment, and whom it names: the names of members, or of browsers.

        The part of an address before its "@" is a name too, where no other member has it.
        """
        store = self.runs.store
        if not self.runs.viewer.signed_in:
            return {name: viewer for viewer, name in listing.every_viewer_name(store).items()}
        accounts = members.every(store)
        names = {account.shown_address: account.id for account in accounts}
        short = [account.shown_address.partition("@")[0] for account in accounts]
        return names | {
            name: account.id for name, account in zip(short, accounts, strict=True) if short.count(name) == 1
        }

    def suggested(self, run: RunRecord, talk: Talk) -> list[str]:
        """Whom a reader of a run is told that a comment may name: its owner and those who took part, nobody else."""
        named = self.mentionable()
        others = [viewer for viewer in talk.names if viewer != self.runs.viewer.id]
        ordered = sorted(others, key=lambda viewer: (viewer != run.owner, talk.names[viewer]))
        return [talk.names[viewer] for viewer in ordered if named.get(talk.names[viewer]) == viewer]

    def since_last_time(self) -> datetime:
        """When the viewer last asked this, now where that is the first time; from now on it is now."""
        now = datetime.now(UTC)
        return rows.visit(self.runs.store, self.runs.viewer.id, now) or now

    def new(self, since: datetime) -> list[tuple[Comment, RunRecord]]:
        """Others' comments since a moment that concern the viewer, with their runs, the newest first.

        They are on the viewer's own runs, on runs that the viewer has commented on, or they name the viewer; a comment on
        a run that the viewer may not read is not among them.
        """
        readable: list[tuple[Comment, RunRecord]] = []
        for start in range(0, MOST_LOOKED_AT, MOST_NEW):
            found = rows.concerning(self.runs.store, self.runs.viewer.id, self.runs.own, since, MOST_NEW, start)
            with_runs = [(comment, self.runs.get(comment.run_id)) for comment in found]
            readable += [(comment, run) for comment, run in with_runs if run is not None]
            if len(readable) >= MOST_NEW or len(found) < MOST_NEW:
                break
        return readable[:MOST_NEW]

    def _readable(self, run_id: str) -> RunRecord:
        run = self.runs.get(run_id)
        if run is None:
            raise unknown_run(run_id)
        return run

    def _check(self, run: RunRecord, text: str) -> None:
        store = self.runs.store
        if not text:
            raise InputError(Message("A comment needs a text."))
        if len(text) > MOST_CHARACTERS:
            raise InputError(
                Message("A comment has at most {most:,} characters; got {n:,}.", most=MOST_CHARACTERS, n=len(text))
            )
        if run.owner == SAMPLES_ID or rows.is_closed(store, run.id):
            raise InputError(Message("This run takes no comments."))
        if rows.n_of_run(store, run.id) >= MOST_OF_A_RUN:
            raise InputError(Message("A run takes at most {most:,} comments.", most=MOST_OF_A_RUN))
        if rows.n_of_run(store, run.id, author=self.runs.viewer.id) >= MOST_OF_AN_AUTHOR:
            raise InputError(Message("A run takes at most {most:,} comments of one person.", most=MOST_OF_AN_AUTHOR))
        minute_ago = datetime.now(UTC) - timedelta(minutes=1)
        if rows.n_of_author(store, self.runs.viewer.id, minute_ago) >= MOST_A_MINUTE:
            raise InputError(Message("At most {most} comments a minute: wait a moment.", most=MOST_A_MINUTE))
        if rows.n_of_run(store, run.id, since=minute_ago) >= MOST_ON_A_RUN_A_MINUTE:
            raise InputError(Message("At most {most} comments a minute: wait a moment.", most=MOST_ON_A_RUN_A_MINUTE))

    def _named_in(self, text: str) -> list[str]:
        """The ids of those whom a text names, without the author."""
        ids = {name.casefold(): viewer for name, viewer in self.mentionable().items()}
        if not ids:
            return []
        longest_first = "|".join(re.escape(name) for name in sorted(ids, key=len, reverse=True))
        named = {ids[found[1]] for found in re.finditer(_NAMED.format(longest_first), text.casefold())}
        return sorted(named - {self.runs.viewer.id})


def view_of(comment: Comment) -> dict[str, list[str]]:
    """The parameters of the address of what a comment is about."""
    found: dict[str, list[str]] = {}
    for name, value in parse_qsl(comment.view, keep_blank_values=True):
        found.setdefault(name, []).append(value)
    return found


def row_of(comment: Comment) -> str:
    """The row of the pair or sentence that a comment is about; "" where it is about none."""
    return next(iter(view_of(comment).get(ROW, [])), "")


def _query(view: Mapping[str, Iterable[str]]) -> str:
    named = {name: list(values) for name, values in view.items() if name != "run"}
    query = urlencode(named, doseq=True)
    if len(query) <= MOST_OF_A_VIEW:
        return query
    row = urlencode({ROW: named.get(ROW, [])}, doseq=True)
    return row if len(row) <= MOST_OF_A_VIEW else ""
