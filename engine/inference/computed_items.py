"""Items whose pieces are looked for in the cache and, where there are none, computed chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.datasets.rows import first_places
from engine.datasets.text_column import at
from engine.inference import keys
from engine.inference.backend import Piece, Request
from engine.inference.cache import Cache
from engine.inference.chunks import chunk_order, chunk_slices
from engine.inference.owned_pieces import OwnedPieces
from engine.inference.piece_columns import Builder, PieceColumns
from engine.inference.run_client import RunClient
from engine.inference.without_model import ProgressSpan
from engine.models.sources.facts import ModelFacts

LOOKED_UP = 2**14  # texts whose pieces are looked for at once


@dataclass(frozen=True)
class Operation:
    """One operation of a model: what is asked of its workers, and how it is called where progress is told.

    request: the fields that name the model; settings: as they are in the keys of the pieces; cache: None where no piece
    is kept.
    """

    name: str
    request: Request
    facts: ModelFacts
    settings: Mapping[str, Any]
    label: str
    client: RunClient
    cache: Cache | OwnedPieces | None = field(repr=False)

    def keys_of(self, items: Sequence[Any]) -> list[str]:
        """The key of each item."""
        return keys.item_keys(self.name, self.facts, self.settings, items)

    def computing(
        self,
        item_by_key: Mapping[str, Any],
        n_by_key: Mapping[str, int],
        n_items: int,
        within: ProgressSpan | None = None,
    ) -> Callable[[list[str]], Iterator[dict[str, Piece]]]:
        """What computes the pieces of missing keys, part by part, and reports how many of the items are done."""
        before, after, total = within or (0, n_items, n_items)
        done = n_items

        def report() -> None:
            self.client.report(before + (after - before) * done // max(n_items, 1), total, self.label)

        def compute(missing: list[str]) -> Iterator[dict[str, Piece]]:
            nonlocal done
            done -= sum(n_by_key[key] for key in missing)
            report()
            order = chunk_order(self.name, self.settings, [item_by_key[key] for key in missing])
            missing = [missing[i] for i in order]
            missing_items = [item_by_key[key] for key in missing]
            chunks = [missing[part] for part in chunk_slices(self.name, self.facts, self.settings, missing_items)]
            requests = [
                {**self.request, "items": [item_by_key[key] for key in chunk], "settings": self.settings}
                for chunk in chunks
            ]
            put_many = None if self.cache is None else self.cache.put_many
            on_late = (
                None
                if put_many is None
                else lambda index, pieces: put_many(dict(zip(chunks[index], pieces, strict=True)))
            )
            with closing(self.client.as_completed(self.name, requests, on_late)) as parts:
                for index, pieces in parts:
                    yield dict(zip(chunks[index], pieces, strict=True))
                    # The consumer has stored the yielded part in the cache by now.
                    done += sum(n_by_key[key] for key in chunks[index])
                    if done < n_items:
                        report()

        return compute

    def in_columns(self, items: Sequence[str]) -> tuple[PieceColumns, int, int]:
        """The piece of every text, of which there may be millions: neither keys nor pieces of all are kept.

        Beside them how many different texts were in the cache, and how many were not.
        """
        firsts = first_places(items)  # equal texts are looked for once
        distinct = np.flatnonzero(firsts == np.arange(len(items)))
        built = Builder(len(items))
        missing: dict[str, int] = {}
        for start in range(0, len(distinct), LOOKED_UP):
            self.client.raise_if_cancelled()
            places = distinct[start : start + LOOKED_UP].tolist()
            place_by_key = dict(zip(self.keys_of(at(items, places)), places, strict=True))
            found = self.cache.get_many(list(place_by_key)) if self.cache is not None else {}
            built.put([place_by_key[key] for key in found], found.values())
            missing |= {key: place for key, place in place_by_key.items() if key not in found}
        if missing:
            item_by_key = dict(zip(missing, at(items, list(missing.values())), strict=True))
            n_each = np.bincount(firsts, minlength=len(items))
            n_by_key = {key: int(n_each[place]) for key, place in missing.items()}
            for part in self.computing(item_by_key, n_by_key, len(items))(list(missing)):
                if self.cache is not None:
                    self.cache.put_many(part)
                built.put([missing[key] for key in part], part.values())
        return built.finished(firsts), len(distinct) - len(missing), len(missing)
