"""Token ids as the published file gives them, whatever the class of transformers makes of the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sentencepiece
from transformers import AutoTokenizer

from engine.errors import ModelError
from engine.models.tokenization.files import sentencepiece_file
from engine.models.tokenization.probe_texts import N_PROBE_TEXTS, probe_texts
from engine.models.tokenization.published_tokens import check_tokens
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from tests.support import tiny_models
from tests.support.tiny_models import ENGLISH, JAPANESE

SENTENCES = (*JAPANESE, *ENGLISH, "GPUで東京の小説を読む。", "ｶﾞｽ株式会社とＡＢＣ、ガラスとデータ。") * 20


def sentencepiece_only(folder: Path, tokenizer_class: str, name: str, algorithm: str, **training: object) -> Path:
    """A directory with a SentencePiece model and no tokenizer.json, as Sarashina 2.2 is published."""
    folder.mkdir()
    pad = {} if tokenizer_class == "T5Tokenizer" else {"pad_id": 3}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_prefix=str(folder / "trained"),
        hard_vocab_limit=False,
        vocab_size=700 if training.get("byte_fallback") else 420,
        model_type=algorithm,
        minloglevel=2,
        num_threads=1,
        **pad,
        **training,
    )
    (folder / "trained.model").rename(folder / name)
    (folder / "trained.vocab").unlink()
    (folder / "config.json").write_text("{}")
    settings = {"tokenizer_class": tokenizer_class, "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def pieces_of(folder: Path, name: str, text: str) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / name))
    return [
        "<unk>" if piece.id == processor.unk_id() else piece.piece
        for piece in processor.encode(text, return_type="proto").pieces
    ]


@pytest.mark.parametrize(
    ("tokenizer_class", "name", "algorithm", "byte_fallback"),
    [
        ("LlamaTokenizer", "tokenizer.model", "unigram", False),
        ("LlamaTokenizer", "tokenizer.model", "unigram", True),
        ("LlamaTokenizer", "tokenizer.model", "bpe", True),
        ("DebertaV2Tokenizer", "spm.model", "unigram", False),
        ("BigBirdTokenizer", "spiece.model", "unigram", False),
        ("T5Tokenizer", "spiece.model", "unigram", False),
        ("XLMRobertaTokenizer", "sentencepiece.bpe.model", "unigram", False),
    ],
)
def test_a_sentencepiece_model_alone_is_followed(
    tokenizer_class: str, name: str, algorithm: str, byte_fallback: bool, tmp_path: Path
) -> None:
    folder = sentencepiece_only(tmp_path / "model", tokenizer_class, name, algorithm, byte_fallback=byte_fallback)
    unchecked = AutoTokenizer.from_pretrained(folder)
    tokenizer = load_tokenizer(folder)
    texts = [*JAPANESE, *ENGLISH, "　全角の空白と\u3000ﾃﾞｰﾀ", "か\u3099くせい", "  two  spaces "]
    for text in texts:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert tokenizer.convert_ids_to_tokens(ids) == pieces_of(folder, name, text)
    assert check_tokens(folder, unchecked).repaired  # transformers' own differs: this test would see a failed repair


def test_what_the_file_says_already_is_left_alone(tmp_path: Path) -> None:
    for folder in (
        tiny_models.bert(tmp_path / "bert"),
        tiny_models.gpt2_unigram(tmp_path / "unigram"),
        tiny_models.gpt2_byte_level(tmp_path / "bytes"),
    ):
        outcome = check_tokens(folder, load_tokenizer(folder))
        assert (outcome.file, outcome.repaired, outcome.white_space) == ("tokenizer.json", False, "")
        assert outcome.n_texts >= N_PROBE_TEXTS


def test_of_a_vocabulary_alone_the_ids_of_pieces_are_compared(tmp_path: Path) -> None:
    folder = tiny_models.bert_japanese(tmp_path / "japanese")
    outcome = check_tokens(folder, load_tokenizer(folder))
    assert (outcome.file, outcome.repaired, outcome.n_texts) == ("vocab.txt", False, 0)


def test_what_cannot_be_repaired_is_refused_with_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentencepiece_file, "_COMPOSED", ())
    folder = sentencepiece_only(tmp_path / "model", "LlamaTokenizer", "tokenizer.model", "unigram")
    with pytest.raises(ModelError, match=r"not split texts as tokenizer\.model says: '.+' becomes .*tokenizer\.json"):
        load_tokenizer(folder)


def test_settings_that_contradict_tokenizer_json_do_not_win(tmp_path: Path) -> None:
    folder = tiny_models.bert(tmp_path / "bert")  # its tokenizer.json lower-cases
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "do_lower_case": False}))
    tokens = load_tokenizer(folder).tokenize("The CAT sleeps")
    assert tokens[0] == "the" and "[UNK]" not in tokens


def test_the_probe_texts_hold_what_tokenizers_disagree_about() -> None:
    texts = probe_texts()
    assert len(texts) == len(set(texts)) == N_PROBE_TEXTS and texts == probe_texts()
    joined = "".join(texts)
    assert all(sign in joined for sign in ("\u3000", "ｶﾞ", "か\u3099", "０", "7", "😀", "龘", "  ", "\t", "é", "A"))
