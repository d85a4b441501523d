from __future__ import annotations

import torch
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.activations import NewGELUActivation

from engine.models.loading.activations import use_fused_activations


@torch.inference_mode()
def test_the_numbers_stay() -> None:
    torch.manual_seed(0)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=40,
            n_embd=16,
            n_layer=2,
            n_head=2,
            n_positions=16,
            bos_token_id=1,
            eos_token_id=2,
            initializer_range=0.5,
        )
    ).eval()
    ids = torch.arange(12).reshape(2, 6)
    before = model(ids).logits
    use_fused_activations(model)
    assert not any(isinstance(module, NewGELUActivation) for module in model.modules())
    # float32 rounding of one formula in another order
    torch.testing.assert_close(model(ids).logits, before, rtol=1e-5, atol=1e-5)


def test_by_hand() -> None:
    model = torch.nn.Sequential(NewGELUActivation(), torch.nn.GELU())
    use_fused_activations(model)
    # 0.5 x 1 x (1 + tanh(0.79788 x (1 + 0.044715))) = 0.5 x (1 + tanh(0.83356)) = 0.5 x 1.68238
    assert abs(float(model[0](torch.tensor(1.0))) - 0.84119) < 1e-5
    assert model[1].approximate == "none"  # another activation stays
