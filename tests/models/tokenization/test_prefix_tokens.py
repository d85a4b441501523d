"""What "auto" and the other prefixes stand for, by the tokens that a tokenizer has and a model can read."""

from __future__ import annotations

import dataclasses

import pytest

from engine.errors import InputError
from engine.models.sources.facts import ModelFacts
from engine.models.tokenization.prefix_tokens import PREFIXES, prefix_tokens, resolved_prefix
from tests.support.session_fake import facts

NONE: tuple[str, ...] = ()
BARE = dataclasses.replace(facts("c", "causal"), bos_token="", has_bos=False)
LLAMA = dataclasses.replace(BARE, bos_token="<s>", has_bos=True, eos_token="</s>", has_eos=True, opening=("<s>",))
QWEN = dataclasses.replace(BARE, eos_token="<|im_end|>", has_eos=True)
GLM = dataclasses.replace(BARE, eos_token="<|endoftext|>", has_eos=True, opening=("[gMASK]", "<sop>"))
DECODER = dataclasses.replace(BARE, opening=("[CLS]",))
UNREADABLE = dataclasses.replace(LLAMA, has_bos=False, opening=())  # no embedding for <s>


@pytest.mark.parametrize(
    ("model", "auto", "bos", "eos", "template"),
    [
        (LLAMA, ("<s>",), ("<s>",), ("</s>",), ("<s>",)),
        (QWEN, ("<|im_end|>",), NONE, ("<|im_end|>",), NONE),
        (GLM, ("<|endoftext|>",), NONE, ("<|endoftext|>",), ("[gMASK]", "<sop>")),
        (DECODER, ("[CLS]",), NONE, NONE, ("[CLS]",)),
        # lm-evaluation-harness would take <s> and fail; nothing is not replaced by another token without a word.
        (UNREADABLE, NONE, NONE, ("</s>",), NONE),
        (BARE, NONE, NONE, NONE, NONE),
    ],
)
def test_each_choice(
    model: ModelFacts, auto: tuple[str, ...], bos: tuple[str, ...], eos: tuple[str, ...], template: tuple[str, ...]
) -> None:
    expected = {"auto": auto, "bos": bos, "eos": eos, "template": template, "none": NONE}
    assert {choice: prefix_tokens(model, choice) for choice in PREFIXES} == expected
    assert prefix_tokens(model, resolved_prefix(model, "auto")) == auto
    assert resolved_prefix(model, "auto") != "auto"


def test_another_choice_is_refused() -> None:
    with pytest.raises(InputError, match="one of auto, bos, eos, template, none; got 'BOS'"):
        prefix_tokens(LLAMA, "BOS")
