from __future__ import annotations

import pytest
import torch

from engine.models.scoring.shortcuts import matches_full_pass, tolerance_of_logits

WHOLE = torch.tensor([[1.0, -10.0]])


def test_a_way_gives_what_is_near_enough() -> None:
    # 0.001 of the largest entry, 10, is 0.01
    assert matches_full_pass([WHOLE], lambda: [WHOLE + 0.009], 0.001)
    assert not matches_full_pass([WHOLE], lambda: [WHOLE + 0.011], 0.001)
    assert not matches_full_pass([WHOLE], lambda: [torch.full_like(WHOLE, torch.nan)], 0.001)
    # each against its own largest
    assert not matches_full_pass([WHOLE, WHOLE / 100], lambda: [WHOLE, WHOLE / 100 + 0.001], 0.001)


def test_another_shape_or_number_or_kind_is_not_it() -> None:
    assert not matches_full_pass([WHOLE], lambda: [WHOLE.T], 0.1)
    assert not matches_full_pass([WHOLE], lambda: [WHOLE, WHOLE], 0.1)
    assert not matches_full_pass([WHOLE], lambda: [None], 0.1)  # type: ignore[list-item]


def test_a_way_that_fails_is_none_but_memory_says_nothing() -> None:
    def failing(error: Exception) -> list[torch.Tensor]:
        raise error

    assert not matches_full_pass([WHOLE], lambda: failing(AttributeError("no attention.self")), 0.1)
    with pytest.raises(RuntimeError, match="out of memory"):
        matches_full_pass([WHOLE], lambda: failing(RuntimeError("CUDA out of memory")), 0.1)
    with pytest.raises(ZeroDivisionError):
        matches_full_pass([WHOLE], lambda: failing(ZeroDivisionError()), 0.1)


def test_halves_may_differ_more() -> None:
    assert tolerance_of_logits(torch.float32) < tolerance_of_logits(torch.bfloat16)
    assert tolerance_of_logits(torch.float16) == tolerance_of_logits(torch.bfloat16)
