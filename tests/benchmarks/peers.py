"""A peer in a process of its own environment, asked for one run at a time."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# Made by `make bench` from peers.txt.
PYTHON = Path(os.environ.get("HAKARI_PEERS_PYTHON", ROOT / ".venv-bench" / "bin" / "python"))


class Peer:
    """A peer that has found its best batch size. `scores` are what it says of the texts."""

    def __init__(self, process: subprocess.Popen[str], asked: dict[str, Any]) -> None:
        self._process = process
        answer = self._ask(json.dumps(asked))
        self.name: str = asked["peer"]
        self.batch_size: int = answer["batch_size"]
        self.versions: dict[str, str] = answer["versions"]
        self.scores: list[float] = answer["scores"]

    def seconds(self) -> float:
        """Those of one run."""
        return float(self._ask("run"))

    def _ask(self, line: str) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the peer ended; what it said stands above")
        return json.loads(answer)


@contextmanager
def peer(name: str, **asked: Any) -> Iterator[Peer]:
    """Start a peer (see `peer.py`) and end it afterwards."""
    process = subprocess.Popen(
        [str(PYTHON), str(Path(__file__).with_name("peer.py"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env={**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"})
    try:
        yield Peer(process, {"peer": name, **asked})
    finally:
        process.stdin.close()  # type: ignore[union-attr]  # it was asked for above
        process.wait(timeout=60)
