"""The whole alignment against bert_score's own code, for every kind of tokenizer: Gemma, Llama, rinna, T5, GPT-2, …

bert_score reads the same directories. What it does otherwise is left out of the comparison, or undone:

- Pairs go to it one by one: in padded batches it lifts negative best matches to 0.
- GPT-2 and Llama have no padding token, without which it fails; it gets one, which batches of one never use.
- A sentence of two tokens counts as empty and its scores are 0, also where both are of the text: there is none here.
- Compared are all layers as transformers returns them (`all_layers`), and the last one where bert_score cuts the stack
  after it: with a norm after the stack no other layer is the same there, and it cannot cut that of GPT-2.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.datasets import sentence_pairs
from engine.datasets.formats.files import read_table
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import LEFT_OUT, Result, Scoring, Settings
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.offsets import control_ids
from tests.evaluations.alignment.direct_session import DirectSession
from tests.models.zoo.kinds.causal import NEWER, OLDER
from tests.models.zoo.kinds.encoders import ENCODERS
from tests.models.zoo.kinds.masked import BERT_LIKE, OTHERS
from tests.models.zoo.specimens import Specimen, build
from tests.support.shared_data import shared_data
from tests.support.tiny_models import ENGLISH, JAPANESE

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own imports
    import bert_score

TOLERANCE = 1e-5  # the project's promise; both sides are float32
KINDS = {kind.name: kind for kind in (*OLDER, *NEWER, *BERT_LIKE, *OTHERS, *ENCODERS)}
# Special tokens round a text, and which of them bert_score gives a weight without idf.
WEIGHED = {
    "bert": ("[CLS] [SEP]", ""),
    "xlm-roberta": ("<s> </s>", ""),
    "roberta": ("<s> </s>", ""),
    "modernbert": ("[CLS] [SEP]", ""),
    "modernbert-ja": ("<s> </s>", "<s> </s>"),
    "xlnet": ("<sep> <cls>", ""),
    "gemma3_text": ("<bos>", "<bos>"),
    "llama 2": ("<s>", "<s>"),
    "llama 3": ("<|begin_of_text|>",) * 2,
    "rinna RoBERTa": ("</s>", "</s>"),
    "rinna GPT-2": ("</s>", "</s>"),
    "t5": ("</s>", "</s>"),
    "t5 from its .model": ("</s>", "</s>"),
    "gpt2": ("", ""),
    "xglm": ("</s>", ""),
}
# transformers 5 writes </s> for unknown characters with T5Tokenizer's class and drops voicing marks with XLNet's;
# bert_score gets these tokenizers as they were published.
READ_OTHERWISE = ("rinna RoBERTa", "rinna GPT-2", "xlnet")
NOT_CUT = ("gpt2", "rinna GPT-2")  # bert_score knows no layers of theirs
N_PAIRS = 12
IDFS = ("none", "references", "corpus")
WORDS = (
    "cat",
    "rain",
    "a",
    "the",
    "in",
    "quietly",
    "stories",
    "garden",
    "sleeps",
    "b",
    "c",
    "y",
    "tea",
    "go",
    "no",
    "wet",
    "on",
    "at",
    "us",
    "dry",
    "red",
    "one",
    "two",
)


@pytest.fixture(scope="module", params=list(WEIGHED))
def specimen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Specimen:
    # The name of the folder tells bert_score what is a T5.
    return build(KINDS[request.param], tmp_path_factory.mktemp("kinds") / request.param.replace(" ", "-"))


@pytest.fixture(scope="module")
def pairs() -> SentencePairs:
    """JSTS, and pairs of the two languages and of Japanese and English."""
    jsts = sentence_pairs.from_table(read_table(shared_data("jsts", "valid-v1.3.json")))
    references = (*jsts.references[:N_PAIRS], *JAPANESE[:3], ENGLISH[0], ENGLISH[2], f" {JAPANESE[4]}\n")
    candidates = (*jsts.candidates[:N_PAIRS], *JAPANESE[1:4], ENGLISH[1], JAPANESE[5], JAPANESE[4])
    n = len(references)
    return SentencePairs("pairs", references, candidates, ("",) * n, {}, tuple(range(1, n + 1)))


@pytest.fixture(scope="module")
def result(specimen: Specimen, pairs: SentencePairs) -> Result:
    return evaluate(Settings((specimen.encoder.facts.name,), all_layers=True), pairs, DirectSession(specimen.encoder))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def corpus(pairs: SentencePairs) -> list[str]:
    return [*pairs.candidates, *JAPANESE, *ENGLISH] * 2


def theirs(specimen: Specimen, pairs: SentencePairs, idf_sents: list[str] | None, **settings: Any) -> np.ndarray:
    """Precision, recall and F1 by bert_score, (…, n_pairs, 3)."""
    scorer = bert_score.BERTScorer(
        model_type=str(specimen.folder), device="cpu", nthreads=0, idf=idf_sents is not None, **settings
    )
    if specimen.kind.name in READ_OTHERWISE:
        scorer._tokenizer = specimen.described.tokenizer
    if scorer._tokenizer.pad_token_id is None:
        scorer._tokenizer.pad_token = scorer._tokenizer.eos_token
    if idf_sents is not None:
        scorer.compute_idf(idf_sents)
    return np.stack(
        [scores.numpy() for scores in scorer.score(list(pairs.candidates), list(pairs.references), batch_size=1)],
        axis=-1,
    )


def ours(result: Result, scoring: Scoring, layer: int | None = None) -> np.ndarray:
    return rescore(result, scoring, layer).pairs[["precision", "recall", "f1"]].to_numpy()


@pytest.fixture(scope="module")
def dictionary(specimen: Specimen, corpus: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The corpus counted as `python -m engine dictionary` counts it: without special tokens."""
    tokenizer = specimen.described.tokenizer
    control = control_ids(tokenizer)
    tokens = [
        tokenizer.convert_ids_to_tokens([token for token in token_ids(tokenizer, text) if token not in control])
        for text in corpus
    ]
    path = tmp_path_factory.mktemp("dictionary") / "corpus.json.gz"
    write_idf(count_documents(tokens, "corpus", specimen.encoder.facts.tokenizer_fingerprint, "sentence"), path)
    return str(path)


