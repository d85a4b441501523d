"""Vectors of sentences against sentence-transformers itself, on directories that its own classes write."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling

from engine.errors import ModelError
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import sentence_vectors as scoring_module
from engine.models.scoring.sentence_vectors import sentence_vectors, weighted_sums
from tests.models.zoo.kinds.encoders import ENCODERS
from tests.models.zoo.specimens import build
from tests.support import tiny_models
from tests.support.tiny_models import ENGLISH, HIDDEN, JAPANESE

TOLERANCE = 1e-5
LONG = " ".join(ENGLISH)  # beyond the short maximum of the directories below, within the model's own
TEXTS = (*JAPANESE, *ENGLISH, "  outer white space ", LONG, "猫")
SHORT = 20  # tokens
TEXT = {"method": "forward", "method_output_name": "last_hidden_state"}
MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
# Ours -> theirs.
PLAIN = {"mean": "mean", "cls": "cls", "last": "lasttoken", "weighted-mean": "weightedmean"}


def published(
    folder: Path,
    *modules: torch.nn.Module,
    max_tokens: int | None = None,
    transformer: Path | None = None,
    **settings: Any,
) -> Path:
    """A directory as sentence-transformers saves it; `modules` follow the transformer."""
    torch.manual_seed(7)
    source = transformer or tiny_models.bert(folder.parent / f"{folder.name}-transformer")
    body = Transformer(str(source), max_seq_length=max_tokens)
    SentenceTransformer(modules=[body, *modules], device="cpu", **settings).save(str(folder))
    return folder


def theirs(folder: Path, texts: tuple[str, ...], **settings: Any) -> np.ndarray:
    model = SentenceTransformer(str(folder), device="cpu")
    return np.asarray(model.encode(list(texts), batch_size=4, **settings))


def ours(folder: Path | LoadedModel, texts: tuple[str, ...], pooling: str = "published", **settings: Any) -> np.ndarray:
    loaded = folder if isinstance(folder, LoadedModel) else load(str(folder), "encode")
    pieces = sentence_vectors(loaded, texts, layers=[loaded.facts.n_layers], pooling=pooling, **settings)
    return np.stack([piece["vectors"][0] for piece in pieces])


def test_a_decoder_reads_in_both_directions_where_its_transformer_is_called_so(tmp_path: Path) -> None:
    """`is_causal: false` of sentence_bert_config.json, where config.json has it, too; else the library loses it."""
    qwen = next(kind for kind in ENCODERS if kind.name == "qwen3 in both directions")
    settings = {**qwen.settings, "is_causal": True}
    transformer = build(replace(qwen, settings=settings), tmp_path / "qwen").folder
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"), transformer=transformer)
    causal = ours(folder, JAPANESE)
    np.testing.assert_allclose(causal, theirs(folder, JAPANESE), rtol=0, atol=TOLERANCE)
    path = folder / "sentence_bert_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "config_args": {"is_causal": False}}))
    both_ways = ours(folder, JAPANESE)
    np.testing.assert_allclose(both_ways, theirs(folder, JAPANESE), rtol=0, atol=TOLERANCE)
    assert np.abs(both_ways - causal).max() > 0.01
    config = folder / "config.json"
    config.write_text(json.dumps({k: v for k, v in json.loads(config.read_text()).items() if k != "is_causal"}))
    np.testing.assert_allclose(ours(folder, JAPANESE), theirs(folder, JAPANESE), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("mode", [*MODES, ("cls", "mean")])
def test_every_published_pooling(mode: str | tuple[str, ...], tmp_path: Path) -> None:
    folder = published(tmp_path / "model", Pooling(HIDDEN, mode))
    np.testing.assert_allclose(ours(folder, TEXTS), theirs(folder, TEXTS), atol=TOLERANCE)


@pytest.mark.parametrize(("pooling", "mode"), PLAIN.items())
@pytest.mark.parametrize("make", [tiny_models.bert, tiny_models.bert_japanese, tiny_models.gpt2_byte_level])
def test_pooling_of_any_directory(pooling: str, mode: Any, make: Any, tmp_path: Path) -> None:
    if make is tiny_models.gpt2_byte_level and pooling == "cls":
        pytest.skip("GPT-2's tokenizer adds no CLS token")
    source = make(tmp_path / "source")
    body = Transformer(str(source))
    if body.tokenizer.pad_token is None:  # a batch of theirs is padded
        body.tokenizer.pad_token = body.tokenizer.eos_token
    reference = SentenceTransformer(modules=[body, Pooling(HIDDEN, mode)], device="cpu")
    texts = ENGLISH if make is tiny_models.gpt2_byte_level else TEXTS
    np.testing.assert_allclose(ours(source, texts, pooling), reference.encode(list(texts)), atol=TOLERANCE)


def test_dense_normalisation_prompt_and_short_maximum_together(tmp_path: Path) -> None:
    folder = published(
        tmp_path / "model",
        Pooling(HIDDEN, "mean"),
        Dense(HIDDEN, 16),
        LayerNorm(16),
        Normalize(),
        max_tokens=SHORT,
        prompts={"query": "query: ", "passage": "passage: "},
        default_prompt_name="passage",
    )
    loaded = load(str(folder), "encode")
    facts = loaded.facts.published
    assert facts is not None and facts.max_tokens in (SHORT, None) and loaded.facts.max_tokens >= SHORT
    assert facts.default_prompt == "passage" and "Dense 32 → 16 Tanh, LayerNorm, Normalize" in facts.description
    for name, prompt in facts.prompts.items():  # the library adds an empty "document" of its own
        np.testing.assert_allclose(
            ours(loaded, TEXTS, prompt=prompt), theirs(folder, TEXTS, prompt_name=name), atol=TOLERANCE
        )
    np.testing.assert_allclose(ours(loaded, TEXTS, prompt="passage: "), theirs(folder, TEXTS), atol=TOLERANCE)
    # Sharp: each of the three shows.
    plain = ours(loaded, TEXTS)
    assert plain.shape[1] == 16 and np.allclose(np.linalg.norm(plain, axis=1), 1, atol=1e-6)
    assert np.abs(plain - ours(loaded, TEXTS, prompt="query: ")).max() > 0.01
    pieces = sentence_vectors(loaded, [LONG, "猫"], layers=[2], pooling="published")
    assert pieces[0]["n_read"] == SHORT < pieces[0]["n_tokens"] and "n_read" not in pieces[1]


@pytest.mark.parametrize("mode", ["mean", "cls", "lasttoken", "weightedmean"])
def test_a_pooling_that_leaves_the_prompt_out(mode: str, tmp_path: Path) -> None:
    folder = published(
        tmp_path / "model",
        Pooling(HIDDEN, mode, include_prompt=False),  # type: ignore[arg-type]
        prompts={"query": "the garden "},
    )
    np.testing.assert_allclose(
        ours(folder, TEXTS[:10], prompt="the garden "), theirs(folder, TEXTS[:10], prompt_name="query"), atol=TOLERANCE
    )


def test_a_control_token_is_one_in_a_prompt_and_plain_text_in_a_sentence(tmp_path: Path) -> None:
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"), prompts={"query": "the [SEP] "})
    texts = ENGLISH[:3]
    np.testing.assert_allclose(
        ours(folder, texts, prompt="the [SEP] "), theirs(folder, texts, prompt_name="query"), atol=TOLERANCE
    )
    in_texts = tuple(f"the [SEP] {text}" for text in texts)
    assert (np.abs(ours(folder, in_texts) - theirs(folder, in_texts)).max(axis=1) > 0.01).all()  # they read [SEP]


def test_lower_casing_comes_before_a_tokenizer_that_keeps_case(tmp_path: Path) -> None:
    texts = ("THE CAT SLEEPS", "İstanbul ΣΊΣΥΦΟΣ", *ENGLISH)
    source = tiny_models.gpt2_byte_level(tmp_path / "cased")
    settings = source / "tokenizer_config.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "pad_token": "<|endoftext|>"}))
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"), transformer=source)
    plain = ours(folder, texts)
    # As releases before 5 wrote it; later ones put the lower-casing into tokenizer.json.
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": SHORT, "do_lower_case": True}))
    np.testing.assert_allclose(ours(folder, texts), theirs(folder, texts), atol=TOLERANCE)
    assert np.abs(ours(folder, texts)[0] - plain[0]).max() > 0.01


def test_matryoshka_dimensions(tmp_path: Path) -> None:
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"), Normalize(), truncate_dim=8)
    facts = load(str(folder), "encode").facts
    assert facts.published is not None and facts.published.truncate_dim == 8
    np.testing.assert_allclose(ours(folder, TEXTS, truncate_dim=8), theirs(folder, TEXTS), atol=TOLERANCE)


def test_layout_of_older_releases(tmp_path: Path) -> None:
    """The transformer in 0_Transformer, one flag for each kind of pooling, and no settings of the whole."""
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"), Dense(HIDDEN, 16), max_tokens=SHORT)
    older = tmp_path / "older"
    shutil.copytree(folder, older)
    body = older / "0_Transformer"
    body.mkdir()
    for path in list(older.iterdir()):
        if path.is_file() and path.name not in ("modules.json", "README.md", "config_sentence_transformers.json"):
            shutil.move(path, body / path.name)
    (older / "config_sentence_transformers.json").unlink()
    (body / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": SHORT, "do_lower_case": False}))
    modules = json.loads((older / "modules.json").read_text())
    for module in modules:
        module["type"] = "sentence_transformers.models." + module["type"].rpartition(".")[2]
    modules[0]["path"] = "0_Transformer"
    (older / "modules.json").write_text(json.dumps(modules))
    (older / "1_Pooling" / "config.json").write_text(
        json.dumps(
            {
                "word_embedding_dimension": HIDDEN,
                "pooling_mode_cls_token": False,
                "pooling_mode_mean_tokens": True,
                "pooling_mode_max_tokens": False,
                "pooling_mode_mean_sqrt_len_tokens": False,
            }
        )
    )
    np.testing.assert_allclose(ours(older, TEXTS), theirs(older, TEXTS), atol=TOLERANCE)
    np.testing.assert_allclose(ours(older, TEXTS), ours(folder, TEXTS), atol=TOLERANCE)


def test_modules_of_other_kinds_leave_the_other_poolings(tmp_path: Path) -> None:
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"))
    modules = json.loads((folder / "modules.json").read_text())
    modules.append({"idx": 2, "name": "2", "path": "2_Own", "type": "custom_code.Own"})
    (folder / "modules.json").write_text(json.dumps(modules))
    loaded = load(str(folder), "encode")
    with pytest.raises(ModelError, match=r"cannot be pooled as published: .*custom_code….Own.*another pooling"):
        ours(loaded, TEXTS)
    assert ours(loaded, TEXTS, "mean").shape == (len(TEXTS), HIDDEN)


def test_a_directory_that_does_not_say(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no modules\.json.*another pooling"):
        ours(tiny_models.bert(tmp_path / "plain"), TEXTS)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("modules.json", "[", "cannot be read as JSON"),
        ("modules.json", "{}", "no list of modules"),
        ("modules.json", '[{"path": ""}]', "no list of modules"),
        ("1_Pooling/config.json", "[]", "no JSON object but a list"),
        (
            "modules.json",
            '[{"type": "sentence_transformers.models.Transformer", "path": "../elsewhere"},'
            '{"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]',
            "is not below",
        ),
        ("config_sentence_transformers.json", '{"prompts": ["a"]}', "prompts that are no texts"),
        ("config_sentence_transformers.json", '{"default_prompt_name": "query"}', "default prompt"),
    ],
)
def test_damaged_files_are_own_errors(file: str, content: str, message: str, tmp_path: Path) -> None:
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"))
    (folder / file).write_text(content)
    with pytest.raises(ModelError, match=message):
        load(str(folder), "encode")


@pytest.mark.parametrize("mode", ["mean", "lasttoken"])
@pytest.mark.parametrize("name", ["t5", "t5 from its .model", "mt5", "umt5", "longt5"])
def test_an_encoder_that_was_saved_without_its_decoder(name: str, mode: Any, tmp_path: Path) -> None:
    [kind] = [kind for kind in ENCODERS if kind.name == name]
    folder = published(
        tmp_path / "model",
        Pooling(HIDDEN, mode),
        Dense(HIDDEN, 16),
        max_tokens=SHORT,
        transformer=build(kind, tmp_path / "source").folder,
    )
    loaded = load(str(folder), "encode")
    np.testing.assert_allclose(ours(loaded, TEXTS), theirs(folder, TEXTS), atol=TOLERANCE)
    assert loaded.weight_check.missing == ("decoder",)


def test_a_decoder_that_would_be_pooled_is_refused(tmp_path: Path) -> None:
    """sentence-transformers takes the last states of BART, which are its decoder's."""
    [kind] = [kind for kind in ENCODERS if kind.name == "bart"]
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"), transformer=build(kind, tmp_path / "source").folder)
    with pytest.raises(ModelError, match=r"pools the states of the decoder .*\(bart\).* Choose another pooling"):
        ours(folder, ENGLISH)
    assert ours(folder, ENGLISH, "mean").shape == (len(ENGLISH), HIDDEN)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"modality_config": {"text": TEXT, "message": {**TEXT, "format": "flat"}}}, "chat template"),
        ({"modality_config": {"text": {"method": "get_text_features"}}}, "by a method of its own"),
        ({"transformer_task": "fill-mask"}, "the transformer_task 'fill-mask'"),
        ({"processing_kwargs": {"text": {"max_length": 4, "truncation": True}}}, r"processing_kwargs \(text\)"),
        ({"model_args": 5}, r"model_args \(5\)"),
        ({"max_seq_length": 8.0}, "max_seq_length is 8.0, no whole number"),
        ({"max_seq_length": 0}, "max_seq_length is 0"),
        ({"config_args": {"is_decoder": True}}, r"config_args \(is_decoder\)"),
        ({"tokenizer_args": {"model_max_length": 4}}, r"tokenizer_args \(model_max_length\)"),
    ],
)
def test_settings_that_are_not_followed_leave_the_other_poolings(
    settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"))
    path = folder / "sentence_bert_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))
    with pytest.raises(ModelError, match=f"cannot be pooled as published: .*{message}"):
        ours(folder, ENGLISH)
    assert ours(folder, ENGLISH, "mean").shape == (len(ENGLISH), HIDDEN)


def test_a_model_saved_with_a_chat_template_is_read_through_it(tmp_path: Path) -> None:
    """sentence-transformers writes it down when the tokenizer has one, and reads every text as a message then."""
    source = tiny_models.bert(tmp_path / "source")
    path = source / "tokenizer_config.json"
    path.write_text(
        json.dumps(
            {
                **json.loads(path.read_text()),
                "chat_template": "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}{% endfor %}",
            }
        )
    )
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"), transformer=source)
    assert np.abs(ours(folder, ENGLISH, "mean") - theirs(folder, ENGLISH)).max() > 0.1
    with pytest.raises(ModelError, match="messages of its chat template"):
        ours(folder, ENGLISH)


def test_an_activation_of_the_repository_is_refused(tmp_path: Path) -> None:
    """sentence-transformers would apply Tanh in its place, with a warning."""
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"), Dense(HIDDEN, 16))
    path = folder / "2_Dense" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "activation_function": "custom.Square"}))
    with pytest.raises(ModelError, match=r"its Dense applies custom\.Square"):
        ours(folder, ENGLISH)


