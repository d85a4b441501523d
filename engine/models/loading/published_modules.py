"""The modules that sentence-transformers applies behind the transformer, loaded and applied by its own classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.silence_transformers import one_line_message, silence_transformers
from engine.models.sources.model_files import PICKLED, SAFETENSORS
from engine.models.sources.pickled_weights import require_allowed
from engine.models.sources.published_vectors import PublishedVectors


def load_published_modules(name: str, published: PublishedVectors, device: torch.device) -> tuple[torch.nn.Module, ...]:
    """The modules that `published` names, in order, in float32 on `device` and in evaluation mode.

    No code of the repository is run: the classes are those of the library. Raises ModelError where a module cannot be
    read, or where its weights are pickled and pickled weights are not allowed.
    """
    # The library takes two seconds to import; most models need none of it.
    with silence_transformers():
        from sentence_transformers.base.modules import Dense, Normalize
        from sentence_transformers.sentence_transformer.modules import Dropout, LayerNorm, Pooling

    classes: dict[str, Any] = {
        "Pooling": Pooling,
        "Dense": Dense,
        "Normalize": Normalize,
        "LayerNorm": LayerNorm,
        "Dropout": Dropout,
    }
    root, modules = Path(published.root), []
    for kind, folder in published.modules:
        files = {path.name for path in (root / folder).iterdir()} if (root / folder).is_dir() else set()
        if SAFETENSORS[0] not in files and PICKLED[0] in files:
            require_allowed(name, [PICKLED[0]])
        try:
            with silence_transformers():
                module = (
                    classes[kind]()
                    if kind == "Normalize" and not files
                    else classes[kind].load(str(root), subfolder=folder, local_files_only=True)
                )
        except Exception as error:  # the library raises anything for a folder that is not as it should be
            raise ModelError(
                Message(
                    "The module {kind} of {name} ({folder}) cannot be loaded: {error} Copy or "
                    "download it again, or choose another pooling.",
                    kind=kind,
                    name=name,
                    folder=root / folder,
                    error=one_line_message(error),
                )
            ) from error
        modules.append(module.to(device=device, dtype=torch.float32).requires_grad_(False).eval())
    return tuple(modules)


def apply_published_modules(
    modules: tuple[torch.nn.Module, ...], states: torch.Tensor, mask: torch.Tensor, prompt_tokens: int
) -> torch.Tensor:
    """The vectors of texts: float32 (n_texts, d), d as the last module gives it.

    states: the hidden states of the texts' tokens, float32 (n_texts, longest, hidden). mask: int64 (n_texts, longest),
    1 for a token and 0 for padding. prompt_tokens: how many tokens the prompt before every text takes; a pooling
    published so leaves them out. Raises ModelError where the modules do not fit each other.
    """
    features: dict[str, Any] = {"token_embeddings": states, "attention_mask": mask, "prompt_length": prompt_tokens}
    try:
        for module in modules:
            features = module(features)
        vectors: torch.Tensor = features["sentence_embedding"]
        return vectors
    except (RuntimeError, ValueError, KeyError) as error:  # sizes that do not follow each other, a pooling of nothing
        if isinstance(error, torch.OutOfMemoryError):
            raise
        raise ModelError(
            Message(
                "The modules that modules.json names do not go together: {error} Copy or download "
                "the model again, or choose another pooling.",
                error=one_line_message(error),
            )
        ) from error
