"""Running text in windows: the loop of Hugging Face's documentation, a plain loop over masks, shares, what is left out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import InputError
from engine.inference.document_shares import joined_shares
from engine.models.loading.model_cache import ModelCache
from engine.models.loading.weights import LoadedModel
from engine.models.scoring import causal_lm, masked_lm
from engine.models.scoring.running_text import causal, masked
from engine.models.scoring.running_text.windows import windows
from tests.support import tiny_models

TEXT = "".join(tiny_models.JAPANESE) * 3
SHORT = tiny_models.JAPANESE[0]
TOLERANCE = 1e-4  # nats, of a token


@pytest.fixture(scope="module")
def gpt(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return ModelCache().load(str(tiny_models.gpt2_unigram(tmp_path_factory.mktemp("gpt"))), None, "causal", "fp32")


@pytest.fixture(scope="module")
def bytewise(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return ModelCache().load(str(tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("bytes"))), None, "causal", "fp32")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return ModelCache().load(str(tiny_models.bert_japanese(tmp_path_factory.mktemp("bert"))), None, "masked", "fp32")


def of_document(loaded: LoadedModel, text: str, *, n_shares: int = 1, **settings: Any) -> dict[str, Any]:
    read = causal if loaded.facts.kind == "causal" else masked
    items = [(text, share, n_shares) for share in range(n_shares)]
    return joined_shares(read.document_log_likelihoods(loaded, items, **settings))


def loop_of_hugging_face(loaded: LoadedModel, ids: list[int], max_length: int, stride: int) -> tuple[float, int]:
    """Sum of log-likelihoods, and tokens: huggingface.co/docs/transformers/perplexity, over these ids."""
    encodings = torch.tensor([ids])
    total, n_tokens, previous_end = 0.0, 0, 0
    for begin in range(0, len(ids), stride):
        end = min(begin + max_length, len(ids))
        input_ids = encodings[:, begin:end]
        targets = input_ids.clone()
        targets[:, : -(end - previous_end)] = -100
        with torch.no_grad():
            loss = loaded.model(input_ids, labels=targets).loss
        valid = int((targets[:, 1:] != -100).sum())  # the labels are shifted inside of the model
        if valid:
            total -= float(loss) * valid
            n_tokens += valid
        previous_end = end
        if end == len(ids):
            break
    return total, n_tokens


@pytest.mark.parametrize("stride", [1, 7, 16, 31, 32])
def test_perplexity_is_that_of_the_loop_of_hugging_face(bytewise: LoadedModel, stride: int) -> None:
    ids = bytewise.tokenizer(TEXT)["input_ids"]
    assert len(ids) > 200
    piece = of_document(bytewise, TEXT, window=32, stride=stride, prefix=[], window_prefix="first")
    total, n_tokens = loop_of_hugging_face(bytewise, ids, 32, stride)
    assert len(piece["ids"]) == n_tokens
    mine = float(piece["log_likelihoods"].astype(np.float64).sum())
    assert math.exp(-mine / n_tokens) == pytest.approx(math.exp(-total / n_tokens), rel=1e-5)


@pytest.mark.parametrize("stride", [5, 20])
def test_with_a_bos_before_the_text_alone_it_is_the_loop_over_the_ids_of_both(gpt: LoadedModel, stride: int) -> None:
    ids = gpt.tokenizer(TEXT)["input_ids"]
    assert ids[0] == gpt.tokenizer.bos_token_id
    piece = of_document(gpt, TEXT, window=20, stride=stride, window_prefix="first")
    total, n_tokens = loop_of_hugging_face(gpt, ids, 20, stride)
    assert len(piece["ids"]) == n_tokens
    assert piece["log_likelihoods"].astype(np.float64).sum() == pytest.approx(total, abs=TOLERANCE * n_tokens)


@pytest.mark.parametrize("stride", [3, 19, 100])
def test_each_window_after_the_prefix_is_a_text_of_its_own(gpt: LoadedModel, stride: int) -> None:
    ids = gpt.tokenizer(TEXT)["input_ids"]
    bos, body = ids[:1], ids[1:]
    piece = of_document(gpt, TEXT, window=20, stride=stride)
    expected: list[float] = []
    for begin in range(0, len(body), min(stride, 19)):
        read = [*bos, *body[begin : begin + 19]]
        with torch.no_grad():
            log_p = gpt.model(torch.tensor([read])).logits[0].log_softmax(-1)
        every = [float(log_p[place - 1, read[place]]) for place in range(1, len(read))]
        expected += every[len(expected) - begin :]
        if begin + 19 >= len(body):
            break
    np.testing.assert_allclose(piece["log_likelihoods"], expected, atol=TOLERANCE)
    assert piece["ids"].tolist() == body and not len(piece["unscored_spans"])


@pytest.mark.parametrize("scoring", ["pll-original", "pll-word-l2r", "mntp-word-l2r"])
@pytest.mark.parametrize("stride", [4, 7, 12])
def test_a_pseudo_perplexity_is_that_of_a_plain_loop_over_masks(bert: LoadedModel, scoring: str, stride: int) -> None:
    length = 14  # of a window with [CLS] and [SEP]
    piece = of_document(bert, TEXT, scoring=scoring, window=length, stride=stride)
    ids = bert.tokenizer(TEXT)["input_ids"]
    (cls, *body, sep), mask = ids, bert.tokenizer.mask_token_id
    spans = masked_lm.TOKENS.spans(bert.tokenizer, [TEXT])[0]
    words = masked_lm.together_in(TEXT, spans, scoring, "auto")[1:-1]
    room = length - 2
    places = list(range(0, len(body) - room + stride, stride))  # where windows begin, the last reaching the end
    expected = []
    for token in range(len(body)):
        # The window with the most tokens on the side where there are fewer of them, of two such the first.
        begin = next(b for b in places if token < b + stride + (room - stride) // 2 or b == places[-1])
        window = body[begin : begin + room]
        own = words[begin : begin + room]
        at = token - begin
        hidden = [mask if i >= at and own[i] == own[at] else piece_id for i, piece_id in enumerate(window)]
        with torch.no_grad():
            logits = bert.model(torch.tensor([[cls, *hidden, sep]])).logits[0]
        expected.append(float(logits[at if scoring.startswith("mntp") else at + 1].log_softmax(-1)[body[token]]))
    np.testing.assert_allclose(piece["log_likelihoods"], expected, atol=TOLERANCE)


def test_a_text_that_fits_has_the_numbers_of_a_sentence(gpt: LoadedModel, bert: LoadedModel) -> None:
    sentence = causal_lm.token_log_likelihoods(gpt, [SHORT])[0]
    for window, where in ((64, "each"), (len(sentence["read_ids"]), "first")):
        piece = of_document(gpt, SHORT, window=window, stride=3, window_prefix=where)
        np.testing.assert_allclose(piece["log_likelihoods"], sentence["log_likelihoods"], atol=1e-5)
        assert piece["n_windows"] == 1 and piece["tokens"] == sentence["tokens"]
        np.testing.assert_array_equal(piece["read_ids"], sentence["read_ids"])
    alone = masked_lm.token_log_likelihoods(bert, [SHORT], scoring="pll-word-l2r")[0]
    piece = of_document(bert, SHORT, scoring="pll-word-l2r", window=64, stride=1)
    np.testing.assert_allclose(piece["log_likelihoods"], alone["log_likelihoods"], atol=1e-5)


@pytest.mark.parametrize("n_shares", [2, 3, 50])
def test_shares_add_up_to_the_whole(gpt: LoadedModel, bert: LoadedModel, n_shares: int) -> None:
    for loaded, settings in ((gpt, {}), (bert, {"scoring": "pll-original"})):
        whole = of_document(loaded, TEXT, window=16, stride=8, **settings)
        shared = of_document(loaded, TEXT, n_shares=n_shares, window=16, stride=8, **settings)
        assert shared["tokens"] == whole["tokens"] and shared["n_windows"] == whole["n_windows"] > 3
        np.testing.assert_allclose(shared["log_likelihoods"], whole["log_likelihoods"], atol=1e-5)
        np.testing.assert_array_equal(shared["read_ids"], whole["read_ids"])


def test_what_has_nothing_before_it_is_not_scored_and_told(bytewise: LoadedModel) -> None:
    piece = of_document(bytewise, TEXT, window=32, stride=32, prefix=[])
    n = len(bytewise.tokenizer(TEXT)["input_ids"])
    assert len(piece["unscored_spans"]) == piece["n_windows"] == -(-n // 32)
    assert len(piece["ids"]) == n - piece["n_windows"]
    only_first = of_document(bytewise, TEXT, window=32, stride=31, prefix=[])
    np.testing.assert_array_equal(only_first["unscored_spans"], piece["unscored_spans"][:1])
    of_each_window = [window.begin for window in windows(n, 32, 32)]
    assert of_each_window[1] == 32


def test_a_text_without_a_token_is_excluded_in_each_share(gpt: LoadedModel, bert: LoadedModel) -> None:
    for loaded, settings in ((gpt, {}), (bert, {"scoring": "pll-original"})):
        assert "no token" in str(of_document(loaded, "", n_shares=2, window=16, stride=8, **settings)["excluded"])
    # The others of the chunk keep their own numbers.
    read = masked.document_log_likelihoods(
        bert, [("", 0, 1), (SHORT, 0, 1)], scoring="pll-original", window=64, stride=8
    )
    alone = masked_lm.token_log_likelihoods(bert, [SHORT], scoring="pll-original")[0]
    np.testing.assert_allclose(read[1]["log_likelihoods"], alone["log_likelihoods"], atol=1e-5)


def test_a_window_that_cannot_be_is_refused(gpt: LoadedModel, bert: LoadedModel) -> None:
    with pytest.raises(InputError, match=r"65 tokens is too long: .* at most 64"):
        of_document(gpt, TEXT, window=65, stride=8)
    with pytest.raises(InputError, match=r"no room for the text: .* reads 2 special tokens"):
        of_document(bert, TEXT, scoring="pll-original", window=2, stride=1)


@pytest.mark.parametrize("both_sides", [False, True])
def test_windows_score_each_token_once_with_its_context(both_sides: bool) -> None:
    for n in range(40):
        for length in range(1, 12):
            for stride in range(1, length + 1):
                parts = windows(n, length, stride, both_sides=both_sides)
                assert [i for part in parts for i in range(part.scored_from, part.scored_to)] == list(range(n))
                for part in parts:
                    assert part.begin <= part.scored_from <= part.scored_to <= part.end <= n
                    assert part.end - part.begin <= length
                    context = length - stride
                    if not both_sides and part.begin:
                        assert part.scored_from - part.begin >= context
                    if both_sides:
                        assert not part.begin or part.scored_from - part.begin >= context // 2
                        assert part.end == n or part.end - part.scored_to >= context // 2