def test_modules_that_do_not_fit_each_other_are_an_own_error(tmp_path: Path) -> None:
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"), Dense(16, 8))
    with pytest.raises(ModelError, match=r"do not go together: .*choose another pooling"):
        ours(folder, ENGLISH)
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({**json.loads(pooling.read_text()), "pooling_mode": []}))
    with pytest.raises(ModelError, match="choose another pooling"):
        ours(folder, ENGLISH)


def test_a_prompt_without_a_text_is_none(tmp_path: Path) -> None:
    folder = published(tmp_path / "model", Pooling(HIDDEN, "mean"), prompts={"query": "query: "})
    path = folder / "config_sentence_transformers.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "prompts": {"query": "query: ", "document": None}}))
    facts = load(str(folder), "encode").facts.published
    assert facts is not None and facts.prompts == {"query": "query: ", "document": ""}
    path.write_text(json.dumps({**settings, "default_prompt_name": ["query"]}))
    with pytest.raises(ModelError, match=r"names \['query'\] as its default prompt"):
        load(str(folder), "encode")


@pytest.mark.parametrize("has_bags", [True, False])
def test_weighted_sums_by_hand(has_bags: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_bags:  # as on mps and xpu
        monkeypatch.setattr(scoring_module, "_WITH_BAGS", ())
    states = torch.tensor([[1.0, 10.0], [3.0, 30.0], [5.0, 50.0]])
    sums = weighted_sums(states, np.array([0.5, 0.5, 1.0]), np.array([2, 1]))
    assert sums.tolist() == [[2.0, 20.0], [5.0, 50.0]]
