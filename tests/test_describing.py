import json
import shutil
from pathlib import Path

import pytest
from transformers import BertConfig, ElectraConfig, GPT2Config, RobertaConfig, RobertaForMaskedLM

from engine.errors import ModelError
from engine.models.describing import describe, kind_of
from engine.models.facts import ModelFacts
from engine.models.locating import locate
from tests import tiny_models


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture
def bert(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "bert")


def facts_of(directory: Path) -> ModelFacts:
    return describe(locate(str(directory))).facts


def change(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_the_facts_are_read_without_the_weights(bert: Path) -> None:
    weights = bert / "model.safetensors"
    size = weights.stat().st_size
    weights.write_bytes(b"\0" * size)  # no weights at all
    facts = facts_of(bert)
    vocabulary = json.loads((bert / "tokenizer.json").read_text())["model"]["vocab"]
    # By hand, for 2 layers of width 32 with 64 inside: embeddings (v + 64 + 2) * 32 + norm 64; a layer is
    # attention 4 * (32 * 32 + 32) + norm 64, feed-forward 32 * 64 + 64 + 64 * 32 + 32 + norm 64; the head
    # 32 * 32 + 32 + norm 64 + bias v, its matrix tied to the embeddings.
    v = len(vocabulary)
    parameters = (v + 66) * 32 + 64 + 2 * (4224 + 64 + 4192 + 64) + 1056 + 64 + v
    assert (facts.n_parameters, facts.vocab_size, facts.weights_bytes) == (parameters, v, size)
    assert (facts.source, facts.architecture, facts.kind) == ("directory", "BertForMaskedLM", "masked")
    assert (facts.n_layers, facts.hidden_size, facts.max_tokens) == (2, 32, 64)
    assert (facts.tokenizer, facts.has_mask, facts.has_cls, facts.has_bos) == ("BertTokenizer", True, True, False)
    assert (facts.path, facts.dtype, len(facts.fingerprint)) == (str(bert), "float32", 64)


def test_models_of_each_layout_are_described(tmp_path: Path) -> None:
    japanese = facts_of(tiny_models.bert_japanese(tmp_path / "japanese"))
    assert (japanese.kind, japanese.tokenizer, japanese.has_cls) == ("masked", "BertJapaneseTokenizer", True)
    unigram = facts_of(tiny_models.gpt2_unigram(tmp_path / "unigram"))
    assert (unigram.kind, unigram.architecture) == ("causal", "GPT2LMHeadModel")
    assert (unigram.has_mask, unigram.has_cls, unigram.has_bos) == (False, False, True)


def test_a_tokenizer_that_knows_no_limit_has_the_models(bert: Path) -> None:
    path = bert / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    del settings["model_max_length"]  # transformers reads 1e30 then
    path.write_text(json.dumps(settings))
    assert facts_of(bert).max_tokens == 64
    change(path, model_max_length=20)
    assert facts_of(bert).max_tokens == 20


def test_roberta_counts_positions_after_the_padding(bert: Path) -> None:
    path = bert / "tokenizer_config.json"
    change(path, model_max_length=int(1e30))
    RobertaForMaskedLM(RobertaConfig(
        vocab_size=500, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=66, pad_token_id=1,
    )).save_pretrained(bert)
    assert facts_of(bert).max_tokens == 64


@pytest.mark.parametrize(("config", "kind"), [
    (BertConfig(architectures=["BertForMaskedLM"]), "masked"),
    (BertConfig(architectures=["BertForPreTraining"]), "masked"),
    (BertConfig(architectures=["BertModel"]), "encoder"),
    (BertConfig(architectures=["BertLMHeadModel"], is_decoder=True), "causal"),
    (BertConfig(architectures=["BertForSequenceClassification"]), "encoder"),
    (BertConfig(), "masked"),
    (ElectraConfig(architectures=["ElectraForPreTraining"]), "encoder"),
    (GPT2Config(architectures=["GPT2LMHeadModel"]), "causal"),
    (GPT2Config(), "causal"),
])
def test_the_kind_is_the_published_architectures(config: object, kind: str) -> None:
    assert kind_of(config) == kind  # type: ignore[arg-type]


def test_code_of_a_repository_is_never_run(bert: Path, tmp_path: Path) -> None:
    for name in ("configuration_own", "modeling_own", "tokenization_own"):
        (bert / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')")
    classes = {"AutoConfig": "configuration_own.Own", "AutoModelForMaskedLM": "modeling_own.Own"}
    change(bert / "config.json", auto_map=classes)
    change(bert / "tokenizer_config.json", auto_map={"AutoTokenizer": ["tokenization_own.Own", None]})
    assert facts_of(bert).architecture == "BertForMaskedLM"  # by the library's class

    change(bert / "config.json", model_type="own")
    with pytest.raises(ModelError, match=r"model type 'own'\) needs code from its own repository.*never runs"):
        facts_of(bert)
    assert not (tmp_path / "run").exists()


def test_an_unknown_architecture_is_an_error(bert: Path) -> None:
    change(bert / "config.json", model_type="no-such-model")
    with pytest.raises(ModelError, match="names no architecture that this version of transformers knows"):
        facts_of(bert)


def test_a_configuration_that_makes_no_model_is_an_error(bert: Path) -> None:
    change(bert / "config.json", num_attention_heads=5)
    with pytest.raises(ModelError, match=r"No model can be built from config\.json"):
        facts_of(bert)


def test_quantised_weights_are_refused(bert: Path) -> None:
    change(bert / "config.json", quantization_config={"quant_method": "gptq", "bits": 4})
    with pytest.raises(ModelError, match=r"quantised \(gptq\)"):
        facts_of(bert)


def test_a_tokenizer_of_another_model_is_refused(bert: Path) -> None:
    change(bert / "config.json", vocab_size=50)
    with pytest.raises(ModelError, match=r"has \d+ pieces but its model knows 50: they do not belong together"):
        facts_of(bert)
