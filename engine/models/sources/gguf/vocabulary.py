"""The tokenizer's files from the header of a GGUF file: a tokenizer.json, or a SentencePiece model. No torch.

They say what the header says (pieces, merges or scores, types of the pieces, BOS and EOS) and are then read, tried and
repaired as those of any model. How a byte-level vocabulary cuts a text before its merges, the header names (`_CUTS`); for
other names nothing is guessed. Sources: the format's description; Qwen2's and Llama 3's published tokenizer.json; the
schema of a SentencePiece model (sentencepiece_model.proto), whose types of pieces the format has taken over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.sources.gguf.header import Header

TOKENIZER_JSON, SENTENCEPIECE, SETTINGS = "tokenizer.json", "tokenizer.model", "tokenizer_config.json"
# Types of pieces, of the format and of SentencePiece.
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_SPACE = "▁"
_GEMMAS = ("gemma2", "gemma3")
# The special tokens, by what the header calls their ids.
_ROLES = {
    "bos_token": "bos_token_id",
    "eos_token": "eos_token_id",
    "unk_token": "unknown_token_id",
    "pad_token": "padding_token_id",
}
_SENTENCEPIECE_IDS = {"bos_token": 1, "eos_token": 2, "unk_token": 0}
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_QWEN2 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{_REST}"
_LLAMA3 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}{_REST}"
# tokenizer.ggml.pre -> the expression that cuts a text ("" for GPT-2's own), whether it is composed (NFC) before,
# whether a whole word of the vocabulary is taken as it stands, and whether BOS stands before it where nothing is said.
_CUTS: Mapping[str, tuple[str, bool, bool, bool]] = {
    "gpt-2": ("", False, False, False),
    "qwen2": (_QWEN2, True, False, False),
    "llama-bpe": (_LLAMA3, False, True, True),
    "llama3": (_LLAMA3, False, True, True),
    "llama-v3": (_LLAMA3, False, True, True),
}
_ADVICE = Message("Put the tokenizer.json of the model that it was converted from beside it.")


def tokenizer_files(header: Header) -> dict[str, bytes]:
    """The files by name. Raises ModelError where the header does not say how texts are split, in a way known here."""
    model = header.fields.get("tokenizer.ggml.model")
    tokens = _tokens(header)
    if model == "gpt2":
        return _byte_level(header, tokens)
    if model == "llama":
        return _sentencepiece(header, tokens)
    raise _refused(header, f"tokenizer.ggml.model: {model}")


def require_same_pieces(header: Header, directory: Path) -> None:
    """Raise ModelError where a tokenizer.json beside a file numbers its ordinary pieces otherwise than the header.

    Nothing is compared where there is no such file, or the header has no vocabulary.
    """
    path = directory / TOKENIZER_JSON
    if not path.is_file() or "tokenizer.ggml.tokens" not in header.fields:
        return
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        vocabulary = content["model"]["vocab"]
        pairs: Iterable[tuple[str, int]] = (
            vocabulary.items()
            if isinstance(vocabulary, dict)
            else ((piece[0], number) for number, piece in enumerate(vocabulary))
        )
        ids = {str(piece): int(number) for piece, number in pairs}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return  # loading says what is wrong with it
    tokens = _tokens(header)
    for number, (piece, kind) in enumerate(zip(tokens, _types(header, len(tokens)), strict=True)):
        if kind == _NORMAL and ids.get(piece, number) != number:
            raise ModelError(
                Message(
                    "The {file} beside {path} is not that of the model in it: {piece!r} is {actual:,} where the header "
                    "has {expected:,}. Take both from the same model, or take {file} away.",
                    file=TOKENIZER_JSON,
                    path=header.path.name,
                    piece=piece,
                    actual=ids[piece],
                    expected=number,
                )
            )


def _tokens(header: Header) -> list[str]:
    tokens = header.fields.get("tokenizer.ggml.tokens")
    if not isinstance(tokens, list) or not tokens or len(set(tokens)) < len(tokens):
        raise _refused(header, "tokenizer.ggml.tokens")
    return tokens


def _types(header: Header, n_tokens: int) -> list[int]:
    types = header.fields.get("tokenizer.ggml.token_type")
    if types is None:
        return [_NORMAL] * n_tokens
    if not isinstance(types, memoryview) or len(types) != n_tokens:
        raise _refused(header, "tokenizer.ggml.token_type")
    return [int(kind) for kind in types]


def _roles(header: Header, tokens: list[str], defaults: Mapping[str, int]) -> dict[str, str]:
    """The special tokens by role, as the vocabulary spells them."""
    roles = {}
    for role, name in _ROLES.items():
        number = header.fields.get(f"tokenizer.ggml.{name}", defaults.get(role))
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(tokens):
            raise _refused(header, f"tokenizer.ggml.{name}: {str(number)[:20]}")
        roles[role] = tokens[number]
    return roles


def _settings(header: Header, class_name: str, roles: Mapping[str, str], *, bos: bool) -> dict[str, Any]:
    template = header.fields.get("tokenizer.chat_template")
    return {
        "tokenizer_class": class_name,
        "add_bos_token": _flag(header, "add_bos_token", bos) and "bos_token" in roles,
        "add_eos_token": _flag(header, "add_eos_token", False) and "eos_token" in roles,
        "clean_up_tokenization_spaces": False,
        **roles,
        **({"chat_template": template} if isinstance(template, str) else {}),
    }


def _flag(header: Header, name: str, default: bool) -> bool:
    value = header.fields.get(f"tokenizer.ggml.{name}")
    return value if isinstance(value, bool) else default


def _byte_level(header: Header, tokens: list[str]) -> dict[str, bytes]:
    cut = str(header.fields.get("tokenizer.ggml.pre"))
    merges = header.fields.get("tokenizer.ggml.merges")
    if cut not in _CUTS:
        raise _refused(header, f"tokenizer.ggml.pre: {cut}")
    if not isinstance(merges, list):
        raise _refused(header, "tokenizer.ggml.merges")
    expression, is_composed, takes_words, bos = _CUTS[cut]
    roles = _roles(header, tokens, {})
    settings = _settings(header, "PreTrainedTokenizerFast", roles, bos=bos)
    ids = {piece: number for number, piece in enumerate(tokens)}
    before = [roles["bos_token"]] if settings["add_bos_token"] else []
    after = [roles["eos_token"]] if settings["add_eos_token"] else []
    bytes_alone = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    added = [
        {
            "id": number,
            "content": piece,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": kind == _CONTROL,
        }
        for number, (piece, kind) in enumerate(zip(tokens, _types(header, len(tokens)), strict=True))
        if kind in (_CONTROL, _USER_DEFINED)
    ]
    split = {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "NFC"} if is_composed else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, bytes_alone]}
        if expression
        else {**bytes_alone, "use_regex": True},
        "post_processor": {
            "type": "Sequence",
            "processors": [bytes_alone, _template(before, after, ids)],
        },
        "decoder": {**bytes_alone, "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": takes_words,
            "vocab": ids,
            # The two parts stand on both sides of the first blank; one that is the first character is a part's own.
            "merges": [[merge[: (at := merge.find(" ", 1))], merge[at + 1 :]] for merge in merges],
        },
    }
    return {TOKENIZER_JSON: _json(content), SETTINGS: _json(settings)}


def _template(before: list[str], after: list[str], ids: Mapping[str, int]) -> dict[str, Any]:
    def steps(sequences: str) -> list[dict[str, Any]]:
        of_text = [{"Sequence": {"id": sequence, "type_id": 0}} for sequence in sequences]
        opening, closing = (
            [{"SpecialToken": {"id": token, "type_id": 0}} for token in part] for part in (before, after)
        )
        return [*opening, *(step for text in of_text for step in (text, *closing))]

    special = {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in (*before, *after)}
    return {"type": "TemplateProcessing", "single": steps("A"), "pair": steps("AB"), "special_tokens": special}


def _sentencepiece(header: Header, tokens: list[str]) -> dict[str, bytes]:
    """A SentencePiece model of BPE, whose pieces are merged by their scores."""
    from sentencepiece import sentencepiece_model_pb2

    scores = header.fields.get("tokenizer.ggml.scores")
    types = _types(header, len(tokens))
    if not isinstance(scores, memoryview) or len(scores) != len(tokens):
        raise _refused(header, "tokenizer.ggml.scores")
    # A converter that found no scores writes the same one everywhere, and what is merged first is then not known.
    if len({score for score, kind in zip(scores, types, strict=True) if kind == _NORMAL}) < 2:
        raise _refused(header, Message("the same tokenizer.ggml.scores for all pieces"))
    roles = _roles(header, tokens, _SENTENCEPIECE_IDS)
    unknown = tokens.index(roles["unk_token"])
    model: Any = sentencepiece_model_pb2
    proto = model.ModelProto()
    for number, (piece, score, kind) in enumerate(zip(tokens, scores, types, strict=True)):
        # Words that were added are written with blanks, which SentencePiece turns into its mark before it looks.
        is_text = kind in (_NORMAL, _USER_DEFINED)
        own = _UNKNOWN if number == unknown else _CONTROL if kind == _UNKNOWN else kind
        proto.pieces.add(
            piece=piece.replace(" ", _SPACE) if is_text else piece,
            score=float(score),
            type=own if own in range(_NORMAL, _BYTE + 1) else _NORMAL,
        )
    trainer, normalizer = proto.trainer_spec, proto.normalizer_spec
    trainer.model_type, trainer.vocab_size = model.TrainerSpec.BPE, len(tokens)
    trainer.byte_fallback = _BYTE in types
    for role, default in (("unk", 0), ("bos", 1), ("eos", 2)):
        token = roles.get(f"{role}_token")
        setattr(trainer, f"{role}_id", tokens.index(token) if token is not None else default)
        setattr(trainer, f"{role}_piece", token if token is not None else f"<{role}>")
    trainer.pad_id = tokens.index(roles["pad_token"]) if "pad_token" in roles else -1
    is_gemma = header.architecture in _GEMMAS
    prefix = _flag(header, "add_space_prefix", not is_gemma)
    normalizer.name = "identity"
    normalizer.add_dummy_prefix, normalizer.remove_extra_whitespaces = (
        prefix,
        _flag(header, "remove_extra_whitespaces", False),
    )
    normalizer.escape_whitespaces = True
    class_name = "GemmaTokenizer" if is_gemma else "LlamaTokenizer"
    settings = _settings(header, class_name, roles, bos=True)
    return {SENTENCEPIECE: proto.SerializeToString(), SETTINGS: _json(settings)}


def _json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()


def _refused(header: Header, what: str) -> ModelError:
    return ModelError(
        Message(
            "The header of {path} does not say in a way known to Hakari how texts are split ({what}). {_ADVICE}",
            path=header.path.name,
            what=what,
            _ADVICE=_ADVICE,
        )
    )
