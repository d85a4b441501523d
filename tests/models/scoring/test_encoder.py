"""Hidden states of tiny random models (see `tiny_models`), against transformers itself and against bert_score."""

import itertools
import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from engine.errors import InputError, ModelError
from engine.measures.bertscore import bertscore, best_matches
from engine.measures.idf import count_documents
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import encoder
from engine.models.scoring.encoder import token_similarities
from engine.models.scoring.sentence_vectors import sentence_vectors
from tests.support import tiny_models
from tests.support.precisions import in_precision
from tests.support.tiny_models import HIDDEN, JAPANESE

# Rounding of float32 sums in another order (the kernels differ with and without padding).
NEIGHBOUR_TOLERANCE = 1e-6  # of cosines
VECTOR_TOLERANCE = 5e-6  # of hidden states, whose entries go up to 3
PAIRS = [
    (JAPANESE[0], "昨日、彼は京都タワーでうどんを食べました。"),
    (JAPANESE[1], JAPANESE[2]),
    (JAPANESE[3], "彼女は明日、京都へ行く予定ではない。"),
    (JAPANESE[4], JAPANESE[4]),
    (" 猫。\n", "The cat sleeps."),
    ("雨", JAPANESE[7]),
    (JAPANESE[0], JAPANESE[5]),
]


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tiny")
    return {
        make.__name__: make(folder / make.__name__)
        for make in (tiny_models.bert, tiny_models.bert_japanese, tiny_models.gpt2_unigram, tiny_models.gpt2_byte_level)
    }


@pytest.fixture(scope="module")
def models(directories: dict[str, Path]) -> dict[str, LoadedModel]:
    return {name: load(str(path), "encode") for name, path in directories.items()}


@pytest.fixture
def bert(models: dict[str, LoadedModel]) -> LoadedModel:
    return models["bert"]


@pytest.fixture
def byte_level(models: dict[str, LoadedModel]) -> LoadedModel:
    return models["gpt2_byte_level"]


@pytest.mark.parametrize("name", ["bert", "bert_japanese"])
def test_vectors_are_the_hidden_states_of_the_whole_model(
    name: str, directories: dict[str, Path], models: dict[str, LoadedModel]
) -> None:
    model = AutoModel.from_pretrained(directories[name])
    tokenizer = AutoTokenizer.from_pretrained(directories[name])
    pieces = sentence_vectors(models[name], JAPANESE, layers=[0, 2, 1], pooling="cls")
    means = sentence_vectors(models[name], JAPANESE, layers=[2], pooling="mean-without-special")
    for text, piece, mean in zip(JAPANESE, pieces, means, strict=True):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]  # (1, n_tokens)
        with torch.inference_mode():
            states = model(ids, output_hidden_states=True).hidden_states
        assert piece["n_tokens"] == ids.shape[1] and piece["vectors"].dtype == np.float32
        expected = [states[layer][0, 0].numpy() for layer in (0, 2, 1)]  # [CLS] stands first
        np.testing.assert_allclose(piece["vectors"], expected, atol=VECTOR_TOLERANCE)
        # Between [CLS] and [SEP] stand the text's own tokens.
        np.testing.assert_allclose(mean["vectors"][0], states[2][0, 1:-1].mean(0).numpy(), atol=VECTOR_TOLERANCE)


@pytest.mark.parametrize(
    ("name", "pooling"),
    [
        ("bert", "cls"),
        ("bert", "mean"),
        ("bert_japanese", "cls"),
        ("gpt2_unigram", "last"),
        ("gpt2_byte_level", "weighted-mean"),
        ("bert", "mean-without-special"),
    ],
)
def test_a_vector_does_not_depend_on_the_texts_beside_it(
    name: str, pooling: str, models: dict[str, LoadedModel]
) -> None:
    together = sentence_vectors(models[name], JAPANESE[::-1], layers=[0, 1, 2], pooling=pooling)[::-1]
    for text, piece in zip(JAPANESE, together, strict=True):
        [alone] = sentence_vectors(models[name], [text], layers=[0, 1, 2], pooling=pooling)
        np.testing.assert_allclose(piece["vectors"], alone["vectors"], atol=VECTOR_TOLERANCE)
    # Sharp: no two sentences have one vector, so rows that changed places would show.
    last = np.array([piece["vectors"][-1] for piece in together])  # (n_texts, hidden)
    distances = np.linalg.norm(last[:, None] - last[None], axis=-1)[~np.eye(len(last), dtype=bool)]
    assert distances.min() > 0.1


