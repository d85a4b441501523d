"""SentencePiece's two algorithms, as a tokenizer.json (Unigram, BPE with byte fallback) and as a .model file alone."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import sentencepiece
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tests.models.zoo.texts import CORPUS
from tests.models.zoo.tokenizer_files.published import (
    Published,
    Tokens,
    Writer,
    template,
    write_settings,
    write_tokenizer_json,
)

SPACE = "▁"


def unigram(
    class_name: str,
    first: str,
    *,
    before: str = "",
    after: str = "",
    scheme: str = "always",
    lower: bool = False,
    unknown: str = "<unk>",
    **roles: str,
) -> Writer:
    """tokenizer.json of a Unigram: NFKC, ▁ before words by `scheme`; `first`: special tokens in order of their ids."""

    def write(folder: Path) -> Published:
        core = Tokenizer.from_str(_trained_unigram(tuple(first.split()), scheme, lower, unknown))
        core.add_special_tokens(
            [
                AddedToken(token, lstrip="mask" in token.lower(), normalized=False, special=True)
                for token in first.split()
            ]
        )
        core.post_processor = template(core, before, after)
        return write_tokenizer_json(folder, core, class_name, roles, before, after)

    return write


@cache
def _trained_unigram(first: tuple[str, ...], scheme: str, lower: bool, unknown: str) -> str:
    core = Tokenizer(models.Unigram())
    steps = [normalizers.NFKC(), *([normalizers.Lowercase()] if lower else [])]
    core.normalizer = normalizers.Sequence(steps)
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=scheme != "never")
    core.decoder = decoders.Metaspace(prepend_scheme=scheme)
    core.train_from_iterator(
        CORPUS * 4,
        trainers.UnigramTrainer(vocab_size=300, special_tokens=list(first), unk_token=unknown, show_progress=False),
    )
    return str(core.to_str())


def byte_fallback(class_name: str, first: str, *, before: str = "<s>", prefix: bool = True, **roles: str) -> Writer:
    """tokenizer.json of a SentencePiece BPE with byte fallback, as Llama 2, Mistral and Gemma (no `prefix`) have it."""

    def write(folder: Path) -> Published:
        core = _trained_bpe(tuple(first.split()), prefix)
        core.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in first.split()])
        core.post_processor = template(core, before, "")
        return write_tokenizer_json(folder, core, class_name, roles, before, "")

    return write


def _trained_bpe(first: tuple[str, ...], prefix: bool) -> Tokenizer:
    merges, vocabulary = _bpe_of_words()
    pieces = [*first, *(f"<0x{byte:02X}>" for byte in range(256)), *vocabulary]
    core = Tokenizer(
        models.BPE(
            {piece: number for number, piece in enumerate(pieces)},
            list(merges),
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    marks = normalizers.Replace(" ", SPACE)
    core.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), marks]) if prefix else marks
    if not prefix:
        core.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    strip = [decoders.Strip(" ", 1, 0)] if prefix else []
    core.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), *strip])
    return core


@cache
def _bpe_of_words() -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    core = Tokenizer(models.BPE())
    core.normalizer = normalizers.Replace(" ", SPACE)
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    core.train_from_iterator(CORPUS * 4, trainers.BpeTrainer(vocab_size=350, max_token_length=4, show_progress=False))
    id_of = core.get_vocab()
    merges = [tuple(merge) for merge in json.loads(core.to_str())["model"]["merges"]]
    return tuple(merges), tuple(sorted(id_of, key=id_of.__getitem__))


def model_file(
    class_name: str,
    file_name: str,
    *,
    before: Sequence[str] = (),
    after: Sequence[str] = (),
    kind: str = "unigram",
    settings: dict[str, Any] | None = None,
    control: str = "",
    shift: int = 0,
    config: dict[str, Any] | None = None,
    **roles: str,
) -> Writer:
    """A SentencePiece model without tokenizer.json. `shift`: what the class adds to its ids (fairseq's order)."""

    def write(folder: Path) -> Published:
        path = folder / file_name
        path.write_bytes(_trained_model(kind, control, tuple((settings or {}).items())))
        write_settings(folder, class_name, roles, **(config or {}))
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))

        def content(text: str) -> Tokens:
            written = text.encode()  # the library counts bytes
            return [
                (piece.id + shift, (len(written[: piece.begin].decode()), len(written[: piece.end].decode())))
                for piece in processor.encode(text, return_type="proto").pieces
            ]

        return Published(
            processor.vocab_size() + shift,
            [processor.piece_to_id(token) for token in before],
            [processor.piece_to_id(token) for token in after],
            {role: processor.piece_to_id(token) for role, token in roles.items()},
            content,
        )

    return write


@cache
def _trained_model(kind: str, control: str, settings: tuple[tuple[str, Any], ...]) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 10),
        model_writer=model,
        model_type=kind,
        control_symbols=control,
        minloglevel=2,
        num_threads=1,
        **{"vocab_size": 320, "hard_vocab_limit": False, **dict(settings)},
    )
    return model.getvalue()
