"""Vocabularies without a pipeline: the ids of their lines, and the pipelines that BERT and byte-level BPE have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE, WordPiece
from transformers import PreTrainedTokenizerBase

from engine.models.tokenization.files.published_file import PublishedFile
from engine.models.tokenization.files.tokenizer_json import library_file

VOCABULARIES = ("vocab.txt", "vocab.json")
MERGES = "merges.txt"
# By name of the class as published: those with BERT's normaliser, words, pieces and template ...
_BERT = {
    "BertTokenizer",
    "ConvBertTokenizer",
    "DistilBertTokenizer",
    "ElectraTokenizer",
    "MobileBertTokenizer",
    "SqueezeBertTokenizer",
    "LayoutLMTokenizer",
    "LxmertTokenizer",
    "RetriBertTokenizer",
    "DPRContextEncoderTokenizer",
    "DPRQuestionEncoderTokenizer",
    "DPRReaderTokenizer",
    "MPNetTokenizer",
    "FunnelTokenizer",
}
# ... and those with GPT-2's bytes and merges, with what they put round a text.
_BYTE_LEVEL: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "GPT2Tokenizer": ((), ()),
    "CodeGenTokenizer": ((), ()),
    "RobertaTokenizer": (("cls_token",), ("sep_token",)),
    "BartTokenizer": (("cls_token",), ("sep_token",)),
    "LukeTokenizer": (("cls_token",), ("sep_token",)),
    "LongformerTokenizer": (("cls_token",), ("sep_token",)),
    "LEDTokenizer": (("cls_token",), ("sep_token",)),
    "MvpTokenizer": (("cls_token",), ("sep_token",)),
    "DebertaTokenizer": (("cls_token",), ("sep_token",)),
    "BlenderbotTokenizer": ((), ("eos_token",)),
}

# Lines of a fairseq dictionary: a piece and its count, behind four tokens of its own.
_FAIRSEQ = {"PhobertTokenizer", "BertweetTokenizer"}
# Their files are no list of pieces: several spellings a line, or pieces of another file.
_OF_THEIR_OWN = {"GPTNeoXJapaneseTokenizer", "BartphoTokenizer", "FastSpeech2ConformerTokenizer"}


def vocabulary_ids(path: Path) -> dict[str, int]:
    """The id of each piece: its line in vocab.txt, its value in vocab.json. Raises OSError and ValueError."""
    if path.suffix == ".json":
        ids = json.loads(path.read_text(encoding="utf-8"))
        return {str(piece): int(number) for piece, number in ids.items()}
    lines = path.read_text(encoding="utf-8").split("\n")
    return {line.rstrip("\r"): number for number, line in enumerate(lines) if line or number < len(lines) - 1}


def vocabulary_file(
    directory: Path, class_name: str, tokenizer: PreTrainedTokenizerBase, settings: Mapping[str, Any]
) -> PublishedFile | None:
    """The reference of a BERT's vocab.txt or of vocab.json and merges.txt; None for another class.

    Raises OSError and ValueError where a file cannot be read.
    """
    if class_name in _BERT and (directory / "vocab.txt").is_file():
        ids = vocabulary_ids(directory / "vocab.txt")
        core = Tokenizer(WordPiece(ids, unk_token=str(tokenizer.unk_token)))
        core.normalizer = normalizers.BertNormalizer(
            clean_text=True,
            handle_chinese_chars=_setting(settings, "tokenize_chinese_chars", True),
            strip_accents=settings.get("strip_accents"),
            lowercase=_setting(settings, "do_lower_case", True),
        )
        core.pre_tokenizer, core.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
        return _of_core("vocab.txt", core, tokenizer, (("cls_token",), ("sep_token",)))
    if class_name in _BYTE_LEVEL and (directory / "vocab.json").is_file() and (directory / MERGES).is_file():
        core = Tokenizer(BPE.from_file(str(directory / "vocab.json"), str(directory / MERGES)))
        prefix = _setting(settings, "add_prefix_space", False)
        core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
        core.decoder = decoders.ByteLevel()
        before, after = _BYTE_LEVEL[class_name]
        if class_name == "GPT2Tokenizer" and settings.get("add_bos_token"):
            before = ("bos_token",)
        return _of_core("vocab.json", core, tokenizer, (before, after))
    return None


def _of_core(
    name: str,
    core: Tokenizer,
    tokenizer: PreTrainedTokenizerBase,
    template: tuple[tuple[str, ...], tuple[str, ...]],
) -> PublishedFile | None:
    ids = core.get_vocab()
    before, after = ([ids.get(str(getattr(tokenizer, role))) for role in roles] for roles in template)
    if None in before or None in after:
        return None
    special = [str(token) for token in tokenizer.all_special_tokens if str(token) in ids]
    core.add_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    return library_file(name, core, [i for i in before if i is not None], [i for i in after if i is not None])


def _setting(settings: Mapping[str, Any], name: str, default: bool) -> bool:
    value = settings.get(name)
    return default if value is None else bool(value)


def numbered_pieces(path: Path, class_name: str) -> dict[str, int]:
    """The pieces of a vocabulary with their ids as the class was published; {} without a vocabulary of that kind."""
    if class_name in _OF_THEIR_OWN:
        return {}
    try:
        ids = vocabulary_ids(path)
    except (OSError, ValueError, TypeError, AttributeError):  # none, or JSON of another kind: one for each language
        return {}
    if class_name in _FAIRSEQ:
        special = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
        return special | {line.rsplit(" ", 1)[0]: number + len(special) for line, number in ids.items()}
    return ids
