"""The pieces of a published SentencePiece model, by SentencePiece itself, with the ids of its vocabulary file."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from sentencepiece import SentencePieceProcessor
from transformers.convert_slow_tokenizer import import_protobuf

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.tokenization.character_alignment import NormalizedText
from engine.models.tokenization.offsets import SPACE_MARKS


class SentencePieces:
    """The one .model file of a directory."""

    def __init__(self, directory: Path) -> None:
        """Raises ModelError when there is none, more than one, or one that cannot be read."""
        model_files = sorted(directory.glob("*.model"))
        if len(model_files) != 1:
            raise ModelError(
                Message(
                    "The recipe needs the one SentencePiece model of {directory}, a file that ends "
                    "in .model; there are {listed}.",
                    directory=directory,
                    listed=list_of(path.name for path in model_files) or Message("none"),
                )
            )
        self._path = model_files[0]
        try:
            self._bytes = self._path.read_bytes()
            self._processor = SentencePieceProcessor(model_proto=self._bytes)
        except (OSError, RuntimeError) as error:
            raise ModelError(
                Message(
                    "{path} is no SentencePiece model that can be read: {error}. Copy or download it again.",
                    path=self._path,
                    error=error,
                )
            ) from error

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each piece: its line in vocab.txt or the .vocab file beside the model, else the model's own."""
        for path in (self._path.parent / "vocab.txt", self._path.with_suffix(".vocab")):
            if path.is_file():
                lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
                return {line.split("\t")[0]: number for number, line in enumerate(lines) if line}
        return {self._processor.id_to_piece(number): number for number in range(len(self._processor))}

    def split(self, text: NormalizedText, opens: bool) -> list[tuple[str | None, int, int]]:
        """The pieces of a text, each with the characters it covers; None for a piece without an id.

        opens: whether the text begins here. After a special token no word begins, so the space that most models
        put before a text is left out there.
        """
        processor = self._processor if opens else self._inner
        # SentencePiece counts bytes of UTF-8.
        character_at: dict[int, int] = {}
        position = 0
        for index, character in enumerate(text.characters):
            character_at[position] = index
            position += len(character.encode())
        character_at[position] = len(text.characters)
        pieces: list[tuple[str | None, int, int]] = []
        for piece in reversed(processor.encode(text.characters, return_type="proto").pieces):
            start, end = character_at[piece.begin], character_at[piece.end]
            if start == end and pieces and pieces[-1][1] == start and piece.piece != SPACE_MARKS[0]:
                # Of the pieces that one character became (株式会社 from ㍿) SentencePiece gives it to the last alone.
                end = pieces[-1][2]
            is_known = piece.id != processor.unk_id() and piece.piece in self.ids
            pieces.append((piece.piece if is_known else None, start, end))
        return pieces[::-1]

    @cached_property
    def _inner(self) -> SentencePieceProcessor:
        """The same model without the space before a text."""
        proto = import_protobuf().ModelProto.FromString(self._bytes)
        proto.normalizer_spec.add_dummy_prefix = False
        return SentencePieceProcessor(model_proto=proto.SerializeToString())
