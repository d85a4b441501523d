from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from engine.errors import RunError
from engine.models.loading.devices import on_device
from engine.models.loading.weights import load
from engine.models.scoring import batching
from engine.models.scoring.batching import buckets, budget_of_batches, computing, is_out_of_memory, padded, run_buckets
from engine.models.scoring.masked_lm import token_log_likelihoods
from engine.models.tokenization.encoding import pad_id, token_ids
from tests.support import tiny_models

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return AutoTokenizer.from_pretrained(tiny_models.bert(tmp_path_factory.mktemp("bert")))


def test_ids_are_whole_whatever_was_asked_before(tokenizer: Any) -> None:
    text = " ".join(tiny_models.ENGLISH * 10)
    whole = tokenizer(text, verbose=False)["input_ids"]
    tokenizer([text, "cat"], truncation=True, max_length=4, padding="longest")  # stays set in the Rust tokenizer
    assert token_ids(tokenizer, text) == whole and len(whole) > tokenizer.model_max_length
    assert token_ids(tokenizer, "") == [tokenizer.cls_token_id, tokenizer.sep_token_id]


def test_ids_are_right_in_threads(tokenizer: Any) -> None:
    texts = [" ".join(tiny_models.ENGLISH[: 1 + i % 5]) for i in range(200)]
    expected = [token_ids(tokenizer, text) for text in texts]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda text: token_ids(tokenizer, text), texts)) == expected


def test_padding_without_a_padding_token(tmp_path: Path, tokenizer: Any) -> None:
    assert pad_id(tokenizer) == tokenizer.pad_token_id
    assert pad_id(AutoTokenizer.from_pretrained(tiny_models.gpt2_byte_level(tmp_path))) == 0


def test_buckets_by_hand() -> None:
    # Longest first: 9 alone exceeds 8 and stands alone; 4 + 4 = 8 fits; 3 keeps a device of 8 busy (an eighth of it
    # is 1 token), and 1 is less than 0.85 x 3; 1 and 1 are of one length.
    assert buckets([1, 4, 9, 3, 4, 1], 8) == [[2], [1, 4], [3], [0, 5]]
    assert buckets([], 8) == []


def test_short_rows_fill_a_batch_until_it_keeps_the_device_busy() -> None:
    # An eighth of 160 is 20 tokens: 2 rows of 10. The first 6 comes within them; 9 is 0.9 x 10, the last 6 is 0.6 x 10.
    assert buckets([10, 6, 6], 160) == [[0, 1], [2]]
    assert buckets([10, 10, 9, 6], 160) == [[0, 1, 2], [3]]
    # As many rows as the budget holds, where they are of one length.
    assert [len(bucket) for bucket in buckets([10] * 20, 160)] == [16, 4]


@given(st.lists(st.integers(0, 40)), st.integers(1, 100))
def test_every_row_is_in_one_bucket_within_the_budget(lengths: list[int], budget: int) -> None:
    found = buckets(lengths, budget)
    assert sorted(i for bucket in found for i in bucket) == list(range(len(lengths)))
    assert all(len(bucket) * max(lengths[i] for i in bucket) <= budget for bucket in found if len(bucket) > 1)
    in_order = [lengths[i] for bucket in found for i in bucket]
    assert in_order == sorted(in_order, reverse=True)


