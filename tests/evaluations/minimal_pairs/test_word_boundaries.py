"""WordLP: the whole path against a plain loop over a model and minicons, sentences and regions, where there is none."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from minicons.scorer import IncrementalLMScorer
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.length_effects import slopes
from engine.evaluations.minimal_pairs.records import DIFFERING, ONE_PREFIX, TWO_PREFIX, Result, Settings
from engine.evaluations.minimal_pairs.regions import of_region
from engine.evaluations.minimal_pairs.token_contributions import token_contributions
from engine.evaluations.minimal_pairs.views import available, scores
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from tests.evaluations.minimal_pairs.test_regions import BLIMP, blimp
from tests.support import tiny_models
from tests.support.in_process import KeptWorkers

SIDES = ("acceptable", "unacceptable")
BY_WORDS = ("WordLP", "MeanWordLP")
SPACES = "ĠĉĊċČčĜĝĞğ"
ROWS: list[dict[str, str]] = [
    *BLIMP[:2],
    {"sentence_good": "The three cats will go.", "sentence_bad": "The three cat will go."},
    {"sentence_good": "The three cats sleep in the garden.", "sentence_bad": "The three cat sleeps in it."},
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "bytes": tiny_models.gpt2_byte_level(folder / "bytes"),
        "unigram": tiny_models.gpt2_unigram(folder / "unigram"),
        "bert": tiny_models.bert(folder / "bert"),
    }


def evaluated(folder: Path, workers: KeptWorkers, dataset: MinimalPairs, *models: Path, **settings: Any) -> Result:
    session = Gateway(workers, Cache(folder / "cache.sqlite", 10**8)).session("a")
    return evaluate(Settings(tuple(map(str, models)), **({"word_boundaries": True} | settings)), dataset, session)


class PlainLoop:
    """Each word by the definition, its pieces one by one, from the model's own distributions."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder)
        self.model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(folder).double().eval()
        names = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        self.spaced = np.array([name[0] in SPACES for name in names])
        self.end = np.arange(len(names)) == self.tokenizer.eos_token_id

    def words(self, text: str) -> Iterator[tuple[int, int, float]]:
        """Of each word, its first character and the one after it, and log p given all before."""
        encoding = self.tokenizer(text, return_offsets_mapping=True)
        ids, offsets = [0, *encoding["input_ids"]], [(0, 0), *encoding["offset_mapping"]]
        with torch.no_grad():
            p = torch.softmax(self.model(torch.tensor([ids])).logits[0], -1).numpy()
        starts = [i for i in range(1, len(ids)) if i == 1 or self.spaced[ids[i]]]
        for start, end in itertools.pairwise([*starts, len(ids)]):
            opening = self.spaced | self.end if self.spaced[ids[start]] else ~self.spaced
            of_pieces = np.prod([p[i - 1, ids[i]] for i in range(start, end)])
            after = p[end - 1, self.spaced | self.end].sum()
            first = offsets[start][0] + (text[offsets[start][0]] == " ")
            yield first, offsets[end - 1][1], float(np.log(of_pieces * after / p[start - 1, opening].sum()))


