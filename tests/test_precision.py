"""The one setting of the precision: declared alike in every evaluation, resolved once, kept apart in keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import InputError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared.signature import signature
from engine.inference import keys
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.options import check, options_of
from engine.precision import (
    AUTO,
    BYTES_PER_WEIGHT,
    DTYPES,
    EXACT_DECISIONS,
    MEANINGS,
    in_words,
    processor_computes_bf16,
    resolved,
)
from engine.runs.storage.json_codec import record_from_json, to_json_value
from tests.support.fakes import FakeBackend
from tests.support.session_fake import facts

COMPUTING = [kind for kind, evaluation in EVALUATIONS.items() if kind != "dictionary"]
BERT = "fake/bert"


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    opened = Cache(tmp_path / "cache.sqlite", 2**28)
    yield opened
    opened.close()


@pytest.mark.parametrize("kind", COMPUTING)
def test_every_evaluation_that_computes_has_the_same_setting(kind: str) -> None:
    declared = options_of(EVALUATIONS[kind].settings_type)["precision"]
    own = {EXACT_DECISIONS} if kind == "minimal-pairs" else set()
    assert declared.default == AUTO and set(declared.choices) == {*MEANINGS, *own}
    assert all(declared.choices[name] == meaning for name, meaning in MEANINGS.items())


@pytest.mark.parametrize("kind", COMPUTING)
def test_settings_stored_before_there_was_a_choice_were_computed_in_fp32(kind: str) -> None:
    record_type = EVALUATIONS[kind].settings_type
    stored = to_json_value(record_type(models=("m",)))
    assert record_from_json(record_type, stored).precision == AUTO
    del stored["precision"]
    assert record_from_json(record_type, stored).precision == "fp32"
    for former in ("fp32", "bf16", "fp16"):  # the spellings of 0.1.0
        restored = record_from_json(record_type, {**stored, "precision": former})
        check(restored)
        assert restored.precision == former


# The table of the choices, written by hand: published in, device -> what each stands for.
@pytest.mark.parametrize(
    ("published", "device", "auto", "as_published", "tf32"),
    [
        ("float32", "cpu", "fp32", "fp32", "fp32"),
        ("bfloat16", "cpu", "fp32", "bf16", "fp32"),
        ("float16", "cpu", "fp32", "fp16", "fp32"),
        ("float32", "cuda:1", "fp32", "fp32", "tf32"),
        ("bfloat16", "cuda", "bf16", "bf16", "tf32"),
        ("float16", "cuda:0", "fp16", "fp16", "tf32"),
        ("float64", "cuda", "fp32", "fp32", "tf32"),
        ("bfloat16", "xpu", "bf16", "bf16", "fp32"),
        ("bfloat16", "mps", "fp32", "bf16", "fp32"),
    ],
)
def test_what_each_choice_stands_for(published: str, device: str, auto: str, as_published: str, tf32: str) -> None:
    assert [resolved(choice, published, device) for choice in ("auto", "as-published", "tf32")] == [
        auto,
        as_published,
        tf32,
    ]
    assert [resolved(choice, published, device) for choice in ("bf16", "fp16", "fp32")] == ["bf16", "fp16", "fp32"]
    with pytest.raises(InputError, match="auto, as-published, bf16, fp16, fp32, tf32; got 'int8'"):
        resolved("int8", published, device)


def test_every_precision_has_its_type_and_its_size() -> None:
    sizes = {"float32": 4, "bfloat16": 2, "float16": 2}
    assert {name: sizes[dtype] for name, dtype in DTYPES.items()} == BYTES_PER_WEIGHT


@pytest.mark.parametrize(
    ("precision", "published", "device", "dtype"),
    [
        ("auto", "bfloat16", "cpu", "float32"),
        ("auto", "bfloat16", "cuda", "bfloat16"),
        ("as-published", "float16", "cpu", "float16"),
        ("tf32", "float32", "cuda", "float32, products in TF32"),
        ("tf32", "float32", "cpu", "float32"),
        (EXACT_DECISIONS, "float32", "cpu", "bfloat16, then float32"),
    ],
)
def test_the_signature_says_what_was_computed_in(precision: str, published: str, device: str, dtype: str) -> None:
    record_type = EVALUATIONS["minimal-pairs"].settings_type
    described = replace(facts("m"), dtype=published, device=device)
    signed = signature(record_type(("m",), precision=precision), [described], "0" * 64)
    assert signed["models"][0]["dtype"] == dtype == in_words(precision, published, device)
    assert signed["settings"]["precision"] == precision


CALLS: dict[str, Any] = {
    "sentence_vectors": lambda session, precision: session.sentence_vectors(BERT, ["猫"], precision=precision),
    "token_similarities": lambda session, precision: session.token_similarities(
        BERT, [("猫", "犬")], precision=precision
    ),
    "token_log_likelihoods": lambda session, precision: session.token_log_likelihoods(
        BERT, ["猫"], scoring="pll-original", precision=precision
    ),
    "shared_token_log_likelihoods": lambda session, precision: session.shared_token_log_likelihoods(
        BERT, [("猫", "犬")], precision=precision
    ),
    "fill_masks": lambda session, precision: session.fill_masks(BERT, [("猫が", "庭", "で")], precision=precision),
}


@pytest.mark.parametrize("operation", CALLS)
def test_a_piece_of_one_precision_is_never_served_for_another(cache: Cache, operation: str) -> None:
    backend = FakeBackend()
    session = Gateway(backend, cache).session("run")
    for precision in ("fp32", "auto", "as-published", "tf32"):  # float32 weights on a processor: all are fp32
        CALLS[operation](session, precision)
    for precision in ("bf16", "fp16", "bf16"):
        CALLS[operation](session, precision)
    asked = [call.request["settings"]["precision"] for call in backend.calls if call.operation == operation]
    assert asked == ["fp32", "bf16", "fp16"]


def test_keys_of_two_precisions_differ() -> None:
    described = facts("m")
    assert len(
        {keys.item_keys("fill_masks", described, {"top": 1, "precision": name}, ["a"])[0] for name in DTYPES}
    ) == len(DTYPES)


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        ("processor\t: 0\nflags\t\t: fpu sse2 avx512f avx512_bf16 avx512_vnni\n", True),
        ("processor\t: 0\nflags\t\t: fpu amx_bf16 amx_tile\n", True),
        ("processor\t: 0\nFeatures\t: fp asimd i8mm bf16\n", True),
        ("processor\t: 0\nflags\t\t: fpu sse2 avx2 avx512f avx512_vnni\n", False),
        # big.LITTLE: a model may run on the cores that have none
        ("processor\t: 0\nFeatures\t: fp bf16\nprocessor\t: 1\nFeatures\t: fp asimd\n", False),
        ("processor\t: 0\nmodel name\t: bf16\n", False),
        (None, False),
    ],
)
def test_bfloat16_is_fast_where_the_flags_of_the_processor_say_so(
    cpuinfo: str | None, expected: bool, tmp_path: Path
) -> None:
    if cpuinfo is not None:
        (tmp_path / "cpuinfo").write_text(cpuinfo)
    assert processor_computes_bf16(tmp_path / "cpuinfo") is expected
