"""What the engine should compute, on plain transformers: one text at a time, no padding, nothing cached or shared."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import fugashi
import numpy as np
import torch

from tests.models.zoo.specimens import Specimen
from tests.models.zoo.texts import TEXTS


@torch.inference_mode()
def hidden_states(specimen: Specimen, ids: list[int], layers: Sequence[int]) -> np.ndarray:
    """The states of one text in these layers, float32 (n_layers, n_tokens, hidden)."""
    model: Any = specimen.unused()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    states = model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
    return np.stack([states[layer][0, : len(ids)].numpy() for layer in layers])


@torch.inference_mode()
def log_probabilities(specimen: Specimen, ids: list[int]) -> torch.Tensor:
    """log p of the whole vocabulary at every position of one text, (n_tokens, vocab)."""
    output = specimen.unused()(input_ids=torch.tensor([ids]))
    logits = output.prediction_logits if "prediction_logits" in output else output.logits  # BertForPreTraining
    return torch.log_softmax(logits[0].float(), dim=-1)


@torch.inference_mode()
def rounding(specimen: Specimen, layers: Sequence[int]) -> float:
    """How far the numbers of plain transformers are from the same computed in float64, the furthest over some texts."""
    exact = deepcopy(specimen.unused()).double()
    module: Any
    for module in exact.modules():
        if hasattr(module, "config"):
            module.config._experts_implementation = "eager"  # the others have no float64
    distances = []
    for ids in filter(None, map(specimen.published.ids, TEXTS)):
        both = [hidden_states(replace(specimen, model=model), ids, layers) for model in (specimen.unused(), exact)]
        distances.append(float(np.abs(both[0] - both[1]).max()))
        if specimen.kind.kind == "causal":
            plain, precise = (
                torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0], dim=-1)
                for model in (specimen.unused(), exact)
            )
            distances.append(float((plain - precise).abs().max()))
    return max(distances)


def prefixes(specimen: Specimen) -> dict[str, list[int]]:
    """The ids that every choice of a prefix puts before a text, by the roles of the published files."""
    of_role = {
        role: [specimen.published.roles[f"{role}_token"]] if f"{role}_token" in specimen.published.roles else []
        for role in ("bos", "eos")
    }
    own = list(specimen.published.before)
    return {**of_role, "template": own, "none": [], "auto": of_role["bos"] or of_role["eos"] or own}


def causal_log_likelihoods(specimen: Specimen, text: str, before: list[int]) -> tuple[list[int], list[float]]:
    """Ids of the scored tokens after these, and their log-likelihoods: all that have a token before them."""
    ids = [*before, *(token for token, _ in specimen.published.content(text))]
    logs = log_probabilities(specimen, ids)
    scored = [t for t in range(len(before), len(ids)) if t > 0]
    return [ids[t] for t in scored], [float(logs[t - 1, ids[t]]) for t in scored]


def pseudo_log_likelihoods(specimen: Specimen, text: str, *, by_word: bool) -> list[float]:
    """log p of each token with it, or it and the later tokens of its word, masked; one pass for each."""
    ids = specimen.published.ids(text)
    first = len(specimen.published.before)
    spans = [span for _, span in specimen.published.content(text)]
    words = words_of_tokens(text, spans) if by_word else list(range(len(spans)))
    scores = []
    for t, word in enumerate(words):
        copy = list(ids)
        for later in range(t, len(words)):
            if words[later] == word:
                copy[first + later] = specimen.published.roles["mask_token"]
        scores.append(float(log_probabilities(specimen, copy)[first + t, ids[first + t]]))
    return scores


def words_of_tokens(text: str, spans: list[tuple[int, int]]) -> list[int]:
    """The word of each token: MeCab's where the text is Japanese, else those between spaces (no punctuation there).

    A token that reaches over several of MeCab's words makes one of them. SentencePiece's mark of a space, where it is a
    token of its own, belongs to the word after it.
    """
    word_of_character = [-1] * len(text)
    position = 0
    for number, word in enumerate(text.split() if text.isascii() else map(str, fugashi.Tagger()(text))):
        position = text.index(word, position)
        word_of_character[position : position + len(word)] = [number] * len(word)
        position += len(word)
    touched = [sorted({word_of_character[c] for c in range(*span)} - {-1}) for span in spans]
    joined = list(range(len(text)))
    for numbers in touched:
        for number in numbers[1:]:
            old, new = joined[number], joined[numbers[0]]
            joined = [new if word == old else word for word in joined]
    words = [joined[numbers[0]] if numbers else -1 - t for t, numbers in enumerate(touched)]
    for t in range(len(words) - 2, -1, -1):
        if words[t] < 0:
            words[t] = words[t + 1]
    return words


def filled_mask(specimen: Specimen, before: str, pieces: list[int], after: str) -> tuple[list[float], np.ndarray]:
    """log p of each piece with those before it filled in, and of the vocabulary at each mask with all masked.

    The text round the mask is split as the file says, or, where only transformers knows masks, as it does.
    """
    published = specimen.published
    mask = published.roles["mask_token"]
    masked_ids = (
        published.ids(before + published.mask + after)
        if published.mask
        else (list(specimen.tokenizer(before + str(specimen.tokenizer.mask_token) + after)["input_ids"]))
    )
    at = masked_ids.index(mask)
    copies = [
        [*masked_ids[:at], *pieces[:j], *[mask] * (len(pieces) - j), *masked_ids[at + 1 :]] for j in range(len(pieces))
    ]
    scores = [float(log_probabilities(specimen, copy)[at + j, pieces[j]]) for j, copy in enumerate(copies)]
    return scores, log_probabilities(specimen, copies[0])[at : at + len(pieces)].numpy()
