"""Quantised weights: those that are turned back into numbers while they are read, and why others are refused.

What is computed in is the chosen precision: a model is its dequantised weights, not what a kernel for quantised ones
makes of them. What is multiplied is float32, rounded once to the data type that is asked for: by transformers itself,
or, for bitsandbytes, by `bitsandbytes_weights`.
Formulas: FP8 and MXFP8, number times the scale of its block (DeepSeek-V3, section 3.3); MXFP4, OCP Microscaling
Formats 1.0, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from transformers import CompressedTensorsConfig, FineGrainedFP8Config, PreTrainedModel
from transformers.utils.quantization_config import Mxfp4Config

from engine.errors import ModelError
from engine.messages.message import Message, list_of

BITSANDBYTES = "bitsandbytes"
# By transformers.
_DEQUANTISED: dict[str, Any] = {
    "fp8": FineGrainedFP8Config,
    "mxfp8": FineGrainedFP8Config,
    "mxfp4": Mxfp4Config,
    "compressed-tensors": CompressedTensorsConfig,
}
# What computes with weights of the other methods, which stay as they are: nothing gives back their numbers.
_KERNELS = {
    "aqlm": "aqlm",
    "auto-round": "auto-round",
    "awq": "gptqmodel",
    "eetq": "kernels",
    "fbgemm_fp8": "fbgemm-gpu",
    "fp_quant": "fp_quant",
    "gptq": "optimum, gptqmodel",
    "higgs": "flute-kernel",
    "hqq": "hqq",
    "metal": "kernels",
    "nvfp4": "kernels",
    "quanto": "optimum-quanto",
    "quark": "amd-quark",
    "sinq": "sinq",
    "spqr": "spqr_quant",
    "torchao": "torchao",
    "vptq": "vptq",
}


def quantised_by(name: str, fields: Mapping[str, Any]) -> str:
    """The method that the weights of a model are quantised by and read without; "" for weights that are not quantised.

    fields: the content of config.json. Raises ModelError for weights that are not turned back into numbers.
    """
    settings = fields.get("quantization_config")
    if not settings:
        return ""
    by_bitsandbytes = settings.get("load_in_8bit") or settings.get("load_in_4bit")
    method = str(settings.get("quant_method") or (BITSANDBYTES if by_bitsandbytes else ""))
    if method in (*_DEQUANTISED, BITSANDBYTES):
        return method
    if package := _KERNELS.get(method, ""):
        raise ModelError(
            Message(
                "The weights of {name} are quantised ({method}): only the kernels of other packages ({package}) "
                "compute with them, and Hakari reads weights as numbers. Choose the model they were made from, or a "
                "copy in {readable}.",
                name=name,
                method=method,
                package=package,
                readable=list_of((*_DEQUANTISED, BITSANDBYTES)),
            )
        )
    raise ModelError(
        Message(
            "The weights of {name} are quantised ({method}), which cannot be turned back into numbers here. Choose the "
            "model they were made from.",
            name=name,
            method=method or Message("method unknown"),
        )
    )


def dequantising(method: str) -> dict[str, Any]:
    """What `from_pretrained` takes so that it reads weights quantised by `method` as numbers; nothing where they are
    none, and for bitsandbytes, whose numbers are given to it."""
    if method in ("", BITSANDBYTES):
        return {}
    return {"quantization_config": _DEQUANTISED[method](dequantize=True)}


def require_dequantised(name: str, method: str, model: PreTrainedModel, dtype: torch.dtype) -> None:
    """Raise ModelError where weights of a model that was read so are not numbers of the data type asked for."""
    if not method:
        return
    kept = sorted(
        weight_name
        for weight_name, weight in model.named_parameters()
        if weight.dtype not in (dtype, torch.float32)  # some models keep norms in float32
    )
    if kept:
        raise ModelError(
            Message(
                "{n} weights of {name} stay quantised ({method}) when they are read ({listed}). Choose the model they "
                "were made from.",
                n=len(kept),
                name=name,
                method=method,
                listed=list_of([*kept[:3], *(["…"] if len(kept) > 3 else [])]),
            )
        )
