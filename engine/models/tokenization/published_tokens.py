"""Are the token ids those that the published vocabulary file gives? Held against the file's own library.

transformers 5 rebuilds most tokenizers from a vocabulary and a class instead of reading the published file, and where
the class expects another kind of vocabulary the text is split otherwise without a warning: a Unigram SentencePiece
model under `LlamaTokenizer` becomes BPE, DeBERTa-v2 and BigBird lose SentencePiece's normaliser. So every tokenizer
that comes from a tokenizer.json or a SentencePiece model is tried on `probe_texts` against `tokenizers` or
SentencePiece itself, and where they differ the file's own pipeline takes the place of the class's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from weakref import WeakKeyDictionary

from sentencepiece import SentencePieceProcessor
from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE, Unigram
from transformers import PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import generate_merges, import_protobuf

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.sources.facts import TokenCheck
from engine.models.sources.model_files import tokenizer_fingerprint
from engine.models.tokenization.encoding import encoded
from engine.models.tokenization.probe_texts import probe_texts

TOKENIZER_JSON = "tokenizer.json"
# As transformers' classes name the SentencePiece model that they were published with.
SENTENCEPIECE_FILES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model")
# These lower the case or take accents off before SentencePiece sees a text; their normaliser is no fault.
_PREPROCESSING_CLASSES = ("AlbertTokenizer", "XLNetTokenizer", "BarthezTokenizer")
_ADVICE = Message(
    "Ask the publisher for a tokenizer.json, or make one with the version of transformers that the "
    "model was trained with."
)
_SPACE = "▁"
# The Rust normaliser looks up one character at a time where a cluster is long, SentencePiece the longest match: か + ゙
# and ﾃﾞ stay apart there. Composing before and after makes up for it where the file's normaliser composes, as NFKC does;
# which of these gives the file's tokens is tried.
_COMPOSED = ((False, False), (False, True), (True, True))
_UNIGRAM, _BPE = 1, 2  # model_type of a SentencePiece model
_CONTROL, _USER_DEFINED = 3, 4  # type of one of its pieces


def check_tokens(
    directory: Path, tokenizer: PreTrainedTokenizerBase, config_directory: Path | None = None
) -> TokenCheck:
    """Hold a tokenizer against the published file, and put the file's own pipeline in its place where they differ.

    `tokenizer` is changed in place by a repair. config_directory: that of config.json, where it is
    another one. The trial is made once for each content of the tokenizer's files.
    Raises ModelError, with the first text that is split otherwise, where no repair gives the file's tokens.
    """
    fingerprint = f"{type(tokenizer).__name__} {tokenizer_fingerprint(directory, config_directory)}"
    if fingerprint not in _checks or _checks[fingerprint].repaired:
        _checks[fingerprint] = _checked(directory, tokenizer)
    _check_of_tokenizer[tokenizer] = _checks[fingerprint]
    return _checks[fingerprint]


def token_check_of(tokenizer: PreTrainedTokenizerBase) -> TokenCheck | None:
    """What `check_tokens` found of this tokenizer; None where it was not asked, as for one made by a recipe."""
    return _check_of_tokenizer.get(tokenizer)


def _checked(directory: Path, tokenizer: PreTrainedTokenizerBase) -> TokenCheck:
    reference = _reference(directory, tokenizer) if tokenizer.is_fast else None
    if reference is None:
        return TokenCheck("", False, 0)
    file, expected_tokens, repairs = reference
    texts = probe_texts()
    example = _first_difference(tokenizer, expected_tokens, texts)
    if example is None:
        return TokenCheck(file, False, len(texts))
    different = example
    for repair in repairs:
        try:
            repair(tokenizer)
        except Exception as error:  # tokenizers raises bare exceptions for vocabularies that do not fit together
            raise ModelError(
                Message(
                    "The {class_name} of {directory} does not split texts as {file} says (such as "
                    "{example!r}), and cannot be made to: {error}. {_ADVICE}",
                    class_name=type(tokenizer).__name__,
                    directory=directory,
                    file=file,
                    example=example,
                    error=error,
                    _ADVICE=_ADVICE,
                )
            ) from error
        still_different = _first_difference(tokenizer, expected_tokens, texts)
        if still_different is None:
            return TokenCheck(file, True, len(texts), example)
        different = still_different
    actual, expected = _tokens(tokenizer, different), expected_tokens(different)
    raise ModelError(
        Message(
            "The {class_name} of {directory} does not split texts as {file} says: {different!r} "
            "becomes {actual} where the file has {expected}. {_ADVICE}",
            class_name=type(tokenizer).__name__,
            directory=directory,
            file=file,
            different=different,
            actual=_shown(actual),
            expected=_shown(expected),
            _ADVICE=_ADVICE,
        )
    )


# By class and content of the files.
_checks: dict[str, TokenCheck] = {}
_check_of_tokenizer: WeakKeyDictionary[PreTrainedTokenizerBase, TokenCheck] = WeakKeyDictionary()
Expected = Callable[[str], list[str]]
Repair = Callable[[PreTrainedTokenizerBase], None]


def _reference(directory: Path, tokenizer: PreTrainedTokenizerBase) -> tuple[str, Expected, tuple[Repair, ...]] | None:
    """The published file, the tokens it gives a text, and ways to make a tokenizer follow it; None without one."""
    if (directory / TOKENIZER_JSON).is_file():
        published = Tokenizer.from_file(str(directory / TOKENIZER_JSON))
        published.no_padding()
        published.no_truncation()
        published.encode_special_tokens = False

        def follow(target: PreTrainedTokenizerBase) -> None:
            backend = target.backend_tokenizer
            backend.model, backend.normalizer = published.model, published.normalizer
            backend.pre_tokenizer, backend.decoder = published.pre_tokenizer, published.decoder

        def tokens(text: str) -> list[str]:  # by id: an encoding's own tokens spell what the vocabulary does not know
            ids = published.encode(text, add_special_tokens=False).ids
            return [str(published.id_to_token(number)) for number in ids]

        return TOKENIZER_JSON, tokens, (follow,)
    names = (*SENTENCEPIECE_FILES, *type(tokenizer).vocab_files_names.values())
    model = next((directory / name for name in names if name.endswith(".model") and (directory / name).is_file()), None)
    if model is None or type(tokenizer).__name__.removesuffix("Fast") in _PREPROCESSING_CLASSES:
        return None
    processor = SentencePieceProcessor(model_file=str(model))
    unknown = str(tokenizer.unk_token)

    def pieces(text: str) -> list[str]:
        return [
            unknown if piece.id == processor.unk_id() else piece.piece
            for piece in processor.encode(text, return_type="proto").pieces
        ]

    return model.name, pieces, tuple(partial(_follow_sentencepiece, model, composed) for composed in _COMPOSED)


def _first_difference(tokenizer: PreTrainedTokenizerBase, expected: Expected, texts: Sequence[str]) -> str | None:
    return next((text for text in texts if _tokens(tokenizer, text) != expected(text)), None)


def _tokens(tokenizer: PreTrainedTokenizerBase, text: str) -> list[str]:
    # As the file's own library, which takes what a text contains for control tokens.
    ids = encoded(tokenizer, text, control=None, add_special_tokens=False)["input_ids"]
    return list(tokenizer.convert_ids_to_tokens(ids))


def _follow_sentencepiece(model_file: Path, composed: tuple[bool, bool], tokenizer: PreTrainedTokenizerBase) -> None:
    """Let the Rust tokenizer do what a SentencePiece model says: its algorithm, scores, normaliser and space marks.

    composed: whether characters are composed (NFC) before and after the file's own normaliser, see _COMPOSED.
    """
    proto = import_protobuf().ModelProto.FromString(model_file.read_bytes())
    backend = tokenizer.backend_tokenizer
    # The ids are the tokenizer's: some classes set their own special tokens before the pieces of the file.
    ids = tokenizer.get_vocab()
    scored = [(piece.piece, piece.score) for piece in proto.pieces]
    byte_fallback = bool(proto.trainer_spec.byte_fallback)
    if proto.trainer_spec.model_type == _UNIGRAM:
        backend.model = _unigram(ids, dict(scored), str(tokenizer.unk_token), byte_fallback)
    elif proto.trainer_spec.model_type == _BPE:
        pieces = {piece: ids[piece] for piece, _ in scored if piece in ids}
        merges = generate_merges({piece: rank for rank, (piece, _) in enumerate(scored)}, dict(scored))
        backend.model = BPE(
            pieces, merges, unk_token=str(tokenizer.unk_token), fuse_unk=True, byte_fallback=byte_fallback
        )
    steps: list[normalizers.Normalizer] = []
    if proto.normalizer_spec.precompiled_charsmap:
        before, after = ([normalizers.NFC()] if wanted else [] for wanted in composed)
        steps += [*before, normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap), *after]
    if proto.normalizer_spec.remove_extra_whitespaces:
        steps += [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    backend.normalizer = normalizers.Sequence(steps)
    backend.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement=_SPACE, prepend_scheme="always" if proto.normalizer_spec.add_dummy_prefix else "never", split=False
    )
    backend.decoder = decoders.Metaspace(replacement=_SPACE)
    backend.add_tokens(
        [
            AddedToken(piece.piece, normalized=False, special=piece.type == _CONTROL)
            for piece in proto.pieces
            if piece.type in (_CONTROL, _USER_DEFINED)
        ]
    )


def _unigram(ids: dict[str, int], scores: dict[str, float], unknown: str, byte_fallback: bool) -> Unigram:
    """The Unigram over the tokenizer's ids; what the file has no score for (added tokens) is never chosen by it."""
    by_id = {number: piece for piece, number in ids.items()}
    n_pieces = max(number for piece, number in ids.items() if piece in scores) + 1
    lowest = min(scores.values()) - 100.0
    vocabulary = [
        (by_id.get(number, Message("<no piece {number}>", number=number)), scores.get(by_id.get(number, ""), lowest))
        for number in range(n_pieces)
    ]
    return Unigram(vocabulary, unk_id=ids[unknown], byte_fallback=byte_fallback)


def _shown(tokens: Sequence[str]) -> str:
    return " ".join(tokens[:12]) + (" …" if len(tokens) > 12 else "")