def test_bfloat16_is_close_but_not_the_same(bert: LoadedModel) -> None:
    [full] = sentence_vectors(bert, [JAPANESE[0]], layers=[2])
    [half] = sentence_vectors(in_precision(bert, "bf16"), [JAPANESE[0]], layers=[2])
    assert half["vectors"].dtype == np.float32
    # Eight significant bits, through two layers.
    assert 1e-6 < np.abs(full["vectors"] - half["vectors"]).max() < 0.2
    with pytest.raises(InputError, match="precision"):
        in_precision(bert, "fp8")


def test_a_text_beyond_the_models_length_is_excluded_not_cut(bert: LoadedModel) -> None:
    longest = "猫" * 62  # and [CLS] and [SEP]: 64
    fits, beyond, short = sentence_vectors(bert, [longest, longest + "猫", "猫"], layers=[2])
    assert (fits["n_tokens"], short["n_tokens"]) == (64, 3)
    assert beyond["n_tokens"] == 65 and "vectors" not in beyond
    assert "65" in beyond["excluded"] and "64" in beyond["excluded"]
    [pair] = token_similarities(bert, [("猫", longest + "猫")], layers=[2])
    assert set(pair) == {"excluded", "n_tokens"} and pair["excluded"].startswith("Candidate: ")


def test_what_has_no_token_is_excluded(bert: LoadedModel, byte_level: LoadedModel) -> None:
    [empty] = sentence_vectors(bert, [""], layers=[2], pooling="mean-without-special")
    assert empty == {"excluded": "It has no token to average.", "n_tokens": 2}
    [pair] = token_similarities(byte_level, [("  ", "The cat")], layers=[2])
    assert pair["excluded"] == "Reference: It has no token."
    assert sentence_vectors(bert, [], layers=[2]) == [] and token_similarities(bert, [], layers=[2]) == []


def test_cls_pooling_needs_a_cls_token(byte_level: LoadedModel) -> None:
    with pytest.raises(ModelError, match=r"has no CLS token.*mean pooling"):
        sentence_vectors(byte_level, ["The cat"], layers=[2], pooling="cls")


@pytest.mark.parametrize("layers", [[3], [-1], [0, 7], []])
def test_layers_that_are_not_there_are_refused(bert: LoadedModel, layers: list[int]) -> None:
    with pytest.raises(InputError, match=r"layers 0 \(embeddings\) to 2; got"):
        sentence_vectors(bert, ["猫"], layers=layers)
    with pytest.raises(InputError, match=r"layers 0 \(embeddings\) to 2; got"):
        token_similarities(bert, [("猫", "犬")], layers=layers)


def test_an_unknown_pooling_is_refused(bert: LoadedModel) -> None:
    with pytest.raises(InputError, match=r"one of published, cls, mean, .*; got 'max'"):
        sentence_vectors(bert, ["猫"], layers=[2], pooling="max")


def test_similarities_are_cosines_of_hidden_states(bert: LoadedModel) -> None:
    [piece] = token_similarities(bert, [("猫が 庭", "The cat")], layers=[1, 2])
    # [CLS] 猫 か 庭 [SEP]: the accents of が are stripped by this tokenizer.
    assert piece["reference_tokens"][0] == "[CLS]" and piece["candidate_tokens"][-1] == "[SEP]"
    for place, layer in enumerate((1, 2)):
        sides = []
        for text in ("猫が 庭", "The cat"):
            ids = torch.tensor([bert.tokenizer(text)["input_ids"]], device=bert.device)
            with torch.inference_mode():
                states = bert.model(ids, output_hidden_states=True).hidden_states[layer][0].double().cpu().numpy()
            sides.append(states / np.linalg.norm(states, axis=-1, keepdims=True))
        np.testing.assert_allclose(piece["similarity"][place], sides[0] @ sides[1].T, atol=NEIGHBOUR_TOLERANCE)


@pytest.mark.parametrize("name", ["bert", "bert_japanese", "gpt2_unigram", "gpt2_byte_level"])
def test_similarities_are_symmetric_bounded_and_one_for_the_same_token(
    name: str, models: dict[str, LoadedModel]
) -> None:
    model = models[name]
    there, back, same = token_similarities(
        model, [(JAPANESE[3], "彼は行く。"), ("彼は行く。", JAPANESE[3]), (JAPANESE[3], JAPANESE[3])], layers=[0, 1, 2]
    )
    assert there["similarity"].shape == (3, len(there["reference_tokens"]), len(there["candidate_tokens"]))
    assert there["similarity"].dtype == np.float32
    np.testing.assert_array_equal(there["similarity"], back["similarity"].swapaxes(1, 2))
    assert np.abs(there["similarity"]).max() <= 1 + NEIGHBOUR_TOLERANCE
    for layer in same["similarity"]:
        np.testing.assert_allclose(np.diag(layer), 1, atol=NEIGHBOUR_TOLERANCE)


