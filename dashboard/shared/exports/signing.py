"""Signatures as text and files: a line to read, a digest that identifies it, CSV that carries it. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from engine.datasets.formats.delimited import csv_text
from engine.datasets.formats.formulas import DIGEST_DIGITS, escape_formulas
from engine.evaluations.shared.input_columns import SIGNATURE

REVISION_CHARACTERS = 12
EMPTY: tuple[Any, ...] = (None, "", [], (), {})


def signature_line(signature: Mapping[str, Any], longest: int | None = None) -> str:
    """The signature in one line: models with their fingerprints, every setting that is set, our own version.

    longest: of how many characters a value is shown, None for all; a page has the full signature beside.

    >>> signature_line({"models": [{"name": "m", "fingerprint": "ab12"}], "settings": {"pooling": "cls", "layer": None},
    ...       "layers": {"m": 4}, "versions": {"hakari": "0.1.0", "torch": "2.13.0"}})
    'm (ab12) · pooling cls · layers m 4 · hakari 0.1.0'
    """
    parts = [_model(model) for model in signature.get("models", ())]
    for key, value in signature.items():
        if key not in ("models", "settings", "versions"):
            parts += [f"{_words(key)} {_cut(_value(value), longest)}"] if value not in EMPTY else []
        elif key == "settings":
            parts += _settings(value, longest)
    # The libraries' versions are in the full signature only; a line of them would hide what differs.
    if "hakari" in signature.get("versions", {}):
        parts.append(f"hakari {signature['versions']['hakari']}")  # untranslated
    return " ".join(" · ".join(parts).split())  # a template has lines of its own


def digest(signature: Mapping[str, Any]) -> str:
    """Ten hexadecimal digits that change when anything in the signature does."""
    canonical = json.dumps(signature, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:DIGEST_DIGITS]


def csv_bytes(frame: pd.DataFrame, signature: Mapping[str, Any]) -> bytes:
    """`frame` as CSV that Excel reads (UTF-8 with BOM) and runs no formula of, the signature's digest in a last column."""
    signed = escape_formulas(frame).assign(**{SIGNATURE: digest(signature)})
    return csv_text(signed).encode("utf-8-sig")


def _model(model: Mapping[str, Any]) -> str:
    identifiers = [str(model[key])[:REVISION_CHARACTERS] for key in ("revision", "fingerprint") if model.get(key)]
    return f"{model['name']} ({', '.join(identifiers)})" if identifiers else str(model["name"])


def _settings(settings: Mapping[str, Any], longest: int | None) -> Iterator[str]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _settings(value, longest)
        elif value not in EMPTY:
            yield f"{_words(key)} {_cut(_value(value), longest)}"


def _cut(text: str, longest: int | None) -> str:
    return text if longest is None or len(text) <= longest else f"{text[:longest]}…"


def _value(value: Any) -> str:
    """A value in words: what is empty left out, a signature within as its digest."""
    if isinstance(value, Mapping):
        if {"models", "versions"} <= set(value):
            return digest(value)
        return ", ".join(f"{key} {_value(inner)}" for key, inner in value.items() if inner not in EMPTY)
    if isinstance(value, list | tuple):
        return ("; " if any(isinstance(inner, Mapping) for inner in value) else ", ").join(map(_value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _words(key: str) -> str:
    return key.replace("_", " ")
