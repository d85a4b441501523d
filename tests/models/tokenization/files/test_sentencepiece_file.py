"""Ids and template of classes that read a SentencePiece model alone, held against SentencePiece itself.

The numbering of each class is written out here by hand, from its release of transformers 4 (fairseq's order where it
has one), not taken from the code under test.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from sentencepiece.sentencepiece_model_pb2 import ModelProto
from transformers import AutoTokenizer

from engine.errors import ModelError
from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.plain_text import control_spellings
from engine.models.tokenization.published_tokens import token_check_of
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from tests.models.tokenization.files.sentencepiece_directories import TEXTS, sentencepiece_directory, trained
from tests.support.shared_data import shared_data

Processor = sentencepiece.SentencePieceProcessor


def same(number: int, processor: Processor) -> int:
    return number


def fairseq(number: int, processor: Processor) -> int:
    return 3 if number == 0 else number + 1  # <s> 0, <pad> 1, </s> 2, <unk> 3, then the pieces behind <unk> <s> </s>


@dataclass(frozen=True)
class Case:
    name: str
    file: str
    training: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    number: Callable[[int, Processor], int] = same
    before: Callable[[Processor], list[int]] = lambda processor: []
    after: Callable[[Processor], list[int]] = lambda processor: []
    has_class: bool = True


BERT_LIKE = {
    "pad_id": 0,
    "unk_id": 1,
    "bos_id": -1,
    "eos_id": -1,
    "control_symbols": "[CLS],[SEP],[MASK]",
}
FAIRSEQ_FILE = "sentencepiece.bpe.model"
LLAMA_LIKE = {
    "model_type": "bpe",
    "byte_fallback": True,
    "remove_extra_whitespaces": False,
    "normalization_rule_name": "identity",
    "allow_whitespace_only_pieces": True,
}
T5_LIKE = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}


def ids_of(*pieces: str) -> Callable[[Processor], list[int]]:
    return lambda processor: [processor.piece_to_id(piece) for piece in pieces]


CLS_SEP = {"before": ids_of("[CLS]"), "after": ids_of("[SEP]")}
BOS_EOS = {"before": lambda processor: [0], "after": lambda processor: [2]}
CASES = (
    Case("RemBertTokenizer", "sentencepiece.model", BERT_LIKE, **CLS_SEP),
    Case(
        "BigBirdTokenizer",
        "spiece.model",
        {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3, "control_symbols": "[CLS],[SEP],[MASK]"},
        **CLS_SEP,
    ),
    Case(
        "DebertaV2Tokenizer",
        "spm.model",
        {
            "pad_id": 0,
            "bos_id": 1,
            "eos_id": 2,
            "unk_id": 3,
            "pad_piece": "[PAD]",
            "bos_piece": "[CLS]",
            "eos_piece": "[SEP]",
            "unk_piece": "[UNK]",
        },
        **CLS_SEP,
    ),
    Case(
        "BarthezTokenizer",
        FAIRSEQ_FILE,
        {"bos_id": 0, "pad_id": 1, "eos_id": 2, "unk_id": 3, "control_symbols": "<mask>"},
        before=ids_of("<s>"),
        after=ids_of("</s>"),
    ),
    Case("LlamaTokenizer", "tokenizer.model", LLAMA_LIKE, before=ids_of("<s>")),
    Case("LlamaTokenizer", "tokenizer.model", LLAMA_LIKE, {"legacy": False}, before=ids_of("<s>")),
    Case("LlamaTokenizer", "tokenizer.model", LLAMA_LIKE, {"add_bos_token": False}),
    # Mistral's own files from version 2 on: control and user-defined symbols among the first pieces.
    Case(
        "LlamaTokenizer",
        "tokenizer.model",
        {**LLAMA_LIKE, "control_symbols": "[INST],[/INST]", "user_defined_symbols": "[TOOL],[IMG]"},
        before=ids_of("<s>"),
    ),
    # llm-jp: a Unigram with bytes, whose symbols are runs of spaces and the end of a line.
    Case(
        "LlamaTokenizer",
        "tokenizer.model",
        {**LLAMA_LIKE, "model_type": "unigram", "user_defined_symbols": "\n,▁▁,▁▁▁"},
        before=ids_of("<s>"),
    ),
    Case(
        "GemmaTokenizer",
        "tokenizer.model",
        {
            **LLAMA_LIKE,
            "add_dummy_prefix": False,
            "pad_id": 0,
            "eos_id": 1,
            "bos_id": 2,
            "unk_id": 3,
            "bos_piece": "<bos>",
            "eos_piece": "<eos>",
            "user_defined_symbols": "<start_of_turn>,▁▁,▁▁▁",
        },
        before=ids_of("<bos>"),
    ),
    Case("T5Tokenizer", "spiece.model", T5_LIKE, after=ids_of("</s>")),
    Case("T5Tokenizer", "spiece.model", {**T5_LIKE, "add_dummy_prefix": False}, {"extra_ids": 0}, after=ids_of("</s>")),
    Case(
        "PegasusTokenizer", "spiece.model", T5_LIKE, number=lambda number, _: number + 103, after=lambda processor: [1]
    ),
    Case("XLMRobertaTokenizer", FAIRSEQ_FILE, number=fairseq, **BOS_EOS),
    Case("MLukeTokenizer", FAIRSEQ_FILE, {}, {"additional_special_tokens": ["<ent>", "<ent2>"]}, fairseq, **BOS_EOS),
    Case(
        "CamembertTokenizer",
        FAIRSEQ_FILE,
        number=lambda number, _: 3 if number == 0 else number + 4,
        before=lambda processor: [5],
        after=lambda processor: [6],
    ),
    Case("XGLMTokenizer", FAIRSEQ_FILE, number=fairseq, before=lambda processor: [2]),
    # Languages come behind the pieces, in the order of fairseq: ja_XX is the twelfth.
    Case(
        "MBartTokenizer",
        FAIRSEQ_FILE,
        {},
        {"src_lang": "ja_XX"},
        fairseq,
        after=lambda processor: [2, len(processor) + 1 + 11],
    ),
    Case(
        "MBart50Tokenizer",
        FAIRSEQ_FILE,
        {},
        {"src_lang": "ja_XX"},
        fairseq,
        before=lambda processor: [len(processor) + 1 + 11],
        after=lambda processor: [2],
    ),
    # ace_Latn is the second language.
    Case(
        "NllbTokenizer",
        FAIRSEQ_FILE,
        {"model_type": "bpe"},
        {"src_lang": "ace_Latn"},
        fairseq,
        before=lambda processor: [len(processor) + 1 + 1],
        after=lambda processor: [2],
    ),
    Case(
        "NllbTokenizer",
        FAIRSEQ_FILE,
        {"model_type": "bpe"},
        {"src_lang": "ace_Latn", "legacy_behaviour": True},
        fairseq,
        after=lambda processor: [2, len(processor) + 1 + 1],
    ),
    Case("BertGenerationTokenizer", "spiece.model"),
    Case("PreTrainedTokenizerFast", "tokenizer.model", {"byte_fallback": True}),
    Case("no class", "tokenizer.model", has_class=False),
)


def directory(case: Case, folder: Path) -> Processor:
    settings = {"tokenizer_class": case.name} if case.has_class else {}
    (folder / "entity_vocab.json").write_text(json.dumps({"[MASK]": 0, "[UNK]": 1, "[PAD]": 2, "[MASK2]": 3}))
    return sentencepiece_directory(folder, case.file, {**settings, **case.settings}, **case.training)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.name} {i}" for i, case in enumerate(CASES)])
def test_ids_and_template_are_those_of_the_file(case: Case, tmp_path: Path) -> None:
    processor = directory(case, tmp_path)
    tokenizer = load_tokenizer(tmp_path)
    before, after = case.before(processor), case.after(processor)
    for text in TEXTS:
        expected = [*before, *(case.number(number, processor) for number in processor.encode(text)), *after]
        assert token_ids(tokenizer, text) == expected, text
    for role in ("bos_token", "mask_token", "pad_token"):
        name = getattr(tokenizer, role)
        assert name is None or token_ids(tokenizer, f"猫{name}", control=[name])  # it can be asked for


def test_the_mask_stands_behind_the_pieces(tmp_path: Path) -> None:
    for name, offset in (("XLMRobertaTokenizer", 1), ("MLukeTokenizer", 1), ("CamembertTokenizer", 4)):
        folder = tmp_path / name
        folder.mkdir()
        processor = directory(Case(name, FAIRSEQ_FILE), folder)
        tokenizer = load_tokenizer(folder)
        assert tokenizer.mask_token_id == len(processor) + offset
        assert token_ids(tokenizer, "<mask>", control=["<mask>"])[1] == tokenizer.mask_token_id


@pytest.mark.parametrize(
    ("name", "what"), [("MLukeTokenizer", "ids"), ("BarthezTokenizer", "template"), ("RemBertTokenizer", "template")]
)
def test_the_facts_say_what_was_repaired(name: str, what: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == name)
    directory(case, tmp_path)
    unchecked = AutoTokenizer.from_pretrained(tmp_path)
    tokenizer = load_tokenizer(tmp_path)
    check = token_check_of(tokenizer)
    assert check is not None
    assert (check.file, check.repaired, check.what, check.white_space) == (case.file, True, what, "")
    assert check.n_texts >= 1000 and unchecked(check.example)["input_ids"] != tokenizer(check.example)["input_ids"]


# What ALBERT and XLNet hand to SentencePiece, by hand: spaces in one, quotes, accents and case folded.
FOLDED = {
    "AlbertTokenizer": (
        ("The  CAT\n", "the cat"),
        ("``Naïve''\u3000façade", '"naive" facade'),
        ("ｶﾞｽ株式会社", "ｶﾞｽ株式会社".replace("ｶﾞｽ", "カ\u3099ス").replace("\u3099", "")),
        ("か\u3099くせい", "かくせい"),
    ),
    "XLNetTokenizer": (
        ("The  CAT\n", "The CAT"),
        ("``Naïve''\u3000façade", '"Naive" facade'),
        ("(cat) . – £", "(cat) . – £"),
    ),
    "FNetTokenizer": (("The  CAT\n", "The CAT"), ("``Naïve''\u3000façade", '"Naïve" façade')),
}
XLNET = {
    "control_symbols": "<cls>,<sep>,<pad>,<mask>,<eod>,<eop>",
    "user_defined_symbols": '.,(,),",-,–,£,€',
}


@pytest.mark.parametrize("name", FOLDED)
@pytest.mark.parametrize("prefix", [True, False])
def test_what_a_class_folds_before_sentencepiece_reads_it(name: str, prefix: bool, tmp_path: Path) -> None:
    training = XLNET if name == "XLNetTokenizer" else BERT_LIKE
    processor = sentencepiece_directory(
        tmp_path, "spiece.model", {"tokenizer_class": name}, **training, add_dummy_prefix=prefix
    )
    tokenizer = load_tokenizer(tmp_path)
    before, after = ([], ["<sep>", "<cls>"]) if name == "XLNetTokenizer" else (["[CLS]"], ["[SEP]"])
    for text, read in FOLDED[name]:
        expected = [
            *map(processor.piece_to_id, before),
            *processor.encode(read),
            *map(processor.piece_to_id, after),
        ]
        assert token_ids(tokenizer, text) == expected, text


def test_a_number_with_its_comma_is_two_tokens_of_albert(tmp_path: Path) -> None:
    """As google-research/albert and XLNet cut it, so that 9, and 9 have the number in common."""
    model = ModelProto.FromString(trained(**BERT_LIKE))
    model.pieces.add(piece="▁9,", score=-1.0)
    sentencepiece_directory(tmp_path, "spiece.model", {"tokenizer_class": "AlbertTokenizer"}, **BERT_LIKE)
    (tmp_path / "spiece.model").write_bytes(model.SerializeToString())
    processor = Processor(model_proto=model.SerializeToString())
    assert processor.encode("at 9,", out_type=str)[-1] == "▁9,"  # there is something to cut
    ids = token_ids(load_tokenizer(tmp_path), "at 9, (9)")
    assert ids[1:-1] == [*processor.encode("at 9"), processor.piece_to_id(","), *processor.encode("(9)")]


def test_symbols_of_the_user_are_text(tmp_path: Path) -> None:
    """XLNet's . ( ) " - – £ €: transformers 5 calls them special tokens."""
    processor = sentencepiece_directory(tmp_path, "spiece.model", {"tokenizer_class": "XLNetTokenizer"}, **XLNET)
    tokenizer = load_tokenizer(tmp_path)
    assert not {".", "(", ")", '"', "-", "–", "£", "€"} & control_spellings(tokenizer).tokens
    ids = token_ids(tokenizer, "(£5.)")
    assert processor.unk_id() not in ids and ids[:-2] == processor.encode("(£5.)")


