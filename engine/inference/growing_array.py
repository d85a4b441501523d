"""An array of which parts come one after the other, without a second copy of all of them when the last has come."""

from __future__ import annotations

import numpy as np

ROOM = 1.1  # of what is expected to come
SURE, GROWTH = 1 / 16, 4  # the share of all from which on the rest can be expected; the growth before it is there


class GrowingArray:
    """An array that grows at its end; the room that is left in it takes no memory before it is written."""

    def __init__(self) -> None:
        """Without a part there is no array yet."""
        self._room: np.ndarray | None = None
        self._n = 0

    def add(self, part: np.ndarray, share: float) -> None:
        """Append a part; share: of all that is to come, how much is there then."""
        end = self._n + len(part)
        if self._room is None or end > len(self._room):
            room = np.empty((int(end * (ROOM / share if share >= SURE else GROWTH)), *part.shape[1:]), part.dtype)
            if self._room is not None:
                room[: self._n] = self.array
            self._room = room
        self._room[self._n : end] = part
        self._n = end

    @property
    def array(self) -> np.ndarray:
        """What was appended."""
        assert self._room is not None
        return self._room[: self._n]
