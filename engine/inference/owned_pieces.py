"""Pieces that answer their owner alone: whether something was computed before cannot be told by the time it takes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from engine.inference.backend import Piece
from engine.inference.cache import Cache


class OwnedPieces:
    """The cache for the sessions of one owner. Thread-safe, as the cache is.

    A piece is found if it was stored for this owner or for `public_owner`, whose pieces answer everybody. The owner is
    part of the key, so that pieces stored without one are never found here.
    """

    def __init__(self, cache: Cache, owner: str, public_owner: str) -> None:
        self._cache = cache
        self._owner = owner
        self._public_owner = public_owner

    def get_many(self, keys: Sequence[str]) -> dict[str, Piece]:
        """As `Cache.get_many`: the pieces that this owner may have."""
        found: dict[str, Piece] = {}
        for owner in dict.fromkeys((self._public_owner, self._owner)):
            key_by_owned = {owned_key(owner, key): key for key in keys if key not in found}
            found |= {key_by_owned[stored]: piece for stored, piece in self._cache.get_many(key_by_owned).items()}
        return found

    def cached(
        self, keys: Sequence[str], compute_missing: Callable[[list[str]], Iterable[Mapping[str, Piece]]]
    ) -> dict[str, Piece]:
        """As `Cache.cached`; what is computed is stored for the owner."""
        unique_keys = list(dict.fromkeys(keys))
        pieces: dict[str, Piece] = {}
        if self._owner != self._public_owner:
            key_by_public = {owned_key(self._public_owner, key): key for key in unique_keys}
            pieces = {key_by_public[stored]: piece for stored, piece in self._cache.get_many(key_by_public).items()}
        key_by_own = {owned_key(self._owner, key): key for key in unique_keys if key not in pieces}

        def compute(missing: list[str]) -> Iterator[dict[str, Piece]]:
            for part in compute_missing([key_by_own[stored] for stored in missing]):
                yield {owned_key(self._owner, key): piece for key, piece in part.items()}

        own_pieces = self._cache.cached(list(key_by_own), compute)
        return pieces | {key_by_own[stored]: piece for stored, piece in own_pieces.items()}

    def put_many(self, pieces: Mapping[str, Piece]) -> None:
        """Store these pieces for the owner."""
        self._cache.put_many({owned_key(self._owner, key): piece for key, piece in pieces.items()})


def pieces_for(owner: str, cache: Cache | None, public_owner: str | None) -> Cache | OwnedPieces | None:
    """The cache as a session of `owner` sees it.

    public_owner: None: every piece answers everybody; else the owner whose pieces answer everybody, while those of
    others answer their owner alone.
    """
    return cache if cache is None or public_owner is None else OwnedPieces(cache, owner, public_owner)


def owned_key(owner: str, key: str) -> str:
    """The key of a piece that belongs to an owner.

    >>> owned_key("ann", "k") == owned_key("ben", "k") or owned_key("an", "nk") == owned_key("ann", "k")
    False
    """
    return hashlib.sha256(json.dumps([owner, key]).encode()).hexdigest()
