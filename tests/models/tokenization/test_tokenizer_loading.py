import json
import shutil
from itertools import islice
from pathlib import Path

import pytest
import sentencepiece
from transformers import PreTrainedTokenizerBase

from engine.datasets.corpora.corpus import read_documents, split_sentences
from engine.errors import ModelError
from engine.models.sources.recipes import Recipe
from engine.models.tokenization.tokenizer_loading import load_tokenizer, published_dictionary
from tests.support import tiny_models
from tests.support.layouts import papers as paper_layouts
from tests.support.shared_data import shared_data


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return tiny_models.bert(tmp_path / "bert")


@pytest.fixture
def japanese(tmp_path: Path) -> Path:
    return tiny_models.bert_japanese(tmp_path / "japanese")


def test_the_tokenizer_is_transformers_own(bert: Path, japanese: Path) -> None:
    assert load_tokenizer(bert).tokenize("The cat") == ["the", "cat"]
    assert load_tokenizer(japanese).tokenize("昨日、東京タワー") == ["昨日", "、", "東京", "タワー"]


def test_a_directory_without_tokenizer_says_so(bert: Path) -> None:
    # transformers itself answers with a vocabulary of five special tokens.
    (bert / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"no vocabulary for the BertTokenizer in .*: none of .*tokenizer.json"):
        load_tokenizer(bert)
    (bert / "tokenizer_config.json").unlink()
    with pytest.raises(ModelError, match=r"There is no tokenizer in .*save_pretrained"):
        load_tokenizer(bert)


def test_a_japanese_tokenizer_without_vocabulary_says_so(japanese: Path) -> None:
    (japanese / "vocab.txt").unlink()
    with pytest.raises(ModelError, match=r"The tokenizer in .* cannot be loaded"):
        load_tokenizer(japanese)


def test_a_damaged_tokenizer_says_so(bert: Path) -> None:
    (bert / "tokenizer.json").write_text("{")
    with pytest.raises(ModelError, match=r"The tokenizer in .* cannot be loaded"):
        load_tokenizer(bert)


def as_published(directory: Path, **settings: object) -> None:
    """The files as a publisher of 2019 or 2021 wrote them by hand: no version, the class in config.json."""
    config = json.loads((directory / "config.json").read_text())
    del config["transformers_version"]
    (directory / "config.json").write_text(json.dumps({**config, "tokenizer_class": "BertJapaneseTokenizer"}))
    (directory / "tokenizer_config.json").write_text(
        json.dumps(
            {"do_lower_case": False, "word_tokenizer_type": "mecab", "subword_tokenizer_type": "wordpiece", **settings}
        )
    )


def test_a_japanese_model_of_2019_gets_the_dictionary_it_was_trained_with(japanese: Path) -> None:
    as_published(japanese)
    tokenizer = load_tokenizer(japanese)
    assert type(tokenizer).__name__ == "BertJapaneseTokenizer"
    assert tokenizer.mecab_kwargs == {"mecab_dic": "ipadic"}
    # What is at stake: unidic-lite would cut 図書 / 館.
    assert tokenizer.word_tokenizer.tokenize("図書館で") == ["図書館", "で"]


def test_a_dictionary_that_is_named_is_kept(japanese: Path) -> None:
    as_published(japanese, mecab_kwargs={"mecab_dic": "unidic_lite"})
    assert published_dictionary(japanese) == {}
    assert load_tokenizer(japanese).mecab_kwargs == {"mecab_dic": "unidic_lite"}


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("4.0.1", {"mecab_kwargs": {"mecab_dic": "ipadic"}}),
        ("4.45.2", {"mecab_kwargs": {"mecab_dic": "ipadic"}}),
        ("4.46.0", {}),
        ("5.23.0", {}),
    ],
)
def test_the_release_decides_what_an_unnamed_dictionary_was(japanese: Path, release: str, expected: dict) -> None:
    as_published(japanese, mecab_kwargs=None)
    config = json.loads((japanese / "config.json").read_text())
    (japanese / "config.json").write_text(json.dumps({**config, "transformers_version": release}))
    assert published_dictionary(japanese) == expected


