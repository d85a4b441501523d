"""Log-likelihoods of sentences from an endpoint: requests of several sentences, and what to do when one is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.errors import InputError, ModelError, RunError
from engine.inference.backend import Piece
from engine.inference.endpoint.client import Client, Refused
from engine.inference.endpoint.replies import PromptTokens, ReplyError, n_prompt_tokens, prompts_of_reply
from engine.inference.endpoint.scored_prompts import UNNAMED, piece_of_prompt
from engine.inference.endpoint.settings import Endpoint
from engine.inference.endpoint.trial import LATIN, PROBES, WITHOUT_SPECIAL, Abilities, request_body
from engine.messages.message import Message


class Scorer:
    """Scores sentences with one endpoint, as its trial found out that it is to be asked."""

    def __init__(self, endpoint: Endpoint, client: Client, abilities: Abilities, settings: Mapping[str, Any]) -> None:
        """`settings`: of the operation token_log_likelihoods, with "prefix" as the tokens that it stands for.

        Raises ModelError for another scoring, or for a prefix that the server cannot put before a sentence.
        """
        if settings.get("scoring") != "causal":
            raise ModelError(
                Message(
                    "{full_name} scores from left to right; got {get!r}.",
                    full_name=endpoint.full_name,
                    get=settings.get("scoring"),
                )
            )
        self._endpoint, self._client, self._abilities = endpoint, client, abilities
        self._prefix = tuple(settings.get("prefix") or ())
        self._before = " " if settings.get("leading_space") else ""
        self._bos, self._fields = _request_for(endpoint, abilities, self._prefix)

    async def pieces(self, texts: Sequence[str]) -> list[Piece]:
        """One piece for each text, in their order; a text that the server refuses or answers wrongly is left out.

        So is one that spells a token that stands before texts: the server would read the token there.
        """
        control = [token for token in (self._abilities.bos, *self._abilities.opening) if token and token != UNNAMED]
        spelled = {text: token for text in texts for token in control if token in text}
        sent = [text for text in texts if text not in spelled]
        groups = [sent] if self._abilities.batched and sent else [[text] for text in sent]
        pieces = [piece for group in groups for piece in await self._group(group)]
        if any("excluded" in piece for piece in pieces):
            await self._require_working()
        piece_by_text = dict(zip(sent, pieces, strict=True))
        return [
            piece_by_text[text]
            if text in piece_by_text
            else {
                "excluded": Message("It spells {text}, which the server reads as a control token.", text=spelled[text]),
                "n_tokens": 0,
            }
            for text in texts
        ]

    async def _group(self, texts: list[str]) -> list[Piece]:
        try:
            pieces = await self._asked(texts)
        except Refused as error:
            return await self._without_refused(texts, str(error))
        if len(texts) == 1:
            return [_left_out(piece) if isinstance(piece, ReplyError) else piece for piece in pieces]
        # What was wrong in a batch may be right alone; if not, it is wrong for that sentence.
        return [
            (await self._group([text]))[0] if isinstance(piece, ReplyError) else piece
            for text, piece in zip(texts, pieces, strict=True)
        ]

    async def _require_working(self) -> None:
        """Raise RunError where the server no longer scores what it scored in its trial: sentences that it fails at now
        are not left out for good."""
        try:
            [piece] = await self._asked([PROBES[LATIN]])
        except Refused as error:
            piece = ReplyError(str(error))
        if isinstance(piece, ReplyError):
            raise RunError(
                Message(
                    "The server of {full_name} ({host}) no longer answers as it did when it was tried: "
                    "{piece}. What was computed until then is kept; run it again when it does.",
                    full_name=self._endpoint.full_name,
                    host=self._endpoint.host,
                    piece=piece,
                )
            )

    async def _without_refused(self, texts: list[str], reason: str) -> list[Piece]:
        """The pieces of a group that was refused, one part after the other, down to the sentences that are at fault."""
        if len(texts) == 1:
            return [{"excluded": Message("The server refuses it ({reason}).", reason=reason), "n_tokens": 0}]
        half = len(texts) // 2
        return [*await self._group(texts[:half]), *await self._group(texts[half:])]

    async def _asked(self, texts: list[str]) -> list[Piece | ReplyError]:
        form = self._abilities.form
        sent = [self._bos + self._before + text for text in texts]
        reply = await self._client.complete(
            request_body(self._endpoint, form, sent, batched=self._abilities.batched, fields=self._fields)
        )
        try:
            prompts = prompts_of_reply(reply, form.style, len(texts))
            self._require_count(reply, prompts)
        except ReplyError as error:
            return [error] * len(texts)
        return [self._piece(prompt, text) for prompt, text in zip(prompts, texts, strict=True)]

    def _piece(self, prompt: PromptTokens | ReplyError, text: str) -> Piece | ReplyError:
        if isinstance(prompt, ReplyError):
            return prompt
        try:
            return piece_of_prompt(
                prompt, self._before + text, self._prefix, self._abilities.form.n_generated, len(self._before)
            )
        except ReplyError as error:
            return error

    def _require_count(self, reply: Any, prompts: Sequence[PromptTokens | ReplyError]) -> None:
        """Raise ReplyError where tokens are missing by the server's own count, which was right in the trial."""
        counted = n_prompt_tokens(reply)
        if not self._abilities.counts or counted is None:
            return
        n_tokens = sum(
            len(prompt.tokens) - self._abilities.form.n_generated
            for prompt in prompts
            if isinstance(prompt, PromptTokens)
        )
        if n_tokens != counted and not any(isinstance(prompt, ReplyError) for prompt in prompts):
            raise ReplyError(
                Message(
                    "it holds {n_tokens} tokens of the {counted} that the server counted",
                    n_tokens=n_tokens,
                    counted=counted,
                )
            )


def _request_for(endpoint: Endpoint, abilities: Abilities, prefix: tuple[str, ...]) -> tuple[str, Mapping[str, Any]]:
    """What is put before each sentence so that it is read after `prefix`, and further fields of the request."""
    if prefix == abilities.opening:
        return "", {}
    if not prefix:
        if abilities.closing_off:
            return "", WITHOUT_SPECIAL
        raise InputError(
            Message(
                "The server of {full_name} puts {opening} before every text and cannot be told not "
                "to. Choose the prefix auto or template.",
                full_name=endpoint.full_name,
                opening=" ".join(abilities.opening),
            )
        )
    if prefix == (abilities.bos,):
        return abilities.bos, {}
    raise InputError(
        Message(
            "The server of {full_name} does not put {prefix} before a text. Choose the prefix auto or template.",
            full_name=endpoint.full_name,
            prefix=" ".join(prefix),
        )
    )


def _left_out(error: ReplyError) -> Piece:
    return {"excluded": Message("The server's reply cannot be used: {error}.", error=error), "n_tokens": 0}
