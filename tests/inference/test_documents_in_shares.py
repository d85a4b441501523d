"""Running text through the gateway: long texts in several chunks, cached by share, the same numbers as in one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.inference import chunks
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from tests.support import tiny_models
from tests.support.fakes import FakeBackend
from tests.support.in_process import InProcess

LONG, SHORT = "".join(tiny_models.JAPANESE) * 12, tiny_models.JAPANESE[1]


@pytest.mark.parametrize("scoring", ["causal", "pll-word-l2r"])
def test_a_long_text_is_computed_in_chunks_and_has_the_numbers_of_one(
    scoring: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = tiny_models.gpt2_unigram if scoring == "causal" else tiny_models.bert
    model = str(make(tmp_path / "model"))
    read = {"scoring": scoring, "window": 32, "stride": 16}
    whole = Gateway(InProcess(), None).session("whole").document_log_likelihoods(model, [LONG, SHORT], **read)  # type: ignore[arg-type]
    monkeypatch.setattr(chunks, "WORK_BY_DEVICE", {"cpu": 1.0})  # the fewest tokens in a chunk
    seen: list[tuple[int, int]] = []
    session = Gateway(InProcess(), None).session("shares", lambda done, total, label: seen.append((done, total)))
    shared = session.document_log_likelihoods(model, [LONG, SHORT], **read)  # type: ignore[arg-type]
    for one, other in zip(whole, shared, strict=True):
        assert one["tokens"] == other["tokens"] and one["n_windows"] == other["n_windows"]
        np.testing.assert_allclose(one["log_likelihoods"], other["log_likelihoods"], atol=2e-5)
    assert whole[0]["n_windows"] > 10 and whole[1]["n_windows"] == 1
    assert max(total for _, total in seen) > 3  # progress within the text


def test_what_is_known_is_not_computed_again_and_windows_are_of_the_key(tmp_path: Path) -> None:
    backend = FakeBackend(n_parameters=1_000_000_000)  # chunks of 200 characters
    gateway = Gateway(backend, Cache(tmp_path / "cache", 10**9))
    for expected, settings in (
        (True, {"window": 64, "stride": 32}),
        (False, {"window": 64, "stride": 32}),
        (True, {"window": 64, "stride": 16}),
        (True, {"window": 32, "stride": 16}),
        (True, {"window": 32, "stride": 16, "window_prefix": "first"}),
    ):
        before = backend.n_items("document_log_likelihoods")
        pieces = gateway.session("run").document_log_likelihoods(
            "somebody/gpt2",
            [LONG, SHORT, LONG],
            scoring="causal",
            **settings,  # type: ignore[arg-type]
        )
        assert (backend.n_items("document_log_likelihoods") > before) is expected
        assert pieces[0]["tokens"] == list(LONG) and pieces[1]["tokens"] == list(SHORT)
        np.testing.assert_array_equal(pieces[0]["log_likelihoods"], pieces[2]["log_likelihoods"])
    masked = [
        gateway.session("run").document_log_likelihoods(
            "somebody/bert", [SHORT], scoring="pll-original", window=64, stride=32, window_prefix=where
        )[0]["log_likelihoods"]
        for where in ("each", "first")
    ]
    np.testing.assert_array_equal(*masked)  # of causal models alone