def test_padded_by_hand() -> None:
    ids, mask = padded([[5, 6, 7], [8]], 1, CPU)
    assert ids.tolist() == [[5, 6, 7], [8, 1, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert ids.dtype == mask.dtype == torch.int64


class Device:
    """A device that holds so many rows at once, and a record of what was asked of it."""

    def __init__(self, rows: int, error: Callable[[], Exception]) -> None:
        self.rows, self.error = rows, error
        self.asked: list[int] = []
        self.done: list[int] = []

    def step(self, indices: list[int]) -> None:
        self.asked.append(len(indices))
        if len(indices) > self.rows:
            raise self.error()
        self.done += indices


@pytest.mark.parametrize(
    "error",
    [
        lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        lambda: RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory"),
        lambda: RuntimeError("HIP out of memory"),
        MemoryError,
    ],
)
def test_a_bucket_too_large_is_halved_and_so_are_the_later_ones(error: Callable[[], Exception]) -> None:
    device = Device(3, error)
    run_buckets([4] * 20, 32, device.step)
    assert sorted(device.done) == list(range(20))
    assert device.asked == [8, 4] + [2] * 10  # 8 rows, 4 rows, then 2 at a time and no failure again


def test_a_model_keeps_to_the_smaller_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An injected out-of-memory: rows are halved until they fit, and the next call begins with what fitted."""
    loaded, again = (load(str(tiny_models.bert(tmp_path / name)), "masked") for name in ("one", "other"))
    texts = ["the cat sleeps quietly"] * 8
    expected = [piece["log_likelihoods"] for piece in token_log_likelihoods(loaded, texts, scoring="pll-original")]
    n_rows: list[int] = []
    forward = loaded.model.bert.forward

    def short_of_memory(*arguments: Any, **inputs: Any) -> Any:
        n_rows.append(len(arguments[0] if arguments else inputs["input_ids"]))
        if n_rows[-1] > 5:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return forward(*arguments, **inputs)

    monkeypatch.setattr(loaded.model.bert, "forward", short_of_memory)
    whole = budget_of_batches(loaded)
    for call in range(2):
        pieces = token_log_likelihoods(loaded, texts, scoring="pll-original")
        for piece, numbers in zip(pieces, expected, strict=True):
            np.testing.assert_allclose(piece["log_likelihoods"], numbers, rtol=1e-5, atol=1e-6)
        failed = [n for n in n_rows if n > 5]
        assert len(failed) > 1 if call == 0 else not failed
        n_rows.clear()
    assert budget_of_batches(loaded) < whole == budget_of_batches(again)  # another model is not concerned


def test_rows_without_padding_fill_a_batch_by_their_sum() -> None:
    batches: list[list[int]] = []
    # longest first: 9 + 4 are more than 12; 4 + 4 + 3 are 11; the rest is 1
    run_buckets([4, 9, 1, 4, 3], 12, batches.append, is_packed=True)
    assert batches == [[1], [0, 3, 4, 2]] and 4 + 4 + 3 + 1 == 12
    batches.clear()

    def step(rows: list[int]) -> None:
        if len(rows) > 1:
            raise torch.OutOfMemoryError("out of memory")
        batches.append(rows)

    run_buckets([4, 9, 1, 4, 3], 100, step, is_packed=True)
    # 21 tokens, then 10: 9 and 1; 5: 9 alone; 4 alone, twice; 3 + 1, whose half is 2: 3 alone; 1
    assert batches == [[1], [0], [3], [4], [2]]


def test_one_text_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(RunError, match="does not hold one text alone"):
        run_buckets([4, 2], 8, Device(0, lambda: torch.OutOfMemoryError("CUDA out of memory")).step)


def test_other_errors_pass() -> None:
    def step(indices: list[int]) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="mat1"):
        run_buckets([4, 2], 8, step)
    assert not is_out_of_memory(RuntimeError("mat1")) and not is_out_of_memory(ValueError("out of memory"))


@pytest.mark.parametrize(
    ("precision", "of_products", "of_logits"),
    [
        ("fp32", torch.float32, torch.float32),
        ("tf32", torch.float32, torch.float32),
        ("bf16", torch.bfloat16, torch.float32),
        ("fp16", torch.float16, torch.float32),
    ],
)
def test_the_context_of_each_precision(
    tmp_path: Path, precision: str, of_products: torch.dtype, of_logits: torch.dtype
) -> None:
    before = torch.get_float32_matmul_precision()
    # A processor has no TF32, so that a loaded model never has this precision there; the context is the same.
    loaded = load(str(tiny_models.bert(tmp_path / "bert")), "masked", precision=precision)
    loaded = replace(loaded, precision=precision)
    with torch.inference_mode(), computing(loaded):
        output = loaded.model(input_ids=torch.tensor([[1, 2, 3]]), output_hidden_states=True)
        assert torch.get_float32_matmul_precision() == ("high" if precision == "tf32" else before)
    assert output.hidden_states[1].dtype == of_products and output.logits.dtype == of_logits
    assert torch.get_float32_matmul_precision() == before


def test_a_card_takes_as_many_tokens_as_its_free_memory_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    free, reserved, allocated = 3 * 2**30, 2 * 2**30, 2**30
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 80 * 2**30))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: reserved)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: allocated)
    card = torch.device("cuda", 0)
    # half of 4 GiB, at 16 numbers of 4 bytes in each of 768 dimensions: 2^31 / 49,152
    assert batching.token_budget(card, 768) == 43690
    assert batching.token_budget(card, 64) == batching.TOKEN_BUDGETS["cuda"]  # more keeps it no busier
    free, reserved = 0, 2**30
    assert batching.token_budget(card, 768) == batching.SMALLEST_BUDGET
    assert batching.token_budget(torch.device("cpu"), 768) == batching.TOKEN_BUDGETS["cpu"]


def test_an_array_becomes_a_tensor_of_its_own_kind() -> None:
    array = np.array([[1, 2], [3, 4]], dtype=np.int64)
    there = on_device(array, torch.device("cpu"))
    assert there.dtype == torch.int64 and there.tolist() == array.tolist() and not there.is_pinned()
