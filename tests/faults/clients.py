"""Clients of a server: pages over their websocket, and programs that submit to the queue of the same directory."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
from websockets.asyncio.client import connect

from engine.errors import EngineError
from tests.benchmarks.streamlit_client import COOKIE, LARGEST_MESSAGE, Visitor
from tests.faults.jobs import SETTINGS, Job, corpus, csv_file, dataset, drawn, drawn_for_page
from tests.streamlit_internals import ForwardMsg

PAGE_SECONDS = 90.0  # the longest that a page may take to answer, on a busy machine
UPLOADERS = {"minimal-pairs": "minimal-pairs-files"}
CUT_OFF = (OSError, TimeoutError, httpx.TransportError, EOFError)


class Page(Visitor):
    """A page in a browser of its own. What it shows of errors is kept, not raised."""

    def __init__(self, host: str, page: str, run_id: str = "") -> None:
        super().__init__(host, page, run_id=run_id)
        self.alerts: list[str] = []  # errors in words, of the last drawing
        self.exceptions: list[str] = []  # what Streamlit shows of an exception that was not handled
        self.n_elements = 0

    async def connect(self) -> None:
        self.http = httpx.AsyncClient(base_url=f"http://{self.host}", timeout=PAGE_SECONDS)
        await self.http.get("/", headers={"Accept": "text/html"})  # brings the cookie of this browser
        await self.http.get("/_stcore/health")
        self.token = self.http.cookies[COOKIE]
        cookies = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        self.socket = await connect(
            f"ws://{self.host}/_stcore/stream",
            subprotocols=["streamlit", self.token],  # type: ignore[list-item]
            additional_headers={"Cookie": cookies},
            max_size=LARGEST_MESSAGE,
            open_timeout=PAGE_SECONDS,
            ping_interval=None,
        )
        await self.rerun()

    async def close(self) -> None:
        if hasattr(self, "socket"):
            await self.socket.close()
        await self.http.aclose()

    def _take(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "new_session":
            self.alerts = []
        if message.WhichOneof("type") == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            self.n_elements += 1
            if element.WhichOneof("type") == "exception":
                self.exceptions.append(f"{element.exception.type}: {element.exception.message}")
                return
            if element.WhichOneof("type") == "alert" and element.alert.format == element.alert.ERROR:
                self.alerts.append(element.alert.body)
                return
        super()._take(message)


@dataclass
class Visit:
    """What came of a visit. cut_off: why it ended early; a page that is cut off has not answered."""

    page: str
    job: Job | None = None
    run_id: str = ""
    cut_off: str = ""
    alerts: list[str] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)


def look(host: str, page: str, run_id: str = "") -> Visit:
    """Open a page and read all of it."""
    return asyncio.run(_visited(host, page, run_id, None))


def submit_on_page(host: str, job: Job) -> Visit:
    """Upload the file of a job and press the button."""
    return asyncio.run(_visited(host, job.kind.replace("-", "_"), "", job))


def upload_on_page(host: str, job: Job, content: bytes, name: str) -> Visit:
    """Upload a file to the page of a job, and see what is said of it."""
    return asyncio.run(_visited(host, job.kind.replace("-", "_"), "", job, content, name))


async def _visited(
    host: str, name: str, run_id: str, job: Job | None, content: bytes = b"", file: str = "rows.csv"
) -> Visit:
    page, visit = Page(host, name, run_id), Visit(name, job)
    try:
        async with asyncio.timeout(PAGE_SECONDS):
            await page.connect()
            if job is not None and not page.alerts:
                await page.choose(f"{job.kind}-source", "My file")
                uploader = UPLOADERS.get(job.kind, f"{job.kind}-file")
                await page.upload(uploader, file, content or csv_file(job))
                if not content and not page.alerts and not page.exceptions:
                    page.run_id = ""
                    await page.press(f"{job.kind}-submit")
    except CUT_OFF as error:
        visit.cut_off = f"{type(error).__name__}: {error}"
    except Exception as error:
        # The libraries raise classes of their own for a server that goes away in the middle.
        if not _is_cut_off(error):
            visit.exceptions.append(f"{type(error).__name__}: {error}")
        visit.cut_off = f"{type(error).__name__}: {error}"
    finally:
        visit.run_id, visit.alerts = page.run_id, page.alerts
        visit.exceptions += page.exceptions
        try:
            async with asyncio.timeout(5):
                await page.close()
        except Exception as error:
            visit.cut_off = visit.cut_off or f"{type(error).__name__}: {error}"
    return visit


def _is_cut_off(error: Exception) -> bool:
    """Whether the server went away, or had not come back: then there is no cookie against forged requests either."""
    return type(error).__module__.startswith("websockets") or (isinstance(error, KeyError) and error.args == (COOKIE,))


class Submitter:
    """A process that submits runs to the directory of the server, as a program of a user does, and closes it.

    It starts with the first submission.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, self._child = context.Pipe()
        self._process = context.Process(target=_serve, args=(self._child,), daemon=True)

    def submit(self, data_dir: Path, url: str, jobs: list[Job], owner: str) -> list[str]:
        """The ids of the runs, or for each that was refused the error in words after "error: "."""
        if self._process.pid is None:
            self._process.start()
            self._child.close()
        self._connection.send((data_dir, url, jobs, owner))
        answer: list[str] = self._connection.recv()
        return answer

    def close(self) -> None:
        if self._process.pid is not None:
            self._process.kill()
            self._process.join()


