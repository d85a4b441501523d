"""The training objective and its evaluation: masks, labels, loss, and the numbers on held-out text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint
from transformers import DataCollatorForLanguageModeling, PreTrainedModel, PreTrainedTokenizerBase

from engine.models.pretraining.rows import Steps

MASKED_SHARE = 0.15
IGNORED = -100  # the label that transformers' losses leave out
POSITIONS_PER_CHUNK = 512
Batch = dict[str, torch.Tensor]


def held_out_numbers(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Steps, held_out_tokens: int, seed: int
) -> dict[str, float]:
    """Accuracy and loss on held-out running text, about `held_out_tokens` tokens spread evenly over it.

    BERT, 15% of tokens chosen with a seed: `masked_accuracy`, the share of them whose most probable token is the right
    one, and `masked_nats`, their mean negative log-likelihood, under the masking it is trained with (of the
    chosen tokens 80% become [MASK], 10% another token, 10% stay); `mask_only_accuracy` and `mask_only_nats`, the
    same where every chosen token becomes [MASK], as in the evaluations of the dashboard.
    GPT-2: `nats_per_token` and `nats_per_character`, each row scored from its <s>; characters are those that
    the scored tokens spell.
    """
    chosen = rows.long_rows(max(1, held_out_tokens // rows.counts["max_length"]))
    if tokenizer.mask_token is None:
        ids = torch.from_numpy(chosen)
        nats, _, n = _score(model, [{"input_ids": row, "labels": row} for row in ids[:, None]])
        characters = sum(map(len, tokenizer.batch_decode(chosen[:, 1:], skip_special_tokens=True)))
        return {"nats_per_token": nats / n, "nats_per_character": nats / characters, "n_tokens": n}
    numbers: dict[str, float] = {}
    for name, replace in (("masked", 0.8), ("mask_only", 1.0)):
        masker = collator(tokenizer, seed=seed, replace=replace)
        nats, right, n = _score(model, [masker(torch.from_numpy(row)[None]) for row in chosen])
        numbers |= {f"{name}_accuracy": right / n, f"{name}_nats": nats / n, f"n_{name}": n}
    return numbers


@torch.inference_mode()
def _score(model: Any, batches: Sequence[Batch]) -> tuple[float, int, int]:
    """Sum of the negative log-likelihoods in nats, number of correct most probable tokens, and number of labels."""
    model.eval()
    nats, right, n = 0.0, 0, 0
    for batch in batches:
        hidden, labels, head = labelled_states(model, batch)
        logits = head(hidden).float()  # (n_labels, vocab)
        nats += float(torch.nn.functional.cross_entropy(logits, labels, reduction="sum"))
        right += int((logits.argmax(-1) == labels).sum())
        n += len(labels)
    return nats, right, n


def collator(
    tokenizer: PreTrainedTokenizerBase, *, whole_words: bool = False, seed: int | None = None, replace: float = 0.8
) -> Callable[[torch.Tensor], Batch]:
    """Ids (n_rows, length) -> inputs and labels: transformers' masking where the tokenizer has a mask, else the ids.

    `replace` is the share of chosen tokens that become [MASK]; the rest is split between a random token and
    the token itself. With `whole_words` all pieces of a word are masked together, and all become [MASK].
    """
    padding = int(tokenizer.pad_token_id)
    if tokenizer.mask_token is None:
        # Padding is at the end of a row, so no token of a causal model attends to it.
        return lambda ids: {"input_ids": ids, "labels": ids.masked_fill(ids == padding, IGNORED)}

    masking = DataCollatorForLanguageModeling(
        tokenizer,
        mlm_probability=MASKED_SHARE,
        seed=seed,
        mask_replace_prob=replace,
        random_replace_prob=(1 - replace) / 2,
    )
    special = torch.tensor(sorted(tokenizer.all_special_ids))
    continues = torch.tensor(
        [piece.startswith("##") for piece in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))]
    )

    def mask(ids: torch.Tensor) -> Batch:
        if masking.seed is not None and masking.generator is None:
            masking.create_rng()
        is_special = torch.isin(ids, special)
        offsets = _offsets(continues[ids]) if whole_words else None
        inputs, labels = masking.torch_mask_tokens(ids.clone(), is_special, offsets)
        return {"input_ids": inputs, "labels": labels, "attention_mask": (ids != padding).long()}

    if whole_words:
        masking.whole_word_mask, masking.mask_replace_prob, masking.random_replace_prob = True, 1.0, 0.0
    return mask


def _offsets(continues: torch.Tensor) -> torch.Tensor:
    """Character spans (n_rows, length, 2) in which the pieces of one word touch and words do not.

    transformers separates words by spans that do not touch; BertJapaneseTokenizer provides no spans.
    """
    ends = torch.cumsum(torch.where(continues, 1, 2), dim=1)  # (n_rows, length)
    return torch.stack([ends - 1, ends], dim=-1)  # (n_rows, length, 2)


def labelled_states(
    model: Any, batch: Batch
) -> tuple[torch.Tensor, torch.Tensor, Callable[[torch.Tensor], torch.Tensor]]:
    """Hidden states (n_labels, hidden) at the positions that have a label, the labels (n_labels,), and the head.

    So the head, which costs as much as the rest of a small model, is computed for these positions only.
    """
    labels = batch["labels"]  # (n_rows, length)
    if "attention_mask" in batch:
        states, head = model.bert(batch["input_ids"], attention_mask=batch["attention_mask"]), model.cls
        hidden = states.last_hidden_state
    else:
        # The state at a position predicts the next token.
        hidden, head = model.transformer(batch["input_ids"]).last_hidden_state[:, :-1], model.lm_head
        labels = labels[:, 1:]
    has_label = labels != IGNORED
    return hidden[has_label], labels[has_label], head


@torch.no_grad()
def spread_positions(embedding: torch.nn.Embedding, n_learnt: int) -> None:
    """Repeat the learnt embeddings of text positions over all later positions, in place.

    Short rows of `n_learnt` ids train positions 1 to n_learnt - 2 (an opening id stands before them, a closing one
    may follow). A model that has learnt how those relate to their neighbours need not learn it anew
    for each later position; Longformer starts the same way (Beltagy et al. 2020, section 5).
    """
    weight, period = embedding.weight, n_learnt - 2  # (max_length, hidden)
    later = torch.arange(n_learnt - 1, len(weight))
    weight[later] = weight[1 + (later - 1) % period]


def loss(model: Any, batch: Batch) -> torch.Tensor:
    """Mean negative log-likelihood of the labels in nats, in float32; logits exist for a few positions at a time."""
    hidden, labels, head = labelled_states(model, batch)

    def part(states: torch.Tensor, part_labels: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(head(states).float(), part_labels, reduction="sum")

    parts = zip(hidden.split(POSITIONS_PER_CHUNK), labels.split(POSITIONS_PER_CHUNK), strict=True)
    sums = [checkpoint(part, states, part_labels, use_reentrant=False) for states, part_labels in parts]
    return torch.stack(sums).sum() / len(labels)
