"""A member without a browser: signs in, and speaks to the server as the pages do."""

from __future__ import annotations

import asyncio
import random
import time

import pyarrow as pa

from tests.benchmarks.streamlit_client import Visitor
from tests.benchmarks.team.files import MemberFile, member_file, prefix
from tests.benchmarks.team.journal import RUN, Journal, SharedRun

PAGE, KIND = "minimal_pairs", "minimal-pairs"
RUN_SECONDS = 600.0
SCORES = ("MeanLP", "PenLP", "LP")


class SocketMember:
    """One member, from the sign-in to the end of the time."""

    def __init__(
        self, host: str, member: int, address: str, journal: Journal, think_seconds: tuple[float, float]
    ) -> None:
        """think_seconds: the least and the most that pass between two actions."""
        self._host, self._member, self._address, self._journal = host, member, address, journal
        self._think_seconds = think_seconds
        self._draw = random.Random(member)
        self._signed_in = Visitor(host, "")
        self._n_files = 0
        self._who = f"{address} (websocket)"

    async def stay(self, until: float, arrival_seconds: float) -> None:
        """Visit again and again until `until` (of `time.monotonic`); what is under way then is finished."""
        await asyncio.sleep(self._draw.uniform(0, arrival_seconds))
        while time.monotonic() < until:
            try:
                if not self._signed_in.cookies:
                    await self._signed_in.connect()
                    await self._signed_in.sign_in(self._address)
                await self._visit()
                self._journal.n_visits += 1
            except Exception as error:
                self._journal.errors.append(f"{self._who}: {type(error).__name__}: {error}"[:400])
                await asyncio.sleep(1)

    async def _visit(self) -> None:
        """Home, an evaluation of a new file, its result under other scores, sharing it, another's link, the list."""
        home = await self._opened("home page", "")
        await home.close()
        file = member_file(self._member, self._n_files)
        self._n_files += 1
        run_id = await self._evaluated(file)
        again = await self._opened("result, opened by its link", PAGE, run_id)
        self._journal.require_answer(self._who, file, again.metrics, again.texts)
        await self._toggle_and_share(again, run_id, file)
        await again.close()
        others = [shared for shared in self._journal.shared if shared.member != self._member]
        if others:
            shared = self._draw.choice(others)
            other = await self._opened("another's result, opened by its link", PAGE, shared.run_id)
            self._journal.require_answer(self._who, shared.file, other.metrics, other.texts)
            await other.close()
        runs = await self._opened("list of runs", "runs")
        self._journal.require_own(self._who, prefix(self._member), datasets_of_runs(runs))
        await runs.close()

    async def _evaluated(self, file: MemberFile) -> str:
        """The id of the run of a new file, once its result is on the page."""
        visitor = await self._opened("page of an evaluation, with the sample's result", PAGE)
        try:
            with self._journal.timed("another source of data chosen"):
                await visitor.choose(f"{KIND}-source", "My file")
            await self._think()
            with self._journal.timed("file uploaded and read"):
                await visitor.upload(f"{KIND}-files", file.name, file.content)
            await self._think()
            start = time.perf_counter()
            with self._journal.timed("run submitted, its progress shown"):
                await visitor.press(f"{KIND}-submit")
            await visitor.watch(lambda page: f"run-share-{page.run_id}" in page.seen_keys, RUN_SECONDS)
            self._journal.seconds[RUN].append(time.perf_counter() - start)
            self._journal.n_runs += 1
            return visitor.run_id
        finally:
            await visitor.close()

    async def _toggle_and_share(self, visitor: Visitor, run_id: str, file: MemberFile) -> None:
        [key] = [key for key in visitor.ids if key.startswith(f"{KIND}-normalization-")]
        for score in SCORES:
            await self._think()
            with self._journal.timed("another score chosen"):
                await visitor.choose(key, score)
        self._journal.require_answer(self._who, file, visitor.metrics, visitor.texts)
        await self._think()
        with self._journal.timed("run shared"):
            await visitor.toggle(f"run-share-{run_id}", True)
        self._journal.shared.append(SharedRun(run_id, self._member, file))

    async def _opened(self, kind: str, page: str, run_id: str = "") -> Visitor:
        await self._think()
        visitor = Visitor(self._host, page, run_id=run_id, cookies=self._signed_in.cookies)
        with self._journal.timed(kind):
            await visitor.connect()
        if "sign-in" in visitor.seen_keys:
            raise RuntimeError(f"{page} asked for a sign-in.")
        return visitor

    async def _think(self) -> None:
        await asyncio.sleep(self._draw.uniform(*self._think_seconds))


def datasets_of_runs(page: Visitor) -> list[str]:
    """The names of data in the table of the list of runs."""
    frames = [pa.ipc.open_stream(table).read_all() for table in page.tables]
    return [str(name) for frame in frames if "dataset" in frame.column_names for name in frame["dataset"].to_pylist()]