@pytest.mark.parametrize("idf", IDFS)
def test_scores_equal_those_of_bert_score(
    specimen: Specimen, pairs: SentencePairs, result: Result, corpus: list[str], dictionary: str, idf: str
) -> None:
    idf_sents = {"none": None, "references": list(pairs.references), "corpus": corpus}[idf]
    scoring = Scoring(dictionary if idf == "corpus" else idf)
    n_layers = specimen.encoder.facts.n_layers
    expected = theirs(specimen, pairs, idf_sents, num_layers=n_layers, all_layers=True)  # (n_layers + 1, n_pairs, 3)
    found = np.stack([ours(result, scoring, layer) for layer in range(n_layers + 1)])
    assert np.isfinite(found).all() and found.shape == expected.shape
    assert np.abs(found - expected).max() <= TOLERANCE
    if specimen.kind.name not in NOT_CUT:
        expected = theirs(specimen, pairs, idf_sents, num_layers=n_layers)
        assert np.abs(ours(result, scoring) - expected).max() <= TOLERANCE


def test_the_tokens_without_weight_are_those_of_bert_score(specimen: Specimen, result: Result) -> None:
    facts = specimen.encoder.facts
    template, weighed = (tuple(names.split()) for names in WEIGHED[specimen.kind.name])
    assert facts.template_tokens == template
    assert rescore(result, Scoring()).weightless[facts.name] == tuple(sorted(set(template) - set(weighed)))
    tokens = rescore(result, Scoring()).tokens
    assert set(tokens.loc[tokens["special"] & (tokens["weight"] > 0), "token"]) == set(weighed)
    with_idf = rescore(result, Scoring("references"))
    assert with_idf.weightless[facts.name] == tuple(sorted(template))
    assert (with_idf.tokens.loc[with_idf.tokens["special"], "weight"] == 0).all()


def test_a_run_that_does_not_say_which_tokens_are_which_has_the_numbers_of_its_time(
    specimen: Specimen, result: Result
) -> None:
    template, weighed = (set(names.split()) for names in WEIGHED[specimen.kind.name])
    earlier = replace(result, template_tokens={}, cls_and_sep={})
    scores = rescore(earlier, Scoring())
    assert (scores.tokens.loc[scores.tokens["special"], "weight"] == 0).all()
    assert any("which special tokens bert_score gives a weight" in notice for notice in scores.notices) == bool(
        template - {"[CLS]", "[SEP]"}
    )
    assert np.array_equal(ours(earlier, Scoring()), ours(result, Scoring())) == (not weighed)
    for scoring in (Scoring("references"), Scoring(special_tokens=LEFT_OUT)):  # as idf is 0 in any case
        np.testing.assert_array_equal(ours(earlier, scoring), ours(result, scoring))


def test_left_out_special_tokens_are_nowhere(specimen: Specimen, result: Result) -> None:
    scores = rescore(result, Scoring(special_tokens=LEFT_OUT))
    assert (scores.tokens.loc[scores.tokens["special"], "weight"] == 0).all()
    assert not scores.tokens["match_special"].any()
    unmatched = ours(result, Scoring(match_special=False))
    is_same = np.array_equal(ours(result, Scoring(special_tokens=LEFT_OUT)), unmatched)
    # Where bert_score gives no special token a weight, leaving them out is leaving them unmatched.
    assert is_same == (not WEIGHED[specimen.kind.name][1])


def test_negative_best_matches_stay_negative(tmp_path: Path) -> None:
    specimen = build(KINDS["qwen2"], tmp_path / "qwen2")
    loaded = specimen.encoder
    # Of few tokens, none of them special: the best of some random cosines is below 0 now and then.
    words = [word for word in WORDS if len(token_ids(loaded.tokenizer, word)) in (1, 3)]
    first, second = zip(*itertools.combinations(words, 2), strict=True)
    pairs = SentencePairs("words", first, second, ("",) * len(first), {}, tuple(range(1, len(first) + 1)))
    result = evaluate(Settings((loaded.facts.name,), layer=0), pairs, DirectSession(loaded))  # type: ignore[arg-type]
    assert (rescore(result, Scoring()).tokens["similarity"] < -0.1).sum() > 20
    expected = theirs(specimen, pairs, None, num_layers=2, all_layers=True)[0]
    found = ours(result, Scoring())
    # bert_score sets the F1 of two sentences with P + R = 0 to 0, and no other.
    assert (found[:, 0] < 0).any() and np.abs(found[:, :2] - expected[:, :2]).max() <= TOLERANCE
    stable = np.abs(found[:, 0] + found[:, 1]) > 0.1  # near 0 the quotient multiplies the rounding
    assert np.abs(found[stable, 2] - expected[stable, 2]).max() <= TOLERANCE