def test_tokenizers_without_mecab_are_left_alone(bert: Path, japanese: Path) -> None:
    assert published_dictionary(bert) == {}
    as_published(japanese, word_tokenizer_type="basic")
    assert published_dictionary(japanese) == {}


def test_a_vocabulary_without_settings_that_berts_tokenizer_cannot_fit_is_refused(tmp_path: Path) -> None:
    folder = paper_layouts.japanese_bert(tmp_path / "tohoku")
    with pytest.raises(
        ModelError,
        match=(
            r"does not say how texts are split into the words of its vocab\.txt, and BERT's own tokenizer never makes "
            r"昨日, 東京, 小説 or \d+ others\. Name its card \(such as paper/nict=.*hakari\.json beside it: \{\"segmenter\""
        ),
    ):
        load_tokenizer(folder)
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false, "tokenize_chinese_chars": false}')
    (folder / "config.json").write_text('{"model_type": "bert"}')
    assert load_tokenizer(folder).tokenize("東京 小説") == ["東京", "小説"]


def test_a_vocabulary_alone_that_berts_own_way_makes_is_read_so(tmp_path: Path) -> None:
    # Multilingual BERT's: every kanji a piece of its own.
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "東", "京", "cat"]))
    assert load_tokenizer(tmp_path).tokenize("東京Cat") == ["東", "京", "cat"]


def test_a_recipe_takes_the_place_of_what_transformers_would_do(tmp_path: Path) -> None:
    folder = paper_layouts.japanese_bert(tmp_path / "tohoku")
    tokenizer = load_tokenizer(folder, Recipe("mecab-ipadic", ("nfkc",), "wordpiece"))
    assert tokenizer.tokenize("図書館でＧＰＵ") == ["図書館", "で", "GPU"]
    words = load_tokenizer(folder, Recipe("mecab-jumandic", ("lower",), "words"))
    assert words.tokenize("図書館でＧＰＵ龘") == ["図書", "館", "で", "[UNK]", "[UNK]"]


def test_an_unknown_character_is_unknown_and_no_end_of_text(tmp_path: Path) -> None:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(tiny_models.JAPANESE * 20),
        model_prefix=str(tmp_path / "spiece"),
        model_type="unigram",
        vocab_size=110,
        hard_vocab_limit=False,
        unk_id=0,
        bos_id=1,
        eos_id=2,
        pad_id=3,
        minloglevel=2,
        num_threads=1,
    )
    own, tokenizer = as_t5(tmp_path)
    for text in ("猫が龘を見た。", "龘", *tiny_models.JAPANESE):
        assert tokenizer.encode(text, add_special_tokens=False) == own.encode(text)
    assert tokenizer.unk_token_id in tokenizer.encode("猫が龘を見た。")


def test_a_published_vocabulary_gives_sentencepieces_own_tokens(tmp_path: Path) -> None:
    shutil.copy(shared_data("tokenizers", "rinna-japanese", "google_sp.model"), tmp_path / "spiece.model")
    own, tokenizer = as_t5(tmp_path)
    sentences = []
    for document in islice(read_documents([shared_data("aozora")]), 2):
        sentences += list(split_sentences(document.text))[:200]
    encoded = [own.encode(sentence) for sentence in sentences]
    assert sum(own.unk_id() in ids for ids in encoded) > 3  # there is something to go wrong
    assert [tokenizer.encode(sentence, add_special_tokens=False) for sentence in sentences] == encoded


def as_t5(directory: Path) -> tuple[sentencepiece.SentencePieceProcessor, PreTrainedTokenizerBase]:
    """spiece.model alone, and through the layout of Japanese GPT-2 models of 2021: a T5Tokenizer with <unk> at 0."""
    (directory / "config.json").write_text(json.dumps({"model_type": "gpt2", "tokenizer_class": "T5Tokenizer"}))
    (directory / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "T5Tokenizer",
                "unk_token": "<unk>",
                "bos_token": "<s>",
                "eos_token": "</s>",
                "pad_token": "<pad>",
                "extra_ids": 0,
                "additional_special_tokens": [],
            }
        )
    )
    own = sentencepiece.SentencePieceProcessor(model_file=str(directory / "spiece.model"))
    return own, load_tokenizer(directory)
