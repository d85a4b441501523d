"""Worker processes that stay from one command to the next."""

from __future__ import annotations

from engine.inference.local.workers import LocalWorkers


class KeptWorkers(LocalWorkers):
    """The worker processes of all commands of a test session: each new one imports torch and transformers.

    An engine that is closed leaves them alone. A new process for each command is what the examples of the documents
    and the browser's tests have.
    """

    def close(self, grace_seconds: float | None = None) -> None:
        """Do nothing; `end` closes them."""

    def end(self) -> None:
        """Close them."""
        super().close()
