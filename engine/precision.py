"""Precision: the data types that a model can be computed in, and the one that a choice stands for.

A choice ("auto", "as-published") is resolved once, where the model and its device are known; what computes, the cache
key and the signature have the resolved one: fp32, tf32, bf16 or fp16.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.errors import InputError
from engine.messages.message import Message, list_of

AUTO, AS_PUBLISHED = "auto", "as-published"
DEFAULT_PRECISION = AUTO
# Minimal pairs alone: bf16 first, then fp32 where that could turn a decision.
EXACT_DECISIONS = "exact-decisions"
# What is computed in -> the data type of the weights, by torch's name.
DTYPES: Mapping[str, str] = {"fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}
BYTES_PER_WEIGHT: Mapping[str, int] = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2}
MEANINGS: Mapping[str, str] = {
    AUTO: Message("fp32 on a processor, as published on a GPU"),
    AS_PUBLISHED: Message("in the data type of the published weights: bf16 and fp16 stay so, so does fp32"),
    "bf16": Message(
        "bfloat16: half the memory of fp32; faster on graphics cards and on processors that have instructions for it "
        "(AVX512-BF16, AMX, BF16 of ARM); numbers of 8 bits with the range of float32"
    ),
    "fp16": Message("float16: half the memory of fp32; numbers of 11 bits, whose range some models exceed"),
    "fp32": "float32",
    "tf32": Message("float32 with TF32 in the products (factors of 11 bits) on NVIDIA's tensor cores; elsewhere fp32"),
}
_WORDS: Mapping[str, str] = {
    "fp32": "float32",
    "tf32": Message("float32, products in TF32"),
    "bf16": "bfloat16",
    "fp16": "float16",
}
# GPUs on which torch computes bfloat16 and float16 throughout; other devices lack some of the operations.
_GPUS = ("cuda", "xpu")


# The flags of Linux: of x86 and of ARM.
_BF16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16", "svebf16"})


def processor_computes_bf16(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor of this machine says that it has instructions for bfloat16; False where it says nothing."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    flags = [line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features"))]
    return bool(flags) and all(_BF16_FLAGS.intersection(of_core) for of_core in flags)


def resolved(precision: str, published: str, device: str) -> str:
    """What a choice stands for: "fp32", "tf32", "bf16" or "fp16".

    precision: of MEANINGS. published: the data type of the published weights, by torch's name. device: by torch's
    name. Raises InputError for any other precision.

    >>> resolved("auto", "bfloat16", "cuda:1"), resolved("auto", "bfloat16", "cpu"), resolved("tf32", "float32", "cpu")
    ('bf16', 'fp32', 'fp32')
    >>> resolved("as-published", "float16", "cpu"), resolved("as-published", "float64", "cuda")
    ('fp16', 'fp32')
    """
    if precision not in MEANINGS:
        raise InputError(
            Message(
                "precision is one of {MEANINGS}; got {precision!r}.", MEANINGS=list_of(MEANINGS), precision=precision
            )
        )
    device_type = device.partition(":")[0]
    if precision == AS_PUBLISHED or (precision == AUTO and device_type in _GPUS):
        return next((name for name, dtype in DTYPES.items() if dtype == published), "fp32")
    if precision == AUTO or (precision == "tf32" and device_type != "cuda"):
        return "fp32"
    return precision


def in_words(precision: str, published: str, device: str) -> str:
    """The data type that a choice computes in, for signatures; arguments of `resolved`, or EXACT_DECISIONS.

    >>> in_words("auto", "bfloat16", "cuda"), in_words("exact-decisions", "float32", "cpu")
    ('bfloat16', 'bfloat16, then float32')
    """
    if precision == EXACT_DECISIONS:
        return Message("{_WORDS}, then {_WORDS_}", _WORDS=_WORDS["bf16"], _WORDS_=_WORDS["fp32"])
    return _WORDS[resolved(precision, published, device)]
