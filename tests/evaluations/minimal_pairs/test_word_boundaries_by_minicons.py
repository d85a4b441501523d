"""WordLP against the correction for beginnings of words of minicons 0.3.39, which departs from it in three places.

1. The probability Z that a word begins next counts only pieces behind a space there, here also those behind other
   white space (a line break). 2. Here the end of the text is in Z as well. 3. There the first word of a sentence has
   no Z before it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from minicons.scorer import IncrementalLMScorer
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from engine.evaluations.minimal_pairs.records import DIFFERING
from engine.evaluations.minimal_pairs.regions import of_region
from engine.evaluations.minimal_pairs.views import scores
from tests.evaluations.minimal_pairs.test_regions import blimp
from tests.evaluations.minimal_pairs.test_word_boundaries import SIDES, SPACES, evaluated
from tests.support import tiny_models
from tests.support.in_process import KeptWorkers

# Of each pair one word differs, which stands between spaces.
ROWS = [{"sentence_good": good, "sentence_bad": bad} for good, bad in (
    ("The three cats will go.", "The three cat will go."),
    ("He bought three new books yesterday.", "He buyed three new books yesterday."),
    ("The match, she said, was cancelled because of rain.", "The match, she said, were cancelled because of rain."))]
WORDS = (("cats", "cat"), ("bought", "buyed"), ("was", "were"))


class Minicons:
    """The scores of minicons of the words of a sentence, and the probabilities that it leaves out of Z."""

    def __init__(self, folder: Path) -> None:
        self.scorer: Any = IncrementalLMScorer(str(folder), "cpu")
        self.tokenizer = self.scorer.tokenizer
        names = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        self.space = np.array([name[0] == "Ġ" for name in names])
        self.spaced = np.array([name[0] in SPACES for name in names])
        self.end = np.arange(len(names)) == self.tokenizer.eos_token_id

    def words(self, text: str) -> list[float]:
        """log p of each word between spaces: the sum over its pieces."""
        tokens, = self.scorer.token_score([text], bow_correction=True, bos_token=True)
        sums: list[float] = []
        for name, score in tokens[1:]:  # behind the BOS
            if name[0] == "Ġ" or not sums:
                sums.append(0.0)
            sums[-1] += score
        return sums

    def left_out(self, text: str) -> list[float]:
        """log of Z as Hakari has it less log of that of minicons, before each word and behind the last one."""
        ids = [self.tokenizer.bos_token_id, *self.tokenizer(text)["input_ids"]]
        with torch.no_grad():
            p = torch.softmax(self.scorer.model(torch.tensor([ids])).logits[0].double(), -1).numpy()
        at = [i - 1 for i in range(2, len(ids)) if self.space[ids[i]]] + [len(ids) - 1]
        first = np.log(p[0, ~self.spaced].sum())  # minicons: log of 1
        return [float(first), *(float(np.log(p[i, self.spaced | self.end].sum() / p[i, self.space].sum())) for i in at)]


def never_ending(published: Path, folder: Path) -> Path:
    """The same model, with a probability of 0 for the end of the text and for white space other than the space."""
    config = AutoConfig.from_pretrained(published, tie_word_embeddings=False)
    model: Any = AutoModelForCausalLM.from_pretrained(published, config=config)
    tokenizer = Minicons(published)
    never = torch.from_numpy((tokenizer.spaced & ~tokenizer.space) | tokenizer.end)
    with torch.no_grad():
        head = model.transformer.wte.weight.clone()
        head[:, 0] = torch.where(never, -1.0, 0.0)
        model.lm_head.weight = torch.nn.Parameter(head)
        model.transformer.ln_f.bias[0] = 100.0
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(published).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["published", "never ending"])
def test_equals_minicons_but_for_what_it_leaves_out(tmp_path: Path, kept_workers: KeptWorkers, kind: str) -> None:
    folder = tiny_models.gpt2_byte_level(tmp_path / "published")
    if kind == "never ending":
        folder = never_ending(folder, tmp_path / "never")
    reference = Minicons(folder)
    result = evaluated(tmp_path, kept_workers, blimp(tmp_path, ROWS), folder)
    differing, before_first = of_region(result, DIFFERING), []
    for side, of_sentences, of_words in zip(SIDES, scores(result.pairs, "WordLP"), scores(differing.pairs, "WordLP"),
                                            strict=True):
        for row, text in enumerate(result.pairs[side]):
            theirs, left_out = reference.words(text), reference.left_out(text)
            before_first.append(left_out[0])
            assert of_sentences[row] == pytest.approx(sum(theirs) + left_out[-1] - left_out[0], abs=1e-4)
            place = text.split().index(WORDS[row][SIDES.index(side)])
            of_word = theirs[place] + left_out[place + 1] - left_out[place]
            assert of_words[row] == pytest.approx(of_word, abs=1e-4)
            if kind == "never ending":  # only the beginning of the first word is left
                assert max(map(abs, left_out[1:])) < 1e-9 and left_out[0] < -1e-4
            else:
                assert min(left_out[1:]) > 1e-4
    assert np.ptp(before_first) < 1e-6  # cancels out in every pair