def _serve(connection: Any) -> None:
    while True:
        try:
            data_dir, url, jobs, owner = connection.recv()
        except EOFError:
            return
        os.environ["HAKARI_DATABASE_URL"] = url
        connection.send(_submitted(data_dir, jobs, owner))


def _submitted(data_dir: Path, jobs: list[Job], owner: str) -> list[str]:
    from engine.evaluations.catalog import EVALUATIONS
    from engine.runs.queue import RunQueue
    from engine.runs.storage.artifacts import Artifacts
    from engine.runs.storage.database import database_url
    from engine.runs.storage.store import Store

    answers = []
    gateway: Any = None  # this queue runs nothing
    try:
        store, artifacts = Store(database_url(data_dir)), Artifacts(data_dir)
        queue = RunQueue(store, artifacts, gateway, EVALUATIONS, 0, resume=False)
    except EngineError as error:
        return [f"error: {error}"] * len(jobs)
    except Exception as error:
        return [f"unexpected: {type(error).__name__}: {error}"] * len(jobs)
    try:
        for job in jobs:
            try:
                answers.append(_submit(queue, job, owner))
            except EngineError as error:
                answers.append(f"error: {error}")
            except Exception as error:
                answers.append(f"unexpected: {type(error).__name__}: {error}")
        with contextlib.suppress(EngineError):  # then this process counts as alive until it ends
            queue.close()
    finally:
        store.close()
    return answers


def _submit(queue: Any, job: Job, owner: str) -> str:
    if job.kind != "dictionary":
        return str(queue.submit(job.kind, SETTINGS[job.kind], dataset(job), owner, job.name).run_id)
    with queue.artifacts.corpora.upload(corpus(job), job.name, in_use=lambda: (), room=lambda sizes: None) as files:
        return str(queue.submit(job.kind, SETTINGS[job.kind], files, owner, job.name).run_id)


class Crowd:
    """The clients of one fault: they submit at once, each one job, while the fault is injected."""

    def __init__(
        self,
        host: str,
        submitter: Submitter,
        data_dir: Path,
        url: str,
        draw: Random,
        n_clients: int,
        n_pages: int,
        owner: str,
    ) -> None:
        self.visits: list[Visit] = []
        self.submitted: list[str] = []
        self.page_jobs = [drawn_for_page(draw) for _ in range(n_pages)]
        self.jobs = [drawn(draw) for _ in range(n_clients - n_pages)]
        self._threads = [threading.Thread(target=self._page, args=(host, job)) for job in self.page_jobs]
        if self.jobs:
            self._threads.append(
                threading.Thread(
                    target=lambda: self.submitted.extend(submitter.submit(data_dir, url, self.jobs, owner))
                )
            )
        for thread in self._threads:
            thread.start()

    def wait(self) -> None:
        """Until all have submitted or were cut off."""
        for thread in self._threads:
            thread.join()

    def run_ids(self) -> list[str]:
        """Of the runs whose submission was answered with an id."""
        named = [visit.run_id for visit in self.visits if visit.run_id]
        return named + [answer for answer in self.submitted if ": " not in answer]

    def _page(self, host: str, job: Job) -> None:
        self.visits.append(submit_on_page(host, job))
