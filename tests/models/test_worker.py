"""Chunks as a worker process gets them, here in the test's own process. The models are tiny and random."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from engine.errors import EngineError, InputError, ModelError
from engine.messages.message import Message, together
from engine.models.loading.weights import load
from engine.models.scoring import seq2seq_lm
from engine.models.sources.facts import ModelFacts
from engine.models.worker import OPERATIONS, run_chunk
from tests.models.zoo.kinds.encoders import ENCODERS
from tests.models.zoo.specimens import build
from tests.support import tiny_models
from tests.support.tiny_models import ENGLISH, JAPANESE


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("models")
    return {
        make.__name__: str(make(folder / make.__name__))
        for make in (tiny_models.bert, tiny_models.bert_japanese, tiny_models.gpt2_unigram, tiny_models.gpt2_byte_level)
    }


def request(model: str, items: list, **settings: object) -> dict:
    return {"model": model, "revision": None, "items": items, "settings": settings}


def plain(value: object) -> bool:
    """Whether a value is of the kinds that a piece may hold."""
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and value.dtype in (np.float32, np.float64, np.int32, np.bool_)
    return (
        type(value) in (str, Message, type(together("", ())), int, float, bool, type(None))
        or (type(value) in (list, tuple) and all(type(entry) in (str, float) for entry in value))
        or (type(value) is dict and all(type(key) is str and plain(inner) for key, inner in value.items()))
    )


def test_the_decoder_of_an_encoder_decoder_is_asked_for_its_log_likelihoods(tmp_path: Path) -> None:
    t5 = next(kind for kind in ENCODERS if kind.name == "t5")
    folder = str(build(t5, tmp_path / "t5").folder)
    asked = {"scoring": "seq2seq", "encoder_reads": "text", "encoder_text": "雨", "precision": "fp32"}
    pieces = run_chunk("token_log_likelihoods", request(folder, list(JAPANESE[:2]), **asked))
    loaded = load(folder, "seq2seq")
    expected = seq2seq_lm.token_log_likelihoods(loaded, JAPANESE[:2], encoder_reads="text", encoder_text="雨")
    for piece, own in zip(pieces, expected, strict=True):
        np.testing.assert_array_equal(piece["log_likelihoods"], own["log_likelihoods"])
    assert run_chunk("sentence_vectors", request(folder, ["雨"], layers=[2], pooling="mean", precision="fp32"))


def test_every_operation_answers_with_plain_pieces_that_pickle(models: dict[str, str]) -> None:
    bert, gpt2 = models["bert_japanese"], models["gpt2_unigram"]
    too_long = "猫" * 100
    texts, pairs = [*JAPANESE, too_long], [[JAPANESE[0], JAPANESE[1]], [JAPANESE[2], too_long]]
    asked = {
        "describe": request(bert, [""]),
        "loading_checks": request(bert, [""]),
        "sentence_vectors": request(bert, texts, layers=[0, 2], pooling="cls", precision="fp32"),
        "token_similarities": request(bert, pairs, layers=[2], precision="fp32"),
        "token_log_likelihoods": request(bert, texts, scoring="pll-word-l2r", words="auto", precision="fp32"),
        "continuation_log_likelihoods": request(gpt2, [[texts[0], texts[1], texts[2]], [texts[0], too_long]]),
        "document_log_likelihoods": request(
            gpt2, [(too_long, 0, 2), (too_long, 1, 2), ("", 0, 1)], scoring="causal", window=32, stride=16
        ),
        "shared_token_log_likelihoods": request(bert, pairs, precision="fp32"),
        "token_lists": request(gpt2, texts),
        "document_counts": request(gpt2, [texts, texts[:1]]),
        "word_counts": request("", [texts, texts[:1]]),
        "tokenized": request(bert, texts),
        "tokenized_alone": request(gpt2, texts),
        "control_tokens_read": request(bert, texts),
        "fill_masks": request(bert, [["", "猫", "が庭で"], ["猫が", "庭" * 100, "で"]], top=3),
        "project": request("", [np.eye(6, dtype=np.float32)], method="pca"),
        "bootstrap": request("", [np.eye(6, dtype=np.float32)], class_of=[0, 1] * 3, n_resamples=100, seed=0),
        "label_permutation": request("", [np.eye(6, dtype=np.float32)], class_of=[0, 1] * 3, n_permutations=9, seed=0),
        "cluster_validity": request(
            "",
            [np.eye(6, dtype=np.float32)],
            class_of=[0, 1] * 3,
            seed=0,
            functions={"ari": "engine.measures.clusters.validity:ari"},
        ),
        "nearest_neighbours": request("", [np.eye(6, dtype=np.float32)], n_neighbours=2, metric="cosine"),
        "repeated_clustering": request("", [np.eye(6, dtype=np.float32)], class_of=[0, 1] * 3, n_seeds=2, seed=0),
        "model_similarity": request("", [np.eye(6, dtype=np.float32)], first_dims=3, metric="euclidean", seed=0),
        "classify": request(
            "",
            [np.eye(6, dtype=np.float32)],
            labels=[0, 1] * 3,
            is_test=[False] * 4 + [True] * 2,
            hidden=[4],
            epochs=1,
            batch_size=2,
            standardize=False,
            seed=0,
        ),
        "surface_scores": request("", [[[JAPANESE[0], JAPANESE[1]], [JAPANESE[2], JAPANESE[2]]]], tokenizer="ja-mecab"),
    }
    assert set(asked) == set(OPERATIONS)
    for operation, one in asked.items():
        pieces = run_chunk(operation, one)
        assert len(pieces) == len(one["items"]), operation
        assert all(type(key) is str and plain(value) for piece in pieces for key, value in piece.items()), operation
        assert pickle.loads(pickle.dumps(pieces))[0].keys() == pieces[0].keys()
        if operation in (
            "sentence_vectors",
            "token_similarities",
            "token_log_likelihoods",
            "continuation_log_likelihoods",
            "document_log_likelihoods",
            "shared_token_log_likelihoods",
            "fill_masks",
        ):
            assert "excluded" in pieces[-1] and "excluded" not in pieces[0], operation


def test_facts_come_back_as_they_were_described(models: dict[str, str]) -> None:
    [piece] = run_chunk("describe", request(models["gpt2_unigram"], [""]))
    facts = ModelFacts.from_dict(piece)
    assert (facts.kind, facts.n_layers, facts.path) == ("causal", 2, models["gpt2_unigram"])


def test_the_scoring_chooses_the_model(models: dict[str, str]) -> None:
    bert, gpt2 = models["bert"], models["gpt2_byte_level"]
    [causal] = run_chunk("token_log_likelihoods", request(gpt2, [ENGLISH[0]], scoring="causal"))
    [unopened] = run_chunk("token_log_likelihoods", request(gpt2, [ENGLISH[0]], scoring="causal", prefix=[]))
    assert len(causal["tokens"]) == len(unopened["tokens"]) + 1
    [masked] = run_chunk("token_log_likelihoods", request(bert, [ENGLISH[0]], scoring="pll-original"))
    assert (masked["log_likelihoods"] < 0).all()
    with pytest.raises(ModelError, match="is a causal model and fills no masks"):
        run_chunk("token_log_likelihoods", request(gpt2, [ENGLISH[0]], scoring="pll-original"))
    with pytest.raises(ModelError, match="is a masked model and does not score from left to right"):
        run_chunk("token_log_likelihoods", request(bert, [ENGLISH[0]], scoring="causal"))
    with pytest.raises(InputError, match="guess"):
        run_chunk("token_log_likelihoods", request(bert, [ENGLISH[0]], scoring="guess"))


@pytest.mark.parametrize("name", ["bert", "bert_japanese", "gpt2_unigram", "gpt2_byte_level"])
def test_token_lists_are_the_tokens_of_the_similarities(name: str, models: dict[str, str]) -> None:
    # An idf dictionary counts the former and is asked with the latter.
    texts = ["東京タワーで 𠮷野家、🍜！", "The cat [SEP] <s> sat.", "ﾗｰﾒﾝ㍿", "謎の漢字 龘龘"]
    lists = run_chunk("token_lists", request(models[name], texts))
    pieces = run_chunk(
        "token_similarities", request(models[name], [[text, "a"] for text in texts], layers=[0], precision="fp32")
    )
    for listed, piece in zip(lists, pieces, strict=True):
        tokens = zip(piece["reference_tokens"], piece["reference_special"], strict=True)
        assert listed["tokens"] == [token for token, special in tokens if not special]


def test_token_lists_take_texts_of_any_length(models: dict[str, str]) -> None:
    [piece] = run_chunk("token_lists", request(models["bert_japanese"], [JAPANESE[0] * 500]))
    assert len(piece["tokens"]) == 13 * 500


def test_a_map_is_drawn_by_the_measures(models: dict[str, str]) -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
    [piece] = run_chunk("project", request("", [vectors], method="pca"))
    assert piece["coordinates"].shape == (6, 2)
    with pytest.raises(InputError, match="one of umap, pca; got 't-sne'"):
        run_chunk("project", request("", [vectors], method="t-sne"))


def test_checks_at_loading_say_what_was_found(models: dict[str, str]) -> None:
    [masked] = run_chunk("loading_checks", request(models["bert_japanese"], [""]))
    [causal] = run_chunk("loading_checks", request(models["gpt2_unigram"], [""]))
    assert (masked["task"], masked["batching"], masked["reads_ahead"]) == ("masked", "any", None)
    assert (causal["task"], causal["batching"], causal["reads_ahead"]) == ("causal", "any", False)
    assert causal["n_unused"] == 0 and causal["missing"] == () and 0 <= causal["seconds"] < 60


def test_an_unknown_operation_is_an_error() -> None:
    with pytest.raises(InputError, match=r"no operation 'dance'; there are describe, loading_checks"):
        run_chunk("dance", request("", []))


def test_errors_pickle_with_their_words(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        run_chunk("describe", request(str(tmp_path), [""]))
    back = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(back, EngineError) and str(back) == str(caught.value) and "config.json" in str(back)


class Unforeseen(Exception):
    """Of no class that anybody foresaw."""


@pytest.mark.parametrize(
    ("operation", "items", "settings", "step"),
    [
        ("loading_checks", [None], {}, "tried on a few tokens"),
        ("sentence_vectors", ["cat"], {"layers": [2]}, "read sentences for their vectors"),
        ("token_similarities", [("cat", "dog")], {"layers": [2]}, "read pairs of sentences"),
        ("token_log_likelihoods", ["cat"], {"scoring": "pll-original"}, "scored sentences"),
        ("fill_masks", [("The ", "cat", " sleeps.")], {}, "filled masks"),
    ],
)
def test_whatever_a_model_raises_is_an_error_of_the_model(
    operation: str, items: list, settings: dict, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = str(tiny_models.bert(tmp_path / "bert"))

    def fail(*_: object, **__: object) -> None:
        raise Unforeseen("of the code of a layer")

    monkeypatch.setattr("transformers.models.bert.modeling_bert.BertLayer.forward", fail)
    with pytest.raises(
        ModelError, match=rf"bert \(BertForMaskedLM\) cannot .*{step} \(Unforeseen: of the code"
    ) as raised:
        run_chunk(operation, request(name, items, **settings))
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_what_a_tokenizer_raises_is_an_error_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = str(tiny_models.bert(tmp_path / "bert"))

    def fail(*_: object, **__: object) -> None:
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr("engine.models.tokenization.token_cache.TOKENS.token_ids", fail)
    with pytest.raises(ModelError, match=r"when its tokenizer read texts \(RecursionError"):
        run_chunk("token_lists", request(name, ["cat"]))


def test_too_little_memory_is_no_error_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = str(tiny_models.bert(tmp_path / "bert"))

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("engine.models.worker.batching_of", fail)
    with pytest.raises(MemoryError):
        run_chunk("loading_checks", request(name, [None]))
