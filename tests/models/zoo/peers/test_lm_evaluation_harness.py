"""Sums of causal models against lm-evaluation-harness's own code (`HFLM`), on models of the zoo."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from engine.models.scoring.causal_lm import token_log_likelihoods
from engine.models.tokenization.prefix_tokens import prefix_tokens
from tests.models.zoo.kinds.causal import NEWER, OLDER, SIZES, causal
from tests.models.zoo.specimens import Specimen, build, names
from tests.models.zoo.texts import TEXTS
from tests.models.zoo.tokenizer_files.sentence_pieces import model_file

# Sums of up to 100 log-likelihoods near -6, in batches of another shape.
TOLERANCE = 1e-4
# transformers 5 puts no BOS before texts with a LlamaTokenizer whose files do not ask for one.
LLAMA_WITHOUT_SETTING = causal(
    "llama without add_bos_token",
    "LlamaForCausalLM",
    model_file(
        "LlamaTokenizer",
        "tokenizer.model",
        settings={"byte_fallback": True, "vocab_size": 600},
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
    ),
    SIZES,
)
# Name -> the tokens that stand first as lm-evaluation-harness reads a text.
FIRST = {
    "gpt2": ["<|endoftext|>"],  # BOS and EOS in one
    "opt": ["</s>"],
    "xglm": ["<s>"],
    "biogpt": ["<s>"],  # their tokenizers themselves put </s> there
    "bloom": ["<s>"],
    "rinna GPT-2": ["<s>"],
    "llama without add_bos_token": ["<s>"],  # … and these nothing
    "llama 2": ["<s>"],
    "llama 3": ["<|begin_of_text|>"],
    "sarashina": ["<s>"],
    "gemma": ["<bos>"],
    "helium": ["<s>"],
    "qwen2": ["<|im_end|>"],
    "glm": ["<|endoftext|>"],  # no BOS
}
KINDS = [kind for kind in (*OLDER, *NEWER, LLAMA_WITHOUT_SETTING) if kind.name in FIRST]
Harness = Callable[..., Any]


@pytest.fixture(scope="module", params=KINDS, ids=names(KINDS))
def specimen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Specimen:
    return build(request.param, tmp_path_factory.mktemp("zoo") / "model")


@pytest.fixture(scope="module")
def harness(specimen: Specimen) -> Harness:
    """The specimen as lm-evaluation-harness wraps it; nothing is fetched.

    Without its cache of logits, which takes two continuations of one text for the same where they have several tokens.
    """
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"):
        for name in ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE"):
            patch.setenv(name, "1")
        module = importlib.import_module("lm_eval.models.huggingface")

    def wrapped(**settings: Any) -> Any:
        with warnings.catch_warnings(action="ignore"):
            return module.HFLM(
                pretrained=specimen.model,
                tokenizer=deepcopy(specimen.scorer.tokenizer),
                backend="causal",
                device="cpu",
                batch_size=4,
                logits_cache=False,
                **settings,
            )

    return wrapped


def test_the_prefix_token_is_theirs(specimen: Specimen, harness: Harness) -> None:
    tokenizer = specimen.scorer.tokenizer
    expected = FIRST[specimen.kind.name]
    assert list(prefix_tokens(specimen.scorer.facts, "auto")) == expected
    assert tokenizer.convert_ids_to_tokens([harness().prefix_token_id]) == expected


def test_sums_after_the_prefix_token(specimen: Specimen, harness: Harness) -> None:
    """With an empty context, and as the log-likelihood of a whole document."""
    expected = sums(specimen, "auto")
    np.testing.assert_allclose(their_sums(harness(), [("", text) for text in TEXTS]), expected, rtol=0, atol=TOLERANCE)
    rolling = harness(add_bos_token=False).loglikelihood_rolling(requests([(text,) for text in TEXTS]))
    np.testing.assert_allclose(rolling, expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("choice", ["bos", "eos"])
def test_sums_after_another_prefix_token(specimen: Specimen, harness: Harness, choice: str) -> None:
    tokens = prefix_tokens(specimen.scorer.facts, choice)
    assert bool(tokens) == (f"{choice}_token" in specimen.published.roles)
    if tokens:
        prefix = specimen.scorer.tokenizer.convert_tokens_to_ids(tokens[0])
        theirs = their_sums(harness(prefix_token_id=prefix), [("", text) for text in TEXTS])
        np.testing.assert_allclose(theirs, sums(specimen, choice), rtol=0, atol=TOLERANCE)


def test_sums_with_nothing_before_the_text(specimen: Specimen, harness: Harness) -> None:
    """The first token of a text is the context of the others, and there is no special token."""
    model = harness(add_bos_token=False)
    ids_by_text = [model.tok_encode(text) for text in TEXTS]
    assert all(not set(ids) & set(specimen.published.before) for ids in ids_by_text)
    parts = [(("", text), ids[:1], ids[1:]) for text, ids in zip(TEXTS, ids_by_text, strict=True) if ids[1:]]
    assert len(parts) >= 3
    theirs = [score for score, _ in model._loglikelihood_tokens(parts, disable_tqdm=True)]
    np.testing.assert_allclose(
        theirs, sums(specimen, "none", [text for (_, text), *_ in parts]), rtol=0, atol=TOLERANCE
    )


def test_sums_after_what_the_tokenizer_puts_before_a_text(specimen: Specimen, harness: Harness) -> None:
    """A text in two parts, as a context and its continuation, under the tokenizer's own template."""
    if specimen.published.after or specimen.kind.name == "rinna GPT-2":
        # An end-of-text token after the context makes them read another text.
        assert specimen.scorer.tokenizer("a")["input_ids"][-1] == specimen.published.roles["eos_token"]
        return
    model = harness()
    pairs, expected = [], []
    for text in (*TEXTS, "The cat sleeps", "rain rain", "猫 雨"):
        (piece,) = token_log_likelihoods(
            specimen.scorer, [text], prefix=prefix_tokens(specimen.scorer.facts, "template")
        )
        for end in range(1, len(text), 1 + len(text) // 4):
            context, continuation = model._encode_pair(text[:end], text[end:]) if text[:end].strip() else ([], [])
            # Parts that are not split as the whole text is are another text.
            if context and continuation and [*context, *continuation] == piece["read_ids"].tolist():
                pairs.append((text[:end], text[end:]))
                expected.append(float(piece["log_likelihoods"][-len(continuation) :].sum(dtype=np.float64)))
    assert len(pairs) >= 5
    np.testing.assert_allclose(their_sums(model, pairs), expected, rtol=0, atol=TOLERANCE)


def sums(specimen: Specimen, choice: str, texts: Sequence[str] = TEXTS) -> list[float]:
    pieces = token_log_likelihoods(specimen.scorer, texts, prefix=prefix_tokens(specimen.scorer.facts, choice))
    return [
        float(piece["log_likelihoods"].sum(dtype=np.float64)) if "log_likelihoods" in piece else 0.0 for piece in pieces
    ]


def their_sums(model: Any, pairs: Sequence[tuple[str, str]]) -> list[float]:
    return [score for score, _ in model.loglikelihood(requests(pairs), disable_tqdm=True)]


def requests(arguments: Sequence[tuple[str, ...]]) -> list[Any]:
    instance = importlib.import_module("lm_eval.api.instance").Instance
    return [instance("loglikelihood", {}, pair, number) for number, pair in enumerate(arguments)]
