"""Attention within segments equals attention written out token by token; the kernels of CUDA get what they read."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from engine.models.scoring.attention.kernels import by_equal_lengths, kernel_for, memory_efficient, variable_length
from engine.models.scoring.attention.packed_pass import attend
from engine.models.scoring.attention.segments import read_at_one_column, whole_texts, with_ancestors

CPU = torch.device("cpu")
LENGTHS = [4, 4, 1, 3, 4]


def tensors(n_heads: int = 4, n_key_heads: int = 2, size: int = 6, n: int = sum(LENGTHS)) -> tuple[torch.Tensor, ...]:
    generator = torch.manual_seed(0)
    return (
        torch.randn(n, n_heads, size, generator=generator),
        torch.randn(n, n_key_heads, size, generator=generator),
        torch.randn(n, n_key_heads, size, generator=generator),
    )


def written_out(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attended: list[list[int]], scale: float
) -> torch.Tensor:
    """softmax(q k / sqrt(size)) v of each query over the keys of `attended`, one head after the other."""
    group = query.shape[1] // key.shape[1]
    output = torch.zeros_like(query)
    for token, keys in enumerate(attended):
        for head in range(query.shape[1]):
            scores = [float(query[token, head] @ key[column, head // group]) * scale for column in keys]
            weights = [math.exp(score) for score in scores]
            for weight, column in zip(weights, keys, strict=True):
                output[token, head] += weight / sum(weights) * value[column, head // group]
    return output


@pytest.mark.parametrize(("is_causal", "window"), [(False, None), (True, None), (False, 2), (True, 2), (True, 3)])
def test_a_token_attends_to_its_own_segment(is_causal: bool, window: int | None) -> None:
    query, key, value = tensors()
    bounds = np.cumsum([0, *LENGTHS])
    attended = [
        [
            column
            for column in range(start, stop)
            if (not is_causal or column <= token) and (window is None or abs(column - token) < window)
        ]
        for start, stop in pairwise(bounds)
        for token in range(start, stop)
    ]
    output = by_equal_lengths(query, key, value, whole_texts(LENGTHS, CPU), is_causal, 0.3, window)
    torch.testing.assert_close(output, written_out(query, key, value, attended, 0.3), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("window", "attended"),
    [
        (None, [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 4], [0, 1, 4, 5], [0, 1, 4, 6]]),
        (2, [[0], [0, 1], [1, 2], [2, 3], [1, 4], [4, 5], [4, 6]]),
    ],
)
def test_a_text_attends_to_the_beginning_that_it_shares(window: int | None, attended: list[list[int]]) -> None:
    # a b c d · a b x y · a b x z as one row a b c d x y z: x follows b, and z follows x
    segments = with_ancestors([4, 2, 1], [np.arange(4), np.array([0, 1, 4, 5]), np.array([0, 1, 4, 6])], CPU)
    assert segments.query_ends.tolist() == [0, 4, 6, 7]
    assert segments.key_ends.tolist() == [0, 4, 8, 12]
    query, key, value = tensors(n=7)
    output = attend(query, key, value, segments, is_causal=True, scale=0.3, window=window)
    torch.testing.assert_close(output, written_out(query, key, value, attended, 0.3), rtol=0, atol=1e-6)


def test_one_query_of_each_segment() -> None:
    query, key, value = tensors()
    whole = by_equal_lengths(query, key, value, whole_texts(LENGTHS, CPU), False, 0.3, None)
    columns = torch.tensor([0, 7, 8, 10, 12])
    output = attend(
        query[columns], key, value, read_at_one_column(whole_texts(LENGTHS, CPU)), is_causal=False, scale=0.3
    )
    torch.testing.assert_close(output, whole[columns], rtol=0, atol=1e-6)


def test_segments_whose_keys_are_their_own_tokens_gather_none() -> None:
    assert with_ancestors([2, 1], [np.arange(2), np.array([2])], CPU).key_columns is None


def test_each_device_and_type_has_its_kernel() -> None:
    cuda = torch.device("cuda")
    assert kernel_for(cuda, torch.bfloat16) is kernel_for(cuda, torch.float16) is variable_length
    assert kernel_for(cuda, torch.float32) is memory_efficient
    for name in ("cpu", "mps", "xpu"):
        assert kernel_for(torch.device(name), torch.bfloat16) is by_equal_lengths


def varlen_on_cpu(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    ends: torch.Tensor,
    key_ends: torch.Tensor,
    longest: int,
    longest_key: int,
    *,
    scale: float,
    window_size: tuple[int, int] = (-1, -1),
    enable_gqa: bool = False,
) -> torch.Tensor:
    """What torch documents `varlen_attn` to compute, of arguments of the shapes that it takes."""
    assert query.shape[-1] == key.shape[-1] == value.shape[-1] == 8  # 6, padded
    assert (ends.dtype, ends.tolist()) == (torch.int32, [0, 4, 8, 9, 12, 16])
    assert torch.equal(ends, key_ends)
    assert longest == longest_key == 4
    assert enable_gqa == (query.shape[1] != key.shape[1])
    left, right = window_size
    return by_equal_lengths(
        query, key, value, whole_texts(LENGTHS, CPU), right == 0, scale, None if left == -1 else left + 1
    )


def varlen_without_groups(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *lengths: Any,
    scale: float,
    window_size: tuple[int, int],
) -> torch.Tensor:
    """The same of a torch that knows no groups of heads."""
    return varlen_on_cpu(query, key, value, *lengths, scale=scale, window_size=window_size)


@pytest.mark.parametrize(("is_causal", "window"), [(False, None), (True, None), (False, 2), (True, 3)])
@pytest.mark.parametrize("stand_in", [varlen_on_cpu, varlen_without_groups])
def test_what_variable_length_attention_is_asked(
    is_causal: bool, window: int | None, stand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.nn.attention.varlen.varlen_attn", stand_in)
    query, key, value = tensors()
    segments = whole_texts(LENGTHS, CPU)
    output = variable_length(query, key, value, segments, is_causal, 0.3, window)[..., :6]
    expected = by_equal_lengths(query, key, value, segments, is_causal, 0.3, window)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-6)


def test_what_no_kernel_of_cuda_computes_is_refused() -> None:
    query, key, value = tensors(size=264)
    with pytest.raises(ValueError, match="at most 256"):
        variable_length(query, key, value, whole_texts(LENGTHS, CPU), False, 0.3, None)
    with pytest.raises(ValueError, match="no window"):
        memory_efficient(query, key, value, whole_texts(LENGTHS, CPU), False, 0.3, 2)
