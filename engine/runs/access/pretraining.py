"""Access control of pretraining: who may start one, where the operator allows it, and whose a job is.

Without sign-in everybody may change the jobs that belong to no browser, as with runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO

from engine.errors import AccessError
from engine.messages.message import Message
from engine.models.pretraining.settings import Settings
from engine.runs.access.access import RunAccess
from engine.runs.access.quotas import Quotas
from engine.runs.pretraining.jobs import Job, PretrainingJobs


@dataclass(frozen=True)
class PretrainingAccess:
    """The pretraining jobs of one viewer."""

    runs: RunAccess
    jobs: PretrainingJobs

    @property
    def is_allowed(self) -> bool:
        """Whether the operator lets a pretraining be started from a page (HAKARI_PRETRAINING)."""
        return self.jobs.most_running > 0

    def start(self, name: str, settings: Settings, uploads: Sequence[tuple[str, IO[bytes]]]) -> str:
        """Start a job of the viewer; returns its id.

        Raises AccessError where the operator allows none, RunError beyond the viewer's storage (before anything is
        written), and what `PretrainingJobs.start` raises.
        """
        self._require_allowed()
        quotas = Quotas(self.runs.store, self.runs.queue.artifacts, self.runs.limits)
        job_id = self.jobs.start(
            self.runs.viewer.id, name, settings, uploads, partial(quotas.check_pretraining, self.runs.viewer.id)
        )
        self.runs.audit.record("pretrain", self.runs.viewer, job=job_id)
        return job_id

    def mine(self) -> list[Job]:
        """The viewer's jobs, the newest first."""
        return self.jobs.list(self.runs.own)

    def cancel(self, job_id: str) -> None:
        """Stop a job of the viewer; it can go on. Like all changes, raises AccessError for a job of another."""
        self.jobs.cancel(self._own(job_id).id)

    def resume(self, job_id: str) -> None:
        """Let a stopped job go on. Raises as `start`."""
        self._require_allowed()
        self.jobs.resume(self._own(job_id).id)

    def delete(self, job_id: str) -> None:
        """Remove a job with its model."""
        self.jobs.delete(self._own(job_id).id)
        self.runs.audit.record("delete", self.runs.viewer, job=job_id)

    def _require_allowed(self) -> None:
        if not self.is_allowed:
            raise AccessError(
                Message(
                    "This instance pretrains no models from a page. Ask the administrator to allow "
                    "it (HAKARI_PRETRAINING), or use the command: python -m engine pretrain."
                )
            )

    def _own(self, job_id: str) -> Job:
        job = self.jobs.get(job_id)
        if job is None or job.owner not in self.runs.own:
            raise AccessError(Message("There is no such pretraining; it may have been deleted."))
        return job
