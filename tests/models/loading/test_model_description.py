import json
import shutil
from pathlib import Path

import pytest
from transformers import BertConfig, ElectraConfig, GPT2Config, RobertaConfig, RobertaForMaskedLM

from engine.errors import ModelError
from engine.models.loading import model_description
from engine.models.loading.architecture import kind_of
from engine.models.loading.model_description import describe
from engine.models.sources.facts import ModelFacts
from engine.models.sources.model_location import locate
from tests.support import tiny_models
from tests.support.layouts import papers as paper_layouts


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture
def bert(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "bert")


def facts_of(directory: Path, card: str = "") -> ModelFacts:
    return describe(locate(f"{card}={directory}" if card else str(directory))).facts


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


def test_how_well_a_vocabulary_knows_the_alphabet(bert: Path) -> None:
    # the built-in one spells English nearly letter by letter; one that knows its words needs few tokens
    assert 0.5 < describe(locate("builtin/bert-mini-ja")).facts.latin_tokens < 1
    vocabulary = json.loads((bert / "tokenizer.json").read_text())
    sample = model_description._LATIN_SAMPLE
    words = {word: 1000 + i for i, word in enumerate(sample.lower().replace(".", " .").split())}
    vocabulary["model"]["vocab"] |= words
    (bert / "tokenizer.json").write_text(json.dumps(vocabulary))
    change(bert / "config.json", vocab_size=2000)
    n_tokens = 2 + 20  # [CLS], 19 words, ".", [SEP]
    assert facts_of(bert).latin_tokens == round(n_tokens / len(sample), 3)


def test_models_of_each_layout_are_described(tmp_path: Path) -> None:
    japanese = facts_of(tiny_models.bert_japanese(tmp_path / "japanese"))
    assert (japanese.kind, japanese.tokenizer, japanese.has_cls) == ("masked", "BertJapaneseTokenizer", True)
    unigram = facts_of(tiny_models.gpt2_unigram(tmp_path / "unigram"))
    assert (unigram.kind, unigram.architecture) == ("causal", "GPT2LMHeadModel")
    assert (unigram.has_mask, unigram.has_cls, unigram.has_bos) == (False, False, True)
    assert (unigram.bos_token, unigram.eos_token, unigram.has_eos, unigram.opening) == ("<s>", "</s>", True, ("<s>",))
    byte_level = facts_of(tiny_models.gpt2_byte_level(tmp_path / "byte-level"))
    assert byte_level.bos_token == byte_level.eos_token == "<|endoftext|>" and byte_level.opening == ()
    assert (japanese.bos_token, japanese.eos_token, japanese.has_eos, japanese.opening) == ("", "", False, ("[CLS]",))


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
    RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=500,
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=66,
            pad_token_id=1,
        )
    ).save_pretrained(bert)
    assert facts_of(bert).max_tokens == 64


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (BertConfig(architectures=["BertForMaskedLM"]), "masked"),
        (BertConfig(architectures=["BertForPreTraining"]), "masked"),
        (BertConfig(architectures=["BertModel"]), "encoder"),
        (BertConfig(architectures=["BertLMHeadModel"], is_decoder=True), "causal"),
        (BertConfig(architectures=["BertForSequenceClassification"]), "encoder"),
        (BertConfig(), "masked"),
        (ElectraConfig(architectures=["ElectraForPreTraining"]), "encoder"),
        (GPT2Config(architectures=["GPT2LMHeadModel"]), "causal"),
        (GPT2Config(), "causal"),
    ],
)
def test_the_kind_is_the_published_architectures(config: object, kind: str) -> None:
    assert kind_of(config) == kind  # type: ignore[arg-type]


def test_code_of_a_repository_is_never_run(bert: Path, tmp_path: Path) -> None:
    for name in ("configuration_own", "modeling_own", "tokenization_own"):
        (bert / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')")
    classes = {"AutoConfig": "configuration_own.BertConfig", "AutoModelForMaskedLM": "modeling_own.BertForMaskedLM"}
    change(bert / "config.json", auto_map=classes)
    change(bert / "tokenizer_config.json", auto_map={"AutoTokenizer": ["tokenization_own.Own", None]})
    assert facts_of(bert).architecture == "BertForMaskedLM"  # by the library's class

    change(bert / "config.json", model_type="own")
    with pytest.raises(
        ModelError, match=r"model type 'own'\) needs code from its own repository.*only where the operator"
    ):
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
    with pytest.raises(ModelError, match=r"has \d+ pieces but its model has 50: they do not belong together"):
        facts_of(bert)


def test_a_recipe_is_told_with_its_versions_and_is_part_of_both_fingerprints(tmp_path: Path) -> None:
    folder = paper_layouts.japanese_bert(tmp_path / "nict", widen=True)
    nict, ipadic = (describe(locate(f"{card}={folder}")).facts for card in ("paper/nict", "paper/tohoku-univ"))
    assert nict.tokenizer == "full-width, MeCab with jumandic, WordPiece of vocab.txt"
    assert nict.recipe.startswith(nict.tokenizer) and "jumandic 1.0.0)" in nict.recipe
    assert (nict.kind, nict.architecture, nict.max_tokens) == ("masked", "BertForMaskedLM", paper_layouts.MAX_TOKENS)
    assert nict.fingerprint != ipadic.fingerprint and nict.tokenizer_fingerprint != ipadic.tokenizer_fingerprint
    assert (nict.has_mask, nict.has_cls, nict.has_bos) == (True, True, False)


def test_the_length_a_model_was_trained_on_is_its_limit(tmp_path: Path) -> None:
    folder = paper_layouts.sentencepiece_bert(tmp_path / "sns")
    assert facts_of(folder, "paper/hotto-sns").max_tokens == 64
    assert facts_of(folder, "paper/laboro").max_tokens == paper_layouts.MAX_TOKENS


def test_a_configuration_of_2019_says_that_a_card_is_needed(tmp_path: Path) -> None:
    folder = paper_layouts.japanese_bert(tmp_path / "nict", widen=True)
    with pytest.raises(ModelError, match=r"does not say what the model is \(model_type\).*such as paper/nict=.*hakari"):
        facts_of(folder)


@pytest.mark.parametrize("token", ["[CLS]", "[SEP]", "[UNK]"])
def test_special_tokens_that_the_model_has_no_number_for_are_an_error(tmp_path: Path, token: str) -> None:
    folder = published(tmp_path, but=token)
    # transformers numbers the missing one after the end of the vocabulary, where the model has no row.
    with pytest.raises(ModelError, match=rf"writes \{token[:-1]}\], which its vocabulary lacks"):
        facts_of(folder)


def test_a_mask_or_padding_that_the_model_has_no_number_for_is_none(tmp_path: Path) -> None:
    facts = facts_of(published(tmp_path / "mask", but="[MASK]"))
    assert not facts.has_mask and facts.has_cls
    described = describe(locate(str(published(tmp_path / "pad", but="[PAD]"))))
    assert described.tokenizer.pad_token_id is None


def published(folder: Path, but: str) -> Path:
    """A directory that says how it is read, whose vocabulary lacks a special token."""
    special = [token for token in paper_layouts.SPECIAL if token != but]
    paper_layouts.japanese_bert(folder, special=special)
    change(folder / "config.json", model_type="bert")
    (folder / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "BertJapaneseTokenizer",
                "word_tokenizer_type": "mecab",
                "do_lower_case": False,
                "subword_tokenizer_type": "wordpiece",
            }
        )
    )
    return folder
