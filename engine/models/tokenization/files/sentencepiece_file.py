"""A SentencePiece model read by SentencePiece, with the ids and the template of its class as published."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceProcessor
from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE, Unigram
from transformers import PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import check_number_comma, generate_merges, import_protobuf

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.tokenization.files.added_tokens import added_tokens
from engine.models.tokenization.files.layouts import ROLES, Layout, prepared, preparing
from engine.models.tokenization.files.published_file import PublishedFile, set_template

_SPACE = "▁"
# The Rust normaliser looks up one character at a time where a cluster is long, SentencePiece the longest match: か + ゙
# and ﾃﾞ stay apart there. Composing before and after makes up for it where the file's normaliser composes, as NFKC does;
# which of these gives the file's tokens is tried.
_COMPOSED = ((False, False), (False, True), (True, True))
_UNIGRAM, _BPE = 1, 2  # model_type of a SentencePiece model
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED = 1, 2, 3, 4, 5  # type of one of its pieces
# No text holds it: a name for ids that have none.
_NO_PIECE = "\ufffe\uffffid {}"
_NUMBER_PENALTY = 100.0  # what transformers takes off the score of a piece such as "9,", which the class never writes


def sentencepiece_file(
    path: Path, tokenizer: PreTrainedTokenizerBase, layout: Layout, settings: Mapping[str, Any]
) -> PublishedFile:
    """The reference of a tokenizer whose directory has a SentencePiece model and no tokenizer.json.

    settings: tokenizer_config.json. The roles of special tokens are the tokenizer's. Raises ModelError when the model
    cannot be read, or lacks a token of the template.
    """
    model = _Model(path, tokenizer, layout, settings)
    # SentencePiece's space before every part between added tokens, or before the first alone (`keeps_prefix`).
    ways = [(composed, first) for first in (False, True) for composed in _COMPOSED]
    repairs = [partial(model.repair, *way) for way in ways] if tokenizer.is_fast else []
    return PublishedFile(
        path.name,
        model.content,
        model.template(layout.before(settings)),
        model.template(layout.after(settings)),
        model.spelling,
        model.spellings,
        model.added.ordinary,
        repairs,
    )


class _Model:
    def __init__(
        self, path: Path, tokenizer: PreTrainedTokenizerBase, layout: Layout, settings: Mapping[str, Any]
    ) -> None:
        self._path, self._layout, self._settings = path, layout, settings
        self._class_name = type(tokenizer).__name__
        try:
            self._proto = import_protobuf().ModelProto.FromString(path.read_bytes())
            if settings.get("add_prefix_space") is False:
                self._proto.normalizer_spec.add_dummy_prefix = False
            self._processor = SentencePieceProcessor(model_proto=self._proto.SerializeToString())
            self._inner = self._processor
            if settings.get("legacy") is False and layout.keeps_prefix and self._proto.normalizer_spec.add_dummy_prefix:
                inner = import_protobuf().ModelProto.FromString(self._proto.SerializeToString())
                inner.normalizer_spec.add_dummy_prefix = False
                self._inner = SentencePieceProcessor(model_proto=inner.SerializeToString())
        except Exception as error:  # protobuf and SentencePiece raise errors of several classes for damaged bytes
            raise ModelError(
                Message(
                    "{path} is no SentencePiece model that can be read: {error}. Copy or download it again.",
                    path=path,
                    error=error,
                )
            ) from error
        self.added = added_tokens(path.parent, settings)
        self._names = self._vocabulary(tokenizer)
        self._id_of = self._ids()
        self._behind = self._tokens_behind(tokenizer)
        self._id_of |= {token.content: number for number, token in self._behind.items()}
        words = sorted(self.added.ordinary, key=len, reverse=True)
        self._words = re.compile(f"({'|'.join(map(re.escape, words))})") if words else None

    @property
    def controls(self) -> tuple[str, ...]:
        """The spellings of control and unknown pieces: SentencePiece never finds them in a text."""
        return tuple(p.piece for p in self._proto.pieces if p.type in (_CONTROL, _UNKNOWN))

    @property
    def spellings(self) -> tuple[str, ...]:
        """Those and the other special tokens, but for pieces that SentencePiece does find in a text."""
        found = {p.piece for p in self._proto.pieces if p.type in (_NORMAL, _USER_DEFINED)}
        special = (*self.controls, *self._roles.values(), *(token.content for token in self._special()))
        return tuple(name for name in dict.fromkeys(special) if name in self._id_of and name not in found)

    def content(self, text: str) -> list[int]:
        """The ids of a text; words that were added to the vocabulary are tokens, and cut it."""
        if self._words is None:
            return self._part(text, True)
        ids: list[int] = []
        parts = self._words.split(text)  # what stands between words, and words, in turn
        strips = {token.content: (token.lstrip, token.rstrip) for token in self.added.ids.values()}
        for i, part in enumerate(parts):
            if i % 2:
                ids.append(self._id_of[part])
                continue
            if i + 1 < len(parts) and strips[parts[i + 1]][0]:
                part = part.rstrip()
            if i and strips[parts[i - 1]][1]:
                part = part.lstrip()
            ids += self._part(part, not ids) if part else []
        return ids

    def template(self, names: Sequence[str]) -> tuple[int, ...]:
        """The ids of the tokens that a layout puts round a text."""
        missing = [name for name in map(self._spelled, names) if name not in self._id_of]
        if missing:
            raise ModelError(
                Message(
                    "The {class_name} of {directory} puts {tokens} round every text, which {file} and the files beside "
                    "it do not have. Take the tokenizer's files as they were published with the weights.",
                    class_name=self._class_name,
                    directory=self._path.parent,
                    tokens=list_of(missing),
                    file=self._path.name,
                )
            )
        return tuple(self._id_of[self._spelled(name)] for name in names)

    def spelling(self, number: int) -> str:
        """The piece or token of an id."""
        if number in self._behind:
            return self._behind[number].content
        return self._names[number] if number < len(self._names) else str(number)

    def repair(self, composed: tuple[bool, bool], first: bool, tokenizer: PreTrainedTokenizerBase) -> None:
        """Let the Rust tokenizer do what the model says: algorithm, scores, normaliser, space marks, ids, template.

        composed: whether characters are composed (NFC) before and after the file's own normaliser, see _COMPOSED.
        first: whether the space before a text stands before its first part alone, not behind added tokens.
        """
        old: Any = tokenizer
        backend = Tokenizer(self._rust_model())
        backend.normalizer = normalizers.Sequence(self._normalizer(composed, first))
        backend.pre_tokenizer = pre_tokenizers.Sequence(self._splits(first))
        backend.decoder = old._tokenizer.decoder or decoders.Metaspace(replacement=_SPACE)
        at_ids = dict(sorted(self._behind.items()))
        inside = [self.added.ids[number] for number in sorted(self.added.ids) if number not in at_ids]
        by_role = [
            AddedToken(str(token), special=True, normalized=False, lstrip=bool(getattr(token, "lstrip", False)))
            for token in old._special_tokens_map.values()
            if token
        ]
        controls = [AddedToken(name, special=True, normalized=False) for name in self.controls if name in self._id_of]
        backend.add_tokens(list(map(_found_as_written, at_ids.values())))
        backend.add_tokens(list(map(_found_as_written, (*inside, *by_role, *self._special(), *controls))))
        set_template(backend, self.template(self._layout.before(self._settings)), self._after())
        old._tokenizer = backend
        # Symbols of the user are text; transformers lists them among the special tokens.
        old._extra_special_tokens = list(self._special())

    def _after(self) -> tuple[int, ...]:
        return self.template(self._layout.after(self._settings))

    def _part(self, text: str, opens: bool) -> list[int]:
        processor = self._processor if opens else self._inner
        pieces = processor.encode(prepared(text, self._layout, self._settings), return_type="proto").pieces
        ids: list[int] = []
        for piece in pieces:
            if self._layout.splits_numbers and _is_number_with_comma(piece.piece):
                ids += self._split_number(piece.piece)
            else:
                ids.append(self._of_piece(piece.id))
        return ids

    def _split_number(self, piece: str) -> list[int]:
        """A piece such as "9," as ALBERT and XLNet write it: the number as SentencePiece cuts it, and the comma."""
        number = [p.piece for p in self._processor.encode(piece[:-1].replace(_SPACE, ""), return_type="proto").pieces]
        if not piece.startswith(_SPACE) and number[0].startswith(_SPACE):
            number = number[1:] if number[0] == _SPACE else [number[0][1:], *number[1:]]
        return [self._of_piece(self._processor.piece_to_id(name)) for name in (*number, piece[-1])]

    def _of_piece(self, number: int) -> int:
        if number == self._processor.unk_id() and "unk_token" in self._layout.opening:
            return self._layout.opening.index("unk_token")
        if number >= self._layout.n_skipped:
            return number - self._layout.n_skipped + len(self._layout.opening)
        return self._id_of.get(self._proto.pieces[number].piece, 0)

    @property
    def _unknown(self) -> int:
        return self._of_piece(self._processor.unk_id())

    def _spelled(self, name: str) -> str:
        return self._roles.get(name, name)

    def _vocabulary(self, tokenizer: PreTrainedTokenizerBase) -> list[str]:
        """The names of all ids, from 0, as the class numbers them; one that a file gives another name has that."""
        roles = {role: str(getattr(tokenizer, role)) for role in ROLES if getattr(tokenizer, role)}
        self._roles = {"mask_token": "<mask>", "pad_token": "<pad>"} | roles
        names = [self._spelled(name) for name in self._layout.opening]
        names += [piece.piece for piece in self._proto.pieces[self._layout.n_skipped :]]
        names += [self._spelled(name) for name in self._layout.closing(self._settings)]
        for number, token in self.added.ids.items():
            if number < len(names):
                names[number] = token.content
        return names

    def _ids(self) -> dict[str, int]:
        """The id of each name: a class's own tokens go before pieces of the same spelling, the first before others."""
        ids = {name: number for number, name in reversed(list(enumerate(self._names)))}
        n_closing = len(self._layout.closing(self._settings))
        own = [*range(len(self._layout.opening)), *range(len(self._names) - n_closing, len(self._names))]
        return ids | {self._names[number]: number for number in own}

    def _special(self) -> list[AddedToken]:
        """Special tokens without a role: those of the class and those that the files name."""
        known = {token.content for token in self.added.special}
        symbols, names = set(self._symbols()), [*self._layout.closing(self._settings), *self._layout.further]
        own = [self._spelled(name) for name in names if self._spelled(name) in self._id_of]
        return [
            *(token for token in self.added.special if token.content not in symbols or self._is_named(token.content)),
            *(AddedToken(name, special=True, normalized=False) for name in own if name not in known),
        ]

    def _is_named(self, spelling: str) -> bool:
        return any(token.content == spelling for token in self.added.special)

    def _tokens_behind(self, tokenizer: PreTrainedTokenizerBase) -> dict[int, AddedToken]:
        """The added tokens behind the vocabulary, with the id that a file says or the next one."""
        behind = {number: token for number, token in self.added.ids.items() if number >= len(self._names)}
        known = {*self._names, *(token.content for token in behind.values())}
        roles = [
            AddedToken(str(token), special=True, normalized=False)
            for role in ROLES
            if (token := getattr(tokenizer, role))
        ]
        further = [AddedToken(name, special=True, normalized=False) for name in self._layout.further]
        for token in (*roles, *self.added.special, *further):
            if token.content not in known:
                known.add(token.content)
                behind[max([len(self._names) - 1, *behind]) + 1] = token
        # Ids are numbered without a gap.
        for number in range(len(self._names), max(behind, default=-1)):
            behind.setdefault(number, AddedToken(_NO_PIECE.format(number), special=True, normalized=False))
        return behind

    def _symbols(self) -> list[str]:
        return [piece.piece for piece in self._proto.pieces if piece.type == _USER_DEFINED]

    def _rust_model(self) -> Any:
        spec = self._proto.trainer_spec
        if spec.model_type not in (_UNIGRAM, _BPE):
            raise ModelError(
                Message(
                    "{path} is a SentencePiece model of words or characters, which the tokenizers of transformers do "
                    "not read. Use it with a recipe (hakari.json).",
                    path=self._path,
                )
            )
        start = len(self._layout.opening) - self._layout.n_skipped
        pieces = {number + start: piece for number, piece in enumerate(self._proto.pieces)}
        normal = [piece.score for piece in self._proto.pieces if piece.type == _NORMAL]
        # SentencePiece's bonus for symbols of the user (unigram_model.cc); its highest score is never below 0.
        lowest, highest = min(normal), max(0.0, *normal)
        names = [name if self._id_of[name] == i else _NO_PIECE.format(i) for i, name in enumerate(self._names)]
        if spec.model_type == _BPE:
            return self._bpe(names)
        scored: list[tuple[str, float]] = []
        for number, name in enumerate(names):
            piece = pieces.get(number) if number >= len(self._layout.opening) else None
            if piece is None or piece.type not in (_NORMAL, _USER_DEFINED):
                # Never chosen: as special tokens these are not looked for in a text (`plain_text`).
                score = lowest
            elif piece.type == _USER_DEFINED:
                score = len(piece.piece.encode()) * highest - 0.1
            else:
                score = piece.score
            if self._layout.splits_numbers and not check_number_comma(name):
                score -= _NUMBER_PENALTY
            scored.append((name, score))
        return Unigram(scored, unk_id=self._unknown, byte_fallback=bool(spec.byte_fallback))

    def _bpe(self, names: list[str]) -> BPE:
        mergeable = [(p.piece, p.score) for p in self._proto.pieces if p.type in (_NORMAL, _USER_DEFINED)]
        merges = generate_merges({piece: rank for rank, (piece, _) in enumerate(mergeable)}, dict(mergeable))
        return BPE(
            {name: number for number, name in enumerate(names)},
            merges,
            unk_token=self.spelling(self._unknown),
            fuse_unk=True,
            byte_fallback=bool(self._proto.trainer_spec.byte_fallback),
            ignore_merges=any(len(symbol) > 1 for symbol in self._symbols()),
        )

    def _splits(self, first: bool) -> list[pre_tokenizers.PreTokenizer]:
        steps: list[pre_tokenizers.PreTokenizer] = []
        if first and self._proto.normalizer_spec.add_dummy_prefix:
            steps.append(pre_tokenizers.Metaspace(replacement=_SPACE, prepend_scheme="first", split=False))
        if self._proto.trainer_spec.model_type == _BPE and (symbols := self._symbols()):
            pattern = "|".join(map(re.escape, sorted(symbols, key=len, reverse=True)))
            steps.append(pre_tokenizers.Split(Regex(pattern), "isolated"))
        return steps

    def _normalizer(self, composed: tuple[bool, bool], first: bool) -> list[normalizers.Normalizer]:
        spec = self._proto.normalizer_spec
        steps = preparing(self._layout, self._settings)
        if spec.precompiled_charsmap:
            before, after = ([normalizers.NFC()] if wanted else [] for wanted in composed)
            steps += [*before, normalizers.Precompiled(spec.precompiled_charsmap), *after]
        if spec.remove_extra_whitespaces:
            steps += [normalizers.Replace(Regex(" {2,}"), " "), normalizers.Replace(Regex(r"\A | \z"), "")]
        if spec.add_dummy_prefix and not first:
            # Not a Metaspace, which leaves the mark out where the text begins with one of its own.
            steps += [normalizers.Prepend(_SPACE)]
        return [*steps, normalizers.Replace(" ", _SPACE)]


def _found_as_written(token: AddedToken) -> AddedToken:
    """The token as the class looks for it: in the text itself, before it is normalised."""
    return AddedToken(token.content, normalized=False, special=token.special, lstrip=token.lstrip, rstrip=token.rstrip)


def _is_number_with_comma(piece: str) -> bool:
    return len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit()
