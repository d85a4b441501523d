"""The matrix of similarities on the page: the numbers, matches and words that its script gets."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dashboard.alignment.similarities import component
from engine.messages import languages


def tokens(side: str, surfaces: list[str], matches: list[int], special: int = 0) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "side": side,
            "position": range(len(surfaces)),
            "surface": surfaces,
            "match_position": matches,
            "special": [place < special for place in range(len(surfaces))],
            "unknown": [surface == "鱻" for surface in surfaces],
        }
    )


PAIR = pd.concat(
    [
        tokens("reference", ["[CLS]", "猫", "鱻"], [-1, 1, 1], special=1),
        tokens("candidate", ["[CLS]", "犬"], [-1, 2], special=1),
    ],
    ignore_index=True,
)
MATRIX = np.array([[1.0, 0.1], [0.2, 0.5], [0.3, 0.75]])  # (3 of the reference, 2 of the candidate)


def test_the_script_gets_every_similarity_and_match() -> None:
    shuffled = PAIR.sample(frac=1, random_state=3)  # the order of rows does not count
    data = component.matrix_data(MATRIX, shuffled)
    values = np.frombuffer(base64.b64decode(data["values"]), dtype="<f4").reshape(3, 2)
    np.testing.assert_allclose(values, MATRIX, rtol=1e-6)
    assert data["reference"] == ["[CLS]", "猫", "鱻"] and data["candidate"] == ["[CLS]", "犬"]
    assert data["best"] == {"reference": [[1, 1], [2, 1]], "candidate": [[1, 2]]}  # a special token matches nothing
    assert data["unknown"] == [[2], []] and data["ground"] == pytest.approx(np.median(MATRIX))


def test_by_hand_the_finding_is_of_tokens_that_are_not_special() -> None:
    # Without [CLS] the similarities are 0.5 and 0.75: their median is 0.625.
    assert component.finding(MATRIX, PAIR) == (
        "Similarity of 2 tokens of the reference to 1 tokens of the candidate. The median is 0.62; highest is 0.75, of "
        "鱻 and 犬."
    )


def test_a_side_of_special_tokens_alone_has_no_highest() -> None:
    alone = pd.concat([PAIR[PAIR["side"] == "reference"], tokens("candidate", ["[CLS]", "[SEP]"], [-1, -1], special=2)])
    assert component.finding(MATRIX, alone).endswith("to 0 tokens of the candidate.")


def test_the_finding_and_the_texts_are_in_japanese_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_chosen", lambda: "ja")
    shown = [component.finding(MATRIX, PAIR), *component.texts().values()]
    assert not [text for text in shown if re.search(r"[A-Za-z]{6,}", re.sub(r"\{\w+\}|Escape", "", text))]


def test_every_text_of_the_script_is_there_and_none_is_written_as_markup() -> None:
    source = (Path(component.__file__).parent / "matrix.js").read_text(encoding="utf-8")
    named = set(re.findall(r"data\.texts\.(\w+)", source)) | {"zoom-in", "zoom-out", "whole"}
    assert named == component.texts().keys() and "innerHTML" not in source
