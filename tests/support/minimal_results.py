"""Minimal-pairs results without a model: sums that like short sentences, as many pairs as a test wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from engine.evaluations.minimal_pairs.records import EXCLUDED, TOKENS, Result, Settings


def synthetic(n: int, *, models: Sequence[str] = ("m", "n"), seed: int = 0, n_categories: int = 3) -> Result:
    """Models that lose 3 nats a token and find the acceptable sentence 1 nat better; every 50th pair is a tie."""
    random = np.random.default_rng(seed)
    tables = []
    for model in models:
        a = random.integers(4, 12, n)
        u = np.maximum(1, a + random.integers(-3, 4, n))
        tables.append(
            pd.DataFrame(
                {
                    "model": model,
                    "row": np.arange(1, n + 1),
                    "category": [f"c{i % n_categories}" for i in range(n)],
                    "acceptable": "良い文",
                    "unacceptable": "悪い文",
                    "acceptable_tokens": a,
                    "unacceptable_tokens": u,
                    "acceptable_log_likelihood": -3.0 * a + 2 * random.normal(size=n),
                    "unacceptable_log_likelihood": -3.0 * u - 1 + 2 * random.normal(size=n),
                    "identical": np.arange(n) % 50 == 49,
                    "acceptable_characters": a + 2,
                    "unacceptable_characters": u + 2,
                    "acceptable_unigrams": -5.0 * a + random.normal(size=n),
                    "unacceptable_unigrams": -5.0 * u + random.normal(size=n),
                    "item": np.arange(n),
                    "acceptable_bytes": 9,
                    "unacceptable_bytes": 9,
                    "morcela_beta": 0.7,
                    "morcela_gamma": 2.0,
                    "shared_words": 3,
                    "cut_words": (np.arange(n) % 4 == 0).astype(np.int64),
                    "acceptable_parts": 0,
                    "unacceptable_parts": 0,
                    "acceptable_unknown": 0,
                    "unacceptable_unknown": 0,
                    "acceptable_boundaries": -random.random(n),
                    "unacceptable_boundaries": -random.random(n),
                    "acceptable_words": pd.array(a // 2, dtype="Int64"),
                    "unacceptable_words": pd.array(u // 2 + 1, dtype="Int64"),
                    "acceptable_in_template": -3.0 * a + np.arange(n) % 7,
                    "unacceptable_in_template": -3.0 * u - 1 + np.arange(n) % 5,
                    "acceptable_yes_no": (np.arange(n) % 11 - 5) / 2,
                    "unacceptable_yes_no": (np.arange(n) % 13 - 7) / 2,
                    "acceptable_votes": np.arange(n) % 6 * 1.0,
                    "unacceptable_votes": 5.0 - np.arange(n) % 6,
                }
            )
        )
    items = pd.DataFrame(
        {
            "row": np.arange(1, n + 1),
            "source": "synthetic",
            "category": [f"c{i % n_categories}" for i in range(n)],
            "field:theme": [f"c{i % n_categories}" for i in range(n)],
            "field:level": ["easy" if i % 2 else "hard" for i in range(n)],
            "field:constant": "one",
        }
    )
    return Result(
        Settings(tuple(models)),
        "synthetic",
        pd.concat(tables, ignore_index=True),
        TOKENS.frame(),
        EXCLUDED.frame(),
        items,
    )


def from_margins(
    margins: Mapping[str, Sequence[float]], tokens: Sequence[tuple[int, int]], categories: Sequence[str] | None = None
) -> Result:
    """A result whose LP margins are given by model, and whose token counts are the same for all."""
    n = len(tokens)
    a, u = np.array(tokens).T
    named = list(categories or [""] * n)
    tables = [
        pd.DataFrame(
            {
                "model": model,
                "row": np.arange(1, n + 1),
                "category": named,
                "acceptable": [f"a{i}" for i in range(n)],
                "unacceptable": [f"u{i}" for i in range(n)],
                "acceptable_tokens": a,
                "unacceptable_tokens": u,
                "acceptable_log_likelihood": -50.0 + np.array(values),
                "unacceptable_log_likelihood": -50.0,
                "identical": False,
                "acceptable_characters": 2 * a,
                "unacceptable_characters": 2 * u,
                "item": np.arange(n),
            }
        )
        for model, values in margins.items()
    ]
    items = pd.DataFrame({"row": np.arange(1, n + 1), "source": "made up", "category": named})
    return Result(
        Settings(tuple(margins)),
        "made up",
        pd.concat(tables, ignore_index=True),
        TOKENS.frame(),
        EXCLUDED.frame(),
        items,
    )