def test_words_that_were_added_are_tokens_and_no_reason_to_refuse(tmp_path: Path) -> None:
    processor = sentencepiece_directory(
        tmp_path, "tokenizer.model", {"tokenizer_class": "LlamaTokenizer"}, byte_fallback=True
    )
    added = {"東京": len(processor), "the": len(processor) + 3}
    (tmp_path / "added_tokens.json").write_text(json.dumps(added, ensure_ascii=False), encoding="utf-8")
    tokenizer = load_tokenizer(tmp_path)
    assert token_ids(tokenizer, "昨日、東京へ行く。") == [
        processor.bos_id(),
        *processor.encode("昨日、"),
        added["東京"],
        *processor.encode("へ行く。"),
    ]
    assert token_ids(tokenizer, " the") == [processor.bos_id(), added["the"]]
    assert tokenizer.convert_tokens_to_ids("the") == added["the"]


def test_a_setting_takes_the_space_before_a_text_away(tmp_path: Path) -> None:
    for number, settings in enumerate(({"tokenizer_class": "AlbertTokenizer"}, {})):
        folder = tmp_path / str(number)
        sentencepiece_directory(folder, "spiece.model" if settings else "tokenizer.model", settings, **BERT_LIKE)
        with_prefix = load_tokenizer(folder).tokenize("the cat")
        path = folder / "tokenizer_config.json"
        path.write_text(json.dumps({**settings, "add_prefix_space": False}))
        without = load_tokenizer(folder).tokenize("the cat")
        assert with_prefix[0].startswith("▁") and not without[0].startswith("▁")


