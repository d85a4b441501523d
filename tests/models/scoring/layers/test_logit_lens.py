"""The logit lens: against transformers by hand, in every way of batching, and what it leaves as it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedModel,
)

from engine.errors import ModelError
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring.attention import packing
from engine.models.scoring.causal_lm import token_log_likelihoods
from engine.models.scoring.layers import logit_lens as module
from engine.models.scoring.layers.logit_lens import logit_lens
from tests.support import tiny_models

TEXTS = (*tiny_models.ENGLISH, "The cat sleeps.", "The cats sleep.", "cats")
SIZES = {"num_hidden_layers": 3, "num_attention_heads": 2, "hidden_size": 32, "initializer_range": 0.3}


def llama(vocab_size: int) -> PreTrainedModel:
    return LlamaForCausalLM(
        LlamaConfig(vocab_size=vocab_size, intermediate_size=64, num_key_value_heads=2, **SIZES)  # type: ignore[arg-type]
    )


def neox(vocab_size: int) -> PreTrainedModel:
    return GPTNeoXForCausalLM(GPTNeoXConfig(vocab_size=vocab_size, intermediate_size=64, **SIZES))  # type: ignore[arg-type]


def opt_projected(vocab_size: int) -> PreTrainedModel:
    """As OPT-350m: no final norm, and a projection between the last block and the head."""
    return OPTForCausalLM(
        OPTConfig(
            vocab_size=vocab_size,
            hidden_size=32,
            word_embed_proj_dim=16,
            ffn_dim=64,
            num_hidden_layers=3,
            num_attention_heads=2,
            do_layer_norm_before=False,
            init_std=0.3,
        )
    )


def gemma2(vocab_size: int) -> PreTrainedModel:
    """Embeddings that are scaled, and logits that are capped."""
    return Gemma2ForCausalLM(
        Gemma2Config(
            vocab_size=vocab_size,
            intermediate_size=64,
            num_key_value_heads=2,
            head_dim=16,
            final_logit_softcapping=5.0,
            **SIZES,  # type: ignore[arg-type]
        )
    )


def rest_of_gpt2(model: PreTrainedModel, state: torch.Tensor) -> torch.Tensor:
    return model.lm_head(model.transformer.ln_f(state))


def rest_of_llama(model: PreTrainedModel, state: torch.Tensor) -> torch.Tensor:
    return model.lm_head(model.model.norm(state))


def rest_of_neox(model: PreTrainedModel, state: torch.Tensor) -> torch.Tensor:
    return model.lm_head(model.gpt_neox.final_layer_norm(state))


def rest_of_opt(model: PreTrainedModel, state: torch.Tensor) -> torch.Tensor:
    return model.lm_head(model.model.decoder.project_out(state))


def rest_of_gemma2(model: PreTrainedModel, state: torch.Tensor) -> torch.Tensor:
    return 5.0 * torch.tanh(model.lm_head(model.model.norm(state)) / 5.0)


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(str(tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("byte-level"))), "causal")


def with_weights(loaded: LoadedModel, build: Callable[[int], PreTrainedModel] | None) -> LoadedModel:
    if build is None:
        return loaded
    torch.manual_seed(0)
    model = build(int(loaded.model.config.vocab_size)).eval().requires_grad_(False)
    facts = dataclasses.replace(loaded.facts, n_layers=int(model.config.num_hidden_layers))
    return dataclasses.replace(loaded, model=model, facts=facts)


def by_hand(loaded: LoadedModel, text: str, rest: Callable[..., torch.Tensor]) -> np.ndarray:
    """log p of each token of a text at every layer, after BOS: (|S|, n_layers + 1); the last as the model says it."""
    ids = torch.tensor([[loaded.tokenizer.bos_token_id, *loaded.tokenizer(text)["input_ids"]]])
    with torch.inference_mode():
        output = loaded.model(input_ids=ids, output_hidden_states=True)
        states = output.hidden_states[:-1]  # the last one of transformers has the final norm in it
        logits = [*(rest(loaded.model, state) for state in states), output.logits]
    return np.stack(
        [torch.log_softmax(own[0, :-1].double(), dim=-1).gather(1, ids[0, 1:, None])[:, 0].numpy() for own in logits],
        axis=1,
    )


def n_hooks(model: PreTrainedModel) -> int:
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())


@pytest.mark.parametrize(
    ("build", "rest"),
    [
        (None, rest_of_gpt2),
        (llama, rest_of_llama),
        (neox, rest_of_neox),
        (opt_projected, rest_of_opt),
        (gemma2, rest_of_gemma2),
    ],
    ids=["gpt2", "llama", "neox", "opt projected", "gemma2 capped"],
)
def test_every_layer_is_final_norm_and_head_on_its_states(
    gpt2: LoadedModel, build: Callable[[int], PreTrainedModel] | None, rest: Callable[..., torch.Tensor]
) -> None:
    loaded = with_weights(gpt2, build)
    pieces = token_log_likelihoods(loaded, TEXTS, prefix=[gpt2.tokenizer.bos_token], all_layers=True)
    for text, piece in zip(TEXTS, pieces, strict=True):
        expected = by_hand(loaded, text, rest)
        assert (
            piece["layer_log_likelihoods"].shape == expected.shape == (len(piece["tokens"]), loaded.facts.n_layers + 1)
        )
        np.testing.assert_allclose(piece["layer_log_likelihoods"], expected, atol=2e-5)
        # Layers differ, or nothing was measured.
        assert np.abs(np.diff(expected, axis=1)).max(axis=0).min() > 1e-3


@pytest.mark.parametrize("boundaries", [False, True])
def test_the_last_layer_is_the_ordinary_score_and_the_model_is_left_as_it_was(
    gpt2: LoadedModel, boundaries: bool
) -> None:
    token_log_likelihoods(gpt2, TEXTS, all_layers=True)  # transformers leaves hooks of its own on states asked for once
    before, hooks = token_log_likelihoods(gpt2, TEXTS, word_boundaries=boundaries), n_hooks(gpt2.model)
    pieces = token_log_likelihoods(gpt2, TEXTS, word_boundaries=boundaries, all_layers=True)
    after = token_log_likelihoods(gpt2, TEXTS, word_boundaries=boundaries)
    for plain, piece, again in zip(before, pieces, after, strict=True):
        np.testing.assert_allclose(piece["layer_log_likelihoods"][:, -1], plain["log_likelihoods"], atol=1e-5)
        np.testing.assert_array_equal(piece["log_likelihoods"], piece["layer_log_likelihoods"][:, -1])
        np.testing.assert_array_equal(again["log_likelihoods"], plain["log_likelihoods"])
        assert ("layer_boundaries" in piece) == boundaries and "layer_log_likelihoods" not in again
        if boundaries:
            of_layers = piece["layer_boundaries"]
            assert of_layers.shape == (len(piece["tokens"]) + 1, gpt2.facts.n_layers + 1)
            np.testing.assert_allclose(of_layers[:, -1], plain["word_boundaries"], atol=1e-5)
            assert (np.isnan(of_layers).sum(axis=1) % of_layers.shape[1] == 0).all()  # of a token at all layers or none
    assert not any("forward" in vars(block) for block in gpt2.model.transformer.h)
    assert n_hooks(gpt2.model) == hooks


def test_layers_of_a_text_do_not_depend_on_how_it_is_batched(
    gpt2: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = token_log_likelihoods(gpt2, TEXTS, all_layers=True)
    alone = [token_log_likelihoods(gpt2, [text], all_layers=True)[0] for text in TEXTS]
    monkeypatch.setattr(packing, "is_packing_wanted", lambda device: False)
    padded = token_log_likelihoods(gpt2, TEXTS, all_layers=True)
    for one, other, third in zip(together, alone, padded, strict=True):
        np.testing.assert_allclose(one["layer_log_likelihoods"], other["layer_log_likelihoods"], atol=1e-5)
        np.testing.assert_allclose(one["layer_log_likelihoods"], third["layer_log_likelihoods"], atol=1e-5)


def test_long_rows_are_read_in_parts_at_every_layer(gpt2: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = token_log_likelihoods(gpt2, TEXTS, all_layers=True)
    monkeypatch.setattr("engine.models.scoring.lm_head.MAX_LOGITS", 3 * int(gpt2.model.config.vocab_size))
    in_parts = token_log_likelihoods(gpt2, TEXTS, all_layers=True)
    for one, other in zip(whole, in_parts, strict=True):
        np.testing.assert_allclose(one["layer_log_likelihoods"], other["layer_log_likelihoods"], atol=1e-5)


def test_a_model_whose_rest_needs_more_than_one_state_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load(str(tiny_models.gpt2_byte_level(tmp_path)), "causal")
    body = loaded.model.transformer
    forward = type(body).forward
    kept: list[torch.Tensor] = []
    body.h[0].register_forward_pre_hook(lambda _, arguments: kept.append(2 * arguments[0]))
    body.h[-1].mlp.register_forward_hook(lambda *_: kept.append(torch.full_like(kept[-1], 3.0)))

    def with_a_second_path(*arguments: object, **settings: object) -> object:
        output = forward(body, *arguments, **settings)
        # What the last block's inside left behind, which is not in its state.
        output.last_hidden_state = output.last_hidden_state + kept.pop()
        kept.clear()
        return output

    monkeypatch.setattr(body, "forward", with_a_second_path)
    monkeypatch.setattr(module, "blocks_of", lambda model: body.h)
    with pytest.raises(ModelError, match="has no logit lens"):
        logit_lens(loaded)
    monkeypatch.setattr(module, "_lenses", type(module._lenses)())
    monkeypatch.setattr(module, "blocks_of", lambda model: None)
    with pytest.raises(ModelError, match="Leave its layers out"):
        token_log_likelihoods(loaded, TEXTS, all_layers=True)