@pytest.mark.parametrize("name", ["bert", "bert_japanese", "gpt2_unigram", "gpt2_byte_level"])
def test_a_pair_does_not_depend_on_the_pairs_beside_it(name: str, models: dict[str, LoadedModel]) -> None:
    pairs = [pair for pair in PAIRS if name != "gpt2_byte_level" or max(map(len, pair)) < 20]
    together = token_similarities(models[name], pairs, layers=[0, 2])
    for pair, piece in zip(pairs, together, strict=True):
        [alone] = token_similarities(models[name], [pair], layers=[0, 2])
        assert piece.keys() == alone.keys() and piece["candidate_tokens"] == alone["candidate_tokens"]
        np.testing.assert_allclose(piece["similarity"], alone["similarity"], atol=NEIGHBOUR_TOLERANCE)


def test_spans_point_into_the_text_as_it_was_given(models: dict[str, LoadedModel]) -> None:
    names, texts = ("bert", "bert_japanese", "gpt2_unigram"), ("　 東京タワー。\n", "東京タワー。")
    for name, text in itertools.product(names, texts):
        [piece] = token_similarities(models[name], [(text, "猫")], layers=[2])
        words = [
            text[start:end]
            for (start, end), special in zip(piece["reference_spans"], piece["reference_special"], strict=True)
            if not special
        ]
        assert "".join(words) == "東京タワー。"
        assert (piece["reference_spans"][piece["reference_special"]] == -1).all()
        assert piece["reference_spans"].dtype == np.int32 and piece["reference_special"].dtype == bool


def test_each_text_is_read_once_and_memory_only_cuts_the_work(
    bert: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []
    hook = bert.model.register_forward_pre_hook(
        lambda module, args, kwargs: rows.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    try:
        pieces = token_similarities(bert, PAIRS, layers=[1, 2])
        assert sum(rows) == len({text for pair in PAIRS for text in pair})
        monkeypatch.setattr(encoder, "VECTOR_BYTES", 20 * 2 * HIDDEN * 4)  # twenty tokens at a time
        rows.clear()
        cut = token_similarities(bert, PAIRS, layers=[1, 2])
        assert len(rows) > 3
    finally:
        hook.remove()
    for whole, part in zip(pieces, cut, strict=True):
        np.testing.assert_allclose(whole["similarity"], part["similarity"], atol=NEIGHBOUR_TOLERANCE)


@pytest.mark.parametrize("name", ["bert", "bert_japanese"])
@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("with_idf", [False, True])
def test_bertscore_equals_bert_score(
    name: str, layer: int, with_idf: bool, directories: dict[str, Path], models: dict[str, LoadedModel]
) -> None:
    assert_equal_to_bert_score(directories[name], models[name], layer, with_idf)


@pytest.mark.parametrize("with_idf", [False, True])
def test_bertscore_equals_bert_score_on_the_built_in_model(with_idf: bool, tmp_path: Path) -> None:
    try:
        loaded = load("builtin/bert-mini-ja", "encode")
    except ModelError as error:
        pytest.skip(str(error))
    # The weights are stored in half precision; bert_score would compute in it, as the configuration may say.
    copy = Path(shutil.copytree(loaded.facts.path, tmp_path / "copy"))
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "dtype": "float32"}))
    for layer in (loaded.facts.n_layers, loaded.facts.n_layers - 1):
        assert_equal_to_bert_score(copy, loaded, layer, with_idf)


def assert_equal_to_bert_score(directory: Path, loaded: LoadedModel, layer: int, with_idf: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        import bert_score

    references, candidates = map(list, zip(*PAIRS, strict=True))
    # One pair at a time: it clamps negative similarities at 0 where it pads.
    expected = bert_score.score(
        candidates,
        references,
        model_type=str(directory),
        num_layers=layer,
        idf=with_idf,
        nthreads=0,
        batch_size=1,
        device="cpu",
    )
    pieces = token_similarities(loaded, PAIRS, layers=[layer])
    idf = count_documents([piece["reference_tokens"] for piece in pieces], "references", "test", "reference")
    sentences = [
        (piece[f"{side}_tokens"], piece[f"{side}_special"]) for piece in pieces for side in ("reference", "candidate")
    ]
    lengths = [len(tokens) for tokens, _ in sentences]
    special = np.concatenate([flags for _, flags in sentences])
    weights = np.concatenate([idf.idf(tokens, flags) for tokens, flags in sentences]) if with_idf else 1.0 - special
    score = bertscore(
        best_matches(np.concatenate([piece["similarity"][0].ravel() for piece in pieces]), lengths, special),
        lengths,
        weights,
    )
    # The project's promise; both sides are float32.
    for ours, theirs in zip((score.precision, score.recall, score.f1), expected, strict=True):
        assert ours == pytest.approx(np.asarray(theirs, dtype=np.float64), abs=1e-5)
