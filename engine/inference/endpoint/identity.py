"""What the server of an endpoint says of itself and of its model, and the fingerprint made of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import ModelError
from engine.inference.endpoint.client import Client
from engine.inference.endpoint.settings import Endpoint
from engine.messages.message import Message, list_of

# Of a model's entry at /models: what does not change from one request to the next (vLLM's `created` does).
FIELDS = ("id", "root", "parent", "owned_by", "max_model_len", "meta")
VALUE_CHARACTERS, ENTRIES = 200, 32
NAMES_SHOWN = 10


@dataclass(frozen=True)
class Identity:
    """A served model as it was found.

    version: of the server's software, "" where it does not say. reported: the entry of the model, bounded. fingerprint:
    a SHA-256 over the address, the served name and all that was reported.
    """

    version: str
    reported: dict[str, Any]
    fingerprint: str


async def identity_of(endpoint: Endpoint, client: Client) -> Identity:
    """Ask a server for its models and its version. Raises ModelError when it does not serve the model, RunError."""
    listed = await client.about(f"{endpoint.address}/models")
    entry = _entry(endpoint, listed, client)
    root = endpoint.address.removesuffix("/v1")
    answer = await client.about(f"{root}/version")
    version = answer.get("version") if isinstance(answer, Mapping) else None
    version = client.without_key(version) if isinstance(version, str) else ""
    reported = {name: value for name in FIELDS if (value := _bounded(entry.get(name), client)) is not None}
    description = json.dumps([endpoint.address, endpoint.model, endpoint.bos, version, reported], sort_keys=True)
    return Identity(version, reported, hashlib.sha256(description.encode()).hexdigest())


def _entry(endpoint: Endpoint, listed: Any, client: Client) -> Mapping[str, Any]:
    entries = listed.get("data") if isinstance(listed, Mapping) else None
    if not isinstance(entries, list):
        return {}
    served = {
        entry["id"]: entry for entry in entries if isinstance(entry, Mapping) and isinstance(entry.get("id"), str)
    }
    if served and endpoint.model not in served:
        names = [client.without_key(name) for name in list(served)[:NAMES_SHOWN]]
        raise ModelError(
            Message(
                "The server of {full_name} ({host}) serves no model {model!r}; it serves {names}. "
                "The operator names one of them by model=.",
                full_name=endpoint.full_name,
                host=endpoint.host,
                model=endpoint.model,
                names=list_of(names),
            )
        )
    return served.get(endpoint.model, {})


def _bounded(value: Any, client: Client) -> Any:
    """A short text, a number, or one level of both; None for anything else."""
    if isinstance(value, str):
        return client.without_key(value)[:VALUE_CHARACTERS]
    if isinstance(value, bool | int | float):
        return value if abs(value) < 2**63 else None
    if isinstance(value, Mapping):
        kept = {
            str(name)[:VALUE_CHARACTERS]: plain
            for name, item in list(value.items())[:ENTRIES]
            if not isinstance(item, Mapping) and (plain := _bounded(item, client)) is not None
        }
        return kept or None
    return None
