"""The least that scoring texts takes: `encode_batch`, batches sorted by length, and one forward pass for each.

Nothing is checked, cached, excluded or reported, and nothing but numbers comes out: token ids and model outputs of a
fast tokenizer and a model of transformers, as a short script of one's own would have them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

from tests.benchmarks.host.tiny_models import TinyJob


class PlainLoop:
    """A model and its tokenizer; each method runs all texts of a job in batches of that many."""

    def __init__(self, job: TinyJob, *, causal: bool) -> None:
        """Load both as transformers does."""
        self._job = job
        self._tokenizer = AutoTokenizer.from_pretrained(job.folder).backend_tokenizer
        self._model = (AutoModelForCausalLM if causal else AutoModel).from_pretrained(job.folder).eval()

    def tokens(self) -> list[list[int]]:
        """Token ids of every text by one `encode_batch`."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(self._job.texts))]

    @torch.inference_mode()
    def cls_vectors(self, batch_size: int) -> np.ndarray:
        """The last state of the first token of each text, float32 (n_texts, hidden)."""
        ids_by_text = self.tokens()
        vectors = np.empty((len(ids_by_text), self._model.config.hidden_size), dtype=np.float32)
        for batch, ids, mask in _batches(ids_by_text, batch_size):
            vectors[batch] = self._model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0].numpy()
        return vectors

    @torch.inference_mode()
    def similarities(self, batch_size: int) -> list[np.ndarray]:
        """Cosines of all tokens of each pair of texts, float32 (n_first, n_second)."""
        ids_by_text = self.tokens()
        units: list[np.ndarray] = [np.empty(0)] * len(ids_by_text)
        for batch, ids, mask in _batches(ids_by_text, batch_size):
            states = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
            normalised = torch.nn.functional.normalize(states, dim=-1).numpy()  # (n, longest, hidden)
            for row, text in enumerate(batch):
                units[text] = normalised[row, : len(ids_by_text[text])]
        return [first @ second.T for first, second in zip(units[::2], units[1::2], strict=True)]

    @torch.inference_mode()
    def log_likelihoods(self, batch_size: int) -> list[np.ndarray]:
        """log p of every token of each text after <|endoftext|>, float32 (n_tokens,)."""
        ids_by_text = [[0, *ids] for ids in self.tokens()]
        scores: list[np.ndarray] = [np.empty(0)] * len(ids_by_text)
        for batch, ids, mask in _batches(ids_by_text, batch_size):
            logits = self._model(input_ids=ids, attention_mask=mask).logits[:, :-1]
            logs = torch.log_softmax(logits, dim=-1).gather(2, ids[:, 1:, None])[:, :, 0].numpy()  # (n, longest - 1)
            for row, text in enumerate(batch):
                scores[text] = logs[row, : len(ids_by_text[text]) - 1]
        return scores


def _batches(rows: Sequence[Sequence[int]], batch_size: int) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
    """Numbers of the rows, the longest first, with their ids and attention mask, int64 (n, longest)."""
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        longest = len(rows[batch[0]])
        ids = torch.tensor([[*rows[i], *[0] * (longest - len(rows[i]))] for i in batch])
        mask = torch.tensor([[1] * len(rows[i]) + [0] * (longest - len(rows[i])) for i in batch])
        yield batch, ids, mask
