"""Log-likelihoods of the sentences of minimal pairs that were computed elsewhere: with the pairs, as one more model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

# Columns of the frame of a dataset.
ABOUT, COLUMN = "scores", "scores:"
UNKNOWN = -1  # a number of tokens that the file does not say
SIDES = ("acceptable", "unacceptable")


@dataclass(frozen=True, eq=False)
class SideScores:
    """The scores of the sentences of one side, (n_pairs,) each.

    log_likelihoods: float64, sums in nats; NaN where the file has none. n_tokens: int64, UNKNOWN where the file does not
    say. tokens: of each sentence a JSON list of [token, log-likelihood], "" where the file has none; the log-likelihood
    of a token that was read and not scored is null.
    """

    log_likelihoods: np.ndarray
    n_tokens: np.ndarray
    tokens: tuple[str, ...] = ()

    def subset(self, places: Sequence[int]) -> SideScores:
        """Those of the pairs at these places."""
        return SideScores(
            self.log_likelihoods[places],
            self.n_tokens[places],
            tuple(self.tokens[i] for i in places) if self.tokens else (),
        )


@dataclass(frozen=True, eq=False)
class OutsideScores:
    """One model's scores of the sentences of a dataset, aligned with its pairs.

    name: of the model in settings, "scores/NAME", with a label before it or not. file: where they are from, by its
    name; digest: SHA-256 of its content. form: how the file was laid out, in the words of `files.FORMS`. published:
    accuracies that the file itself states, by task.
    """

    name: str
    file: str
    digest: str
    form: str
    sides: tuple[SideScores, SideScores]
    published: Mapping[str, float] = field(default_factory=dict)

    def subset(self, places: Sequence[int]) -> OutsideScores:
        """The scores of the pairs at these places."""
        first, second = self.sides
        return replace(self, sides=(first.subset(places), second.subset(places)))

    def content(self) -> str:
        """A SHA-256 of all that is here."""
        digest = hashlib.sha256(self._about().encode())
        for side in self.sides:
            digest.update(np.ascontiguousarray(side.log_likelihoods, dtype=">f8").tobytes())
            digest.update(np.ascontiguousarray(side.n_tokens, dtype=">i8").tobytes())
            for text in side.tokens:
                encoded = text.encode("utf-8", "surrogatepass")
                digest.update(len(encoded).to_bytes(8, "big") + encoded)
        return digest.hexdigest()

    def _about(self) -> str:
        about = {name: getattr(self, name) for name in ("name", "file", "digest", "form")}
        return json.dumps({**about, "published": dict(self.published)}, ensure_ascii=False)


def with_scores(frame: pd.DataFrame, scores: Sequence[OutsideScores]) -> pd.DataFrame:
    """The frame of a dataset with its scores, so that they are stored with it; `scores_of` reads them."""
    if not scores or not len(frame):
        return frame
    about = "[" + ", ".join(of_model._about() for of_model in scores) + "]"
    columns: dict[str, Any] = {ABOUT: pd.Series([about, *[""] * (len(frame) - 1)], dtype="str")}
    for number, of_model in enumerate(scores):
        for side, of_side in zip(SIDES, of_model.sides, strict=True):
            name = f"{COLUMN}{number}:{side}"
            columns |= {f"{name}:log_likelihood": of_side.log_likelihoods, f"{name}:n_tokens": of_side.n_tokens}
            if of_side.tokens:
                columns[f"{name}:tokens"] = pd.Series(of_side.tokens, dtype="str")
    return frame.assign(**columns)


def scores_of(frame: pd.DataFrame) -> tuple[OutsideScores, ...]:
    """The scores that `with_scores` put into a frame."""
    has_scores = {ABOUT, f"{COLUMN}0:{SIDES[0]}:log_likelihood"} <= set(frame.columns)
    if not has_scores or not len(frame) or not frame[ABOUT].iloc[0]:  # some rows of a dataset, without its first
        return ()
    found = []
    for number, about in enumerate(json.loads(frame[ABOUT].iloc[0])):
        sides = []
        for side in SIDES:
            name = f"{COLUMN}{number}:{side}"
            tokens = f"{name}:tokens"
            sides.append(
                SideScores(
                    frame[f"{name}:log_likelihood"].to_numpy(dtype=np.float64),
                    frame[f"{name}:n_tokens"].to_numpy(dtype=np.int64),
                    tuple(frame[tokens].tolist()) if tokens in frame.columns else (),
                )
            )
        found.append(OutsideScores(**about, sides=(sides[0], sides[1])))
    return tuple(found)