def test_sentences_are_the_sums_of_their_words(
    tmp_path: Path, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    result = evaluated(tmp_path, kept_workers, blimp(tmp_path, ROWS), folders["bytes"])
    loop = PlainLoop(folders["bytes"])
    sums, means = (scores(result.pairs, name) for name in BY_WORDS)
    for side, of_side, mean in zip(SIDES, sums, means, strict=True):
        for text, found, per_word in zip(result.pairs[side], of_side, mean, strict=True):
            expected = [log_p for _, _, log_p in loop.words(text)]
            assert found == pytest.approx(sum(expected), abs=1e-4) and found <= 0
            assert len(expected) == len(text.split()) and per_word == pytest.approx(found / len(expected), rel=1e-12)
    assert not np.allclose(sums[0], scores(result.pairs, "LP")[0], atol=0.1)
    assert set(BY_WORDS) <= set(slopes(result)["normalization"])
    for name in BY_WORDS:
        for place, row in enumerate(result.pairs["row"]):
            good, bad = (of_side[place] for of_side in scores(result.pairs, name))
            table = token_contributions(result, str(folders["bytes"]), row, name)
            assert table["acceptable_part"].sum() == pytest.approx(good, abs=1e-5)
            assert table["contribution"].sum() == pytest.approx(good - bad, abs=1e-5)


def test_a_region_has_the_boundaries_of_its_own_words(
    tmp_path: Path, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    result = evaluated(tmp_path, kept_workers, blimp(tmp_path, ROWS), folders["bytes"])
    loop = PlainLoop(folders["bytes"])

    def of_words(text: str, *words: str) -> float:
        return sum(log_p for start, end, log_p in loop.words(text) if text[start:end] in words)

    differing = of_region(result, DIFFERING).pairs.set_index("row")
    # A word between spaces is there with both its boundaries.
    texts = ("The three cats will go.", "The three cat will go.")
    for values, text, word in zip(scores(differing.loc[[3]], "WordLP"), texts, ("cats", "cat"), strict=True):
        assert values == pytest.approx([of_words(text, word)], abs=1e-4)
    assert differing.loc[3, [f"{side}_words" for side in SIDES]].tolist() == [1, 1]
    # "herself" is a part of "herself.", and cut off its space by this tokenizer: it has no boundary at either edge.
    prefixed = of_region(result, ONE_PREFIX).pairs.set_index("row")
    tokens = result.tokens[
        (result.tokens["row"] == 1) & (result.tokens["side"] == "acceptable") & (result.tokens["regions"] & 2 > 0)
    ]
    assert len(tokens) and tokens["boundary"].isna().all()
    assert prefixed.loc[1, "acceptable_boundaries"] == 0
    # The same word after two prefixes.
    after = of_region(result, TWO_PREFIX).pairs
    assert after[["acceptable_words", "unacceptable_words"]].to_numpy().tolist() == [[1, 1]]
    assert set(BY_WORDS) <= set(available(of_region(result, DIFFERING).pairs))
    # What the tokens of a pair add is its margin.
    for (region, row), name in itertools.product(((ONE_PREFIX, 1), (DIFFERING, 3)), BY_WORDS):
        parts = token_contributions(result, str(folders["bytes"]), row, name, region=region)["contribution"].sum()
        good, bad = (values[0] for values in scores(of_region(result, region).pairs.query(f"row == {row}"), name))
        assert parts == pytest.approx(good - bad, abs=1e-5)


def test_off_is_what_it_was(tmp_path: Path, kept_workers: KeptWorkers, folders: dict[str, Path]) -> None:
    dataset = blimp(tmp_path, ROWS)
    off, asked = (
        evaluated(tmp_path, kept_workers, dataset, folders["bytes"], word_boundaries=flag) for flag in (False, True)
    )
    assert not set(BY_WORDS) & set(available(off.pairs)) and off.tokens["boundary"].isna().all()
    assert off.pairs[["acceptable_boundaries", "unacceptable_words"]].isna().all().all()
    np.testing.assert_allclose(off.tokens["log_likelihood"], asked.tokens["log_likelihood"], atol=1e-5)
    assert "boundaries of words" in asked.rules[str(folders["bytes"])] and not any(
        "WordLP" in notice for notice in (*off.notices, *asked.notices)
    )
    with pytest.raises(InputError, match="WordLP needs the boundaries of words"):
        scores(off.pairs, "WordLP")


def test_nothing_before_a_sentence(tmp_path: Path, kept_workers: KeptWorkers, folders: dict[str, Path]) -> None:
    """Its first token is not scored, and of the word that it begins the rest and the end are."""
    result = evaluated(tmp_path, kept_workers, blimp(tmp_path, ROWS), folders["bytes"], prefix="none")
    for values in scores(result.pairs, "WordLP"):
        assert np.isfinite(values).all() and (values < 0).all()
    tokens = result.tokens[(result.tokens["row"] == 2) & (result.tokens["side"] == "acceptable")]
    goes_on = int(np.isnan(tokens["boundary"].iloc[0]))
    assert result.pairs["acceptable_words"][1] == tokens["boundary"].notna().sum() + goes_on


def test_where_there_is_no_correction_a_notice_says_why(
    tmp_path: Path, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    spaced = blimp(tmp_path, ROWS[:3])
    japanese = replace(spaced, acceptable=tiny_models.JAPANESE[:3], unacceptable=tiny_models.JAPANESE[3:6])
    result = evaluated(tmp_path, kept_workers, spaced, folders["bytes"], folders["unigram"], folders["bert"])
    about = [notice for notice in result.notices if "WordLP" in notice]
    assert about == [
        f"{folders['unigram']}: its tokenizer does not mark with a space how words begin, so their boundaries cannot "
        "be scored: there is no WordLP.",
        f"{folders['bert']} is a masked model, whose pseudo-log-likelihood has no boundaries of words: there is no "
        "WordLP.",
        "WordLP and MeanWordLP are there where every model has them: score the others in a run of their own.",
    ]
    assert not set(BY_WORDS) & set(available(result.pairs))
    region = of_region(result, DIFFERING)
    own = (region.pairs["model"] == str(folders["bytes"])).to_numpy()
    assert region.pairs["acceptable_boundaries"].notna().tolist() == own.tolist()
    without = evaluated(tmp_path, kept_workers, japanese, folders["bytes"])
    assert [notice for notice in without.notices if "WordLP" in notice] == [
        "There is no WordLP: most sentences have no white space between words, so none marks where a word ends."
    ]
    assert not set(BY_WORDS) & set(available(without.pairs))


# Of each pair one word differs, which stands between spaces.
ONE_WORD_APART = [
    {"sentence_good": good, "sentence_bad": bad}
    for good, bad in (
        ("The three cats will go.", "The three cat will go."),
        ("He bought three new books yesterday.", "He buyed three new books yesterday."),
        ("The match, she said, was cancelled because of rain.", "The match, she said, were cancelled because of rain."),
    )
]
WORDS = (("cats", "cat"), ("bought", "buyed"), ("was", "were"))


class Minicons:
    """log p of words by minicons 0.3.39, which departs from the definition in three places.

    1. Z, the probability that a word begins next, counts only pieces after a space there, not those after other white
    space. 2. The end of the text is not in it. 3. The first word of a sentence has no Z before it.
    """

    def __init__(self, folder: Path) -> None:
        self.scorer: Any = IncrementalLMScorer(str(folder), "cpu")
        self.tokenizer = self.scorer.tokenizer
        names = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        self.space = np.array([name[0] == "Ġ" for name in names])
        self.spaced = np.array([name[0] in SPACES for name in names])
        self.end = np.arange(len(names)) == self.tokenizer.eos_token_id

    def words(self, text: str) -> list[float]:
        """log p of each word between spaces: the sum over its pieces."""
        (tokens,) = self.scorer.token_score([text], bow_correction=True, bos_token=True)
        sums: list[float] = []
        for name, score in tokens[1:]:  # after the BOS
            if name[0] == "Ġ" or not sums:
                sums.append(0.0)
            sums[-1] += score
        return sums

    def left_out(self, text: str) -> list[float]:
        """log of Z as Hakari has it less log of that of minicons, before each word and after the last one."""
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
    result = evaluated(tmp_path, kept_workers, blimp(tmp_path, ONE_WORD_APART), folder)
    differing, before_first = of_region(result, DIFFERING), []
    for side, of_sentences, of_words in zip(
        SIDES, scores(result.pairs, "WordLP"), scores(differing.pairs, "WordLP"), strict=True
    ):
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
