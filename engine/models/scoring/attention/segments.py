"""Which tokens of a packed row attend to which.

Texts of different lengths stand end to end in one row, without padding: nothing is computed that is not read. Each
segment is a run of consecutive tokens, its queries, with the keys that they attend to: those of the same text, and for
a text that shares its beginning with another one also the tokens of that beginning, wherever they stand in the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from engine.models.loading.devices import on_device


@dataclass(frozen=True)
class Segments:
    """The segments of one packed row, in the order of their queries.

    query_lengths and key_lengths int64 (n_segments,), each at least 1, key_lengths[i] >= query_lengths[i]: the last
    keys of a segment are its own tokens. query_ends and key_ends: their sums from 0, int32 (n_segments + 1,) on the
    device. key_columns: the column of each key in the row, int64 (n_keys,) on the device; None where the keys are the
    tokens of the row as they stand.
    """

    query_lengths: np.ndarray
    key_lengths: np.ndarray
    query_ends: torch.Tensor
    key_ends: torch.Tensor
    key_columns: torch.Tensor | None = None

    def on(self, device: torch.device) -> Segments:
        """The same with its tensors on a device."""
        if self.query_ends.device == device:
            return self
        columns = None if self.key_columns is None else self.key_columns.to(device)
        return replace(
            self, query_ends=self.query_ends.to(device), key_ends=self.key_ends.to(device), key_columns=columns
        )


def whole_texts(lengths: Sequence[int] | np.ndarray, device: torch.device) -> Segments:
    """Segments of texts of that many tokens, each of which attends to itself alone."""
    of_texts = np.asarray(lengths, dtype=np.int64)
    ends = _ends(of_texts, device)
    return Segments(of_texts, of_texts, ends, ends)


def with_ancestors(
    query_lengths: Sequence[int] | np.ndarray, key_columns: Sequence[np.ndarray], device: torch.device
) -> Segments:
    """Segments of that many queries, each with the columns of its keys int64 (n,), of which the last are its own."""
    of_queries = np.asarray(query_lengths, dtype=np.int64)
    of_keys = np.array([len(columns) for columns in key_columns], dtype=np.int64)
    if np.array_equal(of_queries, of_keys):
        return whole_texts(of_queries, device)
    return Segments(
        of_queries,
        of_keys,
        _ends(of_queries, device),
        _ends(of_keys, device),
        on_device(np.concatenate(key_columns).astype(np.int64), device),
    )


def read_at_one_column(segments: Segments) -> Segments:
    """The same keys for one query of each segment, in a row of these queries alone."""
    n = len(segments.query_lengths)
    ends = torch.arange(n + 1, dtype=torch.int32, device=segments.query_ends.device)
    return Segments(np.ones(n, dtype=np.int64), segments.key_lengths, ends, segments.key_ends, segments.key_columns)


def _ends(lengths: np.ndarray, device: torch.device) -> torch.Tensor:
    return on_device(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32), device)
