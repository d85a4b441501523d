"""The optimisers of pretraining: AdamW, or Muon for the matrices of the layers with AdamW for all else.

Muon orthogonalises the momentum of a matrix before each step; a small model reaches the same loss in fewer tokens.
Embeddings, heads, biases and normalisations stay with AdamW, as its authors advise.

Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks"; its learning rate is matched to
AdamW's as in Liu et al. 2025, "Muon is Scalable for LLM Training" (arXiv 2502.16982), so one rate serves both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from engine.models.pretraining.settings import Settings

ADAM_BETAS = (0.9, 0.98)
LAYERS = (".layer.", ".h.")  # what the names of the parameters of a BERT's and of a GPT-2's layers hold


class MuonWithAdamW(torch.optim.Optimizer):
    """Muon for matrices and AdamW for the rest, as one optimiser: one list of groups, one state to save.

    Parameters
    ----------
    matrices: parameters of two dimensions that Muon trains
    others, undecayed: parameters that AdamW trains, with and without weight decay
    """

    def __init__(
        self,
        matrices: list[torch.nn.Parameter],
        others: list[torch.nn.Parameter],
        undecayed: list[torch.nn.Parameter],
        *,
        learning_rate: float,
        weight_decay: float,
    ) -> None:
        groups = [{"params": others, "weight_decay": weight_decay}, {"params": undecayed, "weight_decay": 0.0}]
        self._parts: dict[str, torch.optim.Optimizer] = {
            "muon": torch.optim.Muon(
                matrices, lr=learning_rate, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw"
            ),
            "adamw": torch.optim.AdamW(
                [group for group in groups if group["params"]], lr=learning_rate, betas=ADAM_BETAS
            ),
        }
        super().__init__([{"params": [*matrices, *others, *undecayed]}], {"lr": learning_rate})
        self._collect()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step of both."""
        loss = closure() if closure is not None else None
        for part in self._parts.values():
            part.step()
        return loss

    def state_dict(self) -> dict[str, Any]:
        """The states of both, by name."""
        return {name: part.state_dict() for name, part in self._parts.items()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the states that `state_dict` gave."""
        for name, part in self._parts.items():
            part.load_state_dict(state_dict[name])
        self._collect()

    def _collect(self) -> None:
        # The very groups of the parts: a schedule that sets a rate here sets it there.
        self.param_groups = [group for part in self._parts.values() for group in part.param_groups]


def optimizer(model: torch.nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """The optimiser of a model: `settings.optimizer` with its learning rate and weight decay."""
    matrices: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    undecayed: list[torch.nn.Parameter] = []
    for name, parameter in model.named_parameters():
        if parameter.ndim < 2:
            undecayed.append(parameter)
        elif settings.optimizer == "muon" and parameter.ndim == 2 and any(layer in name for layer in LAYERS):
            matrices.append(parameter)
        else:
            others.append(parameter)
    if matrices:
        return MuonWithAdamW(
            matrices, others, undecayed, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay
        )
    return torch.optim.AdamW(
        [{"params": others, "weight_decay": settings.weight_decay}, {"params": undecayed, "weight_decay": 0.0}],
        lr=settings.learning_rate,
        betas=ADAM_BETAS,
    )