def test_a_token_of_the_template_that_no_file_has_is_named(tmp_path: Path) -> None:
    sentencepiece_directory(
        tmp_path,
        FAIRSEQ_FILE,
        {"tokenizer_class": "MBartTokenizer", "src_lang": "xx_XX"},
        config={"model_type": "mbart"},
    )
    with pytest.raises(ModelError, match=r"MBartTokenizer of .* puts xx_XX round every text"):
        load_tokenizer(tmp_path)


def test_a_class_whose_numbering_is_not_known_is_refused(tmp_path: Path) -> None:
    sentencepiece_directory(tmp_path, "spiece.model", {"tokenizer_class": "UdopTokenizer"}, **T5_LIKE)
    with pytest.raises(ModelError, match=r"UdopTokenizer of .* cannot be held against spiece\.model"):
        load_tokenizer(tmp_path)


def test_a_published_model_under_a_class_of_its_time(tmp_path: Path) -> None:
    published = shared_data("tokenizers", "rinna-japanese", "google_sp.model")
    for name, file, before, after in (
        ("MLukeTokenizer", FAIRSEQ_FILE, [0], [2]),
        ("LlamaTokenizer", "tokenizer.model", [1], []),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / file).write_bytes(published.read_bytes())
        (folder / "config.json").write_text("{}")
        (folder / "entity_vocab.json").write_text(json.dumps({"[MASK]": 0, "[UNK]": 1, "[PAD]": 2, "[MASK2]": 3}))
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
        processor = Processor(model_file=str(published))
        tokenizer = load_tokenizer(folder)
        number = fairseq if name == "MLukeTokenizer" else same
        for text in TEXTS:
            assert token_ids(tokenizer, text) == [
                *before,
                *(number(i, processor) for i in processor.encode(text)),
                *after,
            ]


def test_the_files_of_the_cases_are_what_they_say() -> None:
    """The trainer numbers control pieces as asked for, so that the ids by hand mean something."""
    processor = Processor(model_proto=trained(**BERT_LIKE))
    assert [processor.id_to_piece(i) for i in range(5)] == ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    processor = Processor(model_proto=trained())
    assert [processor.id_to_piece(i) for i in range(3)] == ["<unk>", "<s>", "</s>"]
