"""A peer in a process with its own environment, controlled over a pipe."""

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
    """A peer at its best batch size, its `scores` of the texts and their token `ids`, special tokens included."""

    def __init__(self, process: subprocess.Popen[str], request: dict[str, Any]) -> None:
        self._process = process
        answer = self._send(json.dumps(request))
        self.name: str = request["peer"]
        self.batch_size: int = answer["batch_size"]
        self.versions: dict[str, str] = answer["versions"]
        self.scores: list[float] = answer["scores"]
        self.ids: list[list[int]] = answer["ids"]

    def seconds(self) -> float:
        """The seconds of one run."""
        return float(self._send("run"))

    def _send(self, line: str) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the peer process ended; its output is above")
        return json.loads(answer)


@contextmanager
def peer(name: str, **request: Any) -> Iterator[Peer]:
    """Start a peer (see `peer.py`) and end it afterwards. Raises RuntimeError without the peers' environment."""
    if not PYTHON.exists():
        raise RuntimeError(f"there is no {PYTHON}; `make bench` makes it")
    process = subprocess.Popen(
        [str(PYTHON), str(Path(__file__).with_name("peer.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"},
    )
    try:
        yield Peer(process, {"peer": name, **request})
    finally:
        process.stdin.close()  # type: ignore[union-attr]  # it was asked for above
        process.wait(timeout=60)
