"""How each class of tokenizer, as it was published, makes its ids and its template of a SentencePiece model.

Source: the Python classes of transformers 4 (`tokenization_*.py`, releases 4.30 to 4.57), which called SentencePiece
themselves and which the models were trained or converted with. transformers 5 rebuilds them without SentencePiece.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tokenizers import Regex, normalizers
from transformers.models.mbart.tokenization_mbart import FAIRSEQ_LANGUAGE_CODES as MBART_CODES
from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART50_CODES
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB_CODES

Settings = Mapping[str, Any]  # tokenizer_config.json
# The roles of special tokens, in the order in which transformers adds those that a vocabulary lacks.
ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_FAIRSEQ = ("bos_token", "pad_token", "eos_token", "unk_token")


@dataclass(frozen=True)
class Layout:
    """What a class puts before, between and after the pieces of a SentencePiece model, and round a text.

    opening: the tokens with the first ids, each a role ("pad_token") or a spelling. n_skipped: pieces at the beginning
    of the model that have no id of their own behind them. closing: the spellings behind the pieces. before, after: the
    tokens round a text, as roles or spellings. further: special tokens of the class without a role.
    sets_template: the class replaces the template of a tokenizer.json by its own.
    folds: the class changes a text before SentencePiece reads it (`prepared`), with these defaults of its settings.
    splits_numbers: a piece such as "9," is two tokens. keeps_prefix: its setting legacy: false puts SentencePiece's
    space before the first of the parts between added tokens alone.
    """

    opening: tuple[str, ...] = ()
    n_skipped: int = 0
    closing: Callable[[Settings], Sequence[str]] = lambda settings: ()
    before: Callable[[Settings], Sequence[str]] = lambda settings: ()
    after: Callable[[Settings], Sequence[str]] = lambda settings: ()
    further: tuple[str, ...] = ()
    sets_template: bool = False
    folds: Settings | None = None
    splits_numbers: bool = False
    keeps_prefix: bool = False


def layout_of(class_name: str, settings: Settings) -> Layout | None:
    """The layout of a class, with or without "Fast"; None where it is not known, or its settings are rare ones."""
    return None if settings.get("split_by_punct") else _LAYOUTS.get(class_name.removesuffix("Fast"))


def prepared(text: str, layout: Layout, settings: Settings) -> str:
    """A text as the class hands it to SentencePiece (`preprocess_text` of ALBERT and XLNet)."""
    if layout.folds is None:
        return text
    folds = {**layout.folds, **settings}
    if folds.get("remove_space"):
        text = " ".join(text.strip().split())
    if folds.get("quotes"):
        text = text.replace("``", '"').replace("''", '"')
    if not folds.get("keep_accents", True):
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return text.lower() if folds.get("do_lower_case") else text


def preparing(layout: Layout, settings: Settings) -> list[normalizers.Normalizer]:
    """`prepared` as steps of a Rust normaliser."""
    if layout.folds is None:
        return []
    folds = {**layout.folds, **settings}
    steps: list[normalizers.Normalizer] = []
    if folds.get("remove_space"):
        steps += [normalizers.Replace(Regex(r"[\s\x1c-\x1f\x85]+"), " "), normalizers.Strip()]
    if folds.get("quotes"):
        steps += [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not folds.get("keep_accents", True):
        # Combining as Python has it: of a class other than 0, which marks such as those of Devanagari vowels lack.
        steps += [normalizers.NFKD(), normalizers.Replace(Regex(_combining_characters()), "")]
    return [*steps, normalizers.Lowercase()] if folds.get("do_lower_case") else steps


@cache
def _combining_characters() -> str:
    codes = [code for code in range(0x110000) if unicodedata.combining(chr(code))]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "[" + "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in ranges) + "]"


def _tokens(*names: str) -> Callable[[Settings], Sequence[str]]:
    return lambda settings: names


def _bos_and_eos(bos: bool) -> tuple[Callable[[Settings], Sequence[str]], Callable[[Settings], Sequence[str]]]:
    """BOS and EOS as the settings say; `bos`: whether the class adds a BOS where they do not."""
    return (
        lambda settings: ["bos_token"] if _setting(settings, "add_bos_token", bos) else [],
        lambda settings: ["eos_token"] if settings.get("add_eos_token") else [],
    )


def _setting(settings: Settings, name: str, default: bool) -> bool:
    value = settings.get(name)
    return default if value is None else bool(value)


def _language(settings: Settings, default: str) -> str:
    return str(settings.get("src_lang") or default)


def _pegasus_opening() -> tuple[str, ...]:
    return ("pad_token", "eos_token", "<mask_1>", "<mask_2>", *(f"<unk_{i}>" for i in range(2, 103)))


def _extra_ids(settings: Settings) -> Sequence[str]:
    n = settings.get("extra_ids")
    return [f"<extra_id_{i}>" for i in range((100 if n is None else int(n)) - 1, -1, -1)]


_CLS_SEP: dict[str, Any] = {"before": _tokens("cls_token"), "after": _tokens("sep_token")}
_ALBERT: Settings = {"remove_space": True, "quotes": True, "keep_accents": False, "do_lower_case": True}
_BEHIND: dict[str, Any] = {"opening": _FAIRSEQ, "n_skipped": 3}
_BOS, _EOS = _bos_and_eos(True)
_NO_BOS, _ = _bos_and_eos(False)
_XLM_R = Layout(**_BEHIND, closing=_tokens("mask_token"), **_CLS_SEP)
_LLAMA = Layout(before=_BOS, after=_EOS, keeps_prefix=True)
_LAYOUTS: dict[str, Layout] = {
    "TokenizersBackend": Layout(before=_NO_BOS, after=_EOS, keeps_prefix=True),
    "PreTrainedTokenizer": Layout(before=_NO_BOS, after=_EOS),
    "AlbertTokenizer": Layout(**_CLS_SEP, folds=_ALBERT, splits_numbers=True),
    "FNetTokenizer": Layout(
        **_CLS_SEP, folds={**_ALBERT, "keep_accents": True, "do_lower_case": False}, splits_numbers=True
    ),
    "XLNetTokenizer": Layout(
        after=_tokens("sep_token", "cls_token"),
        folds={**_ALBERT, "do_lower_case": False},
        further=("<eop>", "<eod>"),
        splits_numbers=True,
    ),
    "RemBertTokenizer": Layout(**_CLS_SEP),
    "BigBirdTokenizer": Layout(**_CLS_SEP),
    "DebertaV2Tokenizer": Layout(**_CLS_SEP, folds={"do_lower_case": False}),
    "BarthezTokenizer": Layout(**_CLS_SEP),
    "BertGenerationTokenizer": Layout(),
    "ReformerTokenizer": Layout(),
    "LlamaTokenizer": _LLAMA,
    "CodeLlamaTokenizer": _LLAMA,
    "GemmaTokenizer": Layout(before=_BOS, after=_EOS),
    "T5Tokenizer": Layout(after=_tokens("eos_token"), closing=_extra_ids, keeps_prefix=True),
    "PegasusTokenizer": Layout(opening=_pegasus_opening(), n_skipped=2, after=_tokens("eos_token")),
    "XLMRobertaTokenizer": _XLM_R,
    "LayoutXLMTokenizer": _XLM_R,
    "MLukeTokenizer": Layout(**_BEHIND, closing=_tokens("mask_token"), **_CLS_SEP, further=("<ent>", "<ent2>")),
    "CamembertTokenizer": Layout(
        opening=("<s>NOTUSED", "pad_token", "</s>NOTUSED", "unk_token", "<unk>NOTUSED"),
        n_skipped=1,
        closing=_tokens("mask_token"),
        **_CLS_SEP,
    ),
    "XGLMTokenizer": Layout(
        **_BEHIND, closing=_tokens(*(f"<madeupword{i}>" for i in range(7))), before=_tokens("sep_token")
    ),
    "MBartTokenizer": Layout(
        **_BEHIND,
        closing=_tokens(*MBART_CODES, "mask_token"),
        after=lambda settings: ["eos_token", _language(settings, "en_XX")],
        sets_template=True,
    ),
    "MBart50Tokenizer": Layout(
        **_BEHIND,
        closing=_tokens(*MBART50_CODES, "mask_token"),
        before=lambda settings: [_language(settings, "en_XX")],
        after=_tokens("eos_token"),
        sets_template=True,
    ),
    "NllbTokenizer": Layout(
        **_BEHIND,
        closing=_tokens(*NLLB_CODES, "mask_token"),
        before=lambda settings: [] if settings.get("legacy_behaviour") else [_language(settings, "eng_Latn")],
        after=lambda settings: [
            "eos_token",
            *([_language(settings, "eng_Latn")] if settings.get("legacy_behaviour") else []),
        ],
        sets_template=True,
    ),
}
