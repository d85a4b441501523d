"""Trying an endpoint before its numbers are trusted: how it is to be asked, and what it reads before a sentence.

Two short texts are scored. The first form of request whose reply holds a log-probability for each token is taken.
Then it is found out what the server puts before a text, and the model's own next token is scored as a part of the
prompt: its log-probability must be the one that the server gave when it generated the token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.errors import ModelError
from engine.inference.endpoint.client import Client, Refused
from engine.inference.endpoint.prompt_alignment import is_whole, prompt_spans
from engine.inference.endpoint.replies import (
    PromptTokens,
    ReplyError,
    log_probability,
    n_prompt_tokens,
    prompts_of_reply,
)
from engine.inference.endpoint.scored_prompts import UNNAMED, piece_of_prompt, split_prompt
from engine.inference.endpoint.settings import Endpoint
from engine.messages.message import Message, together

PROBES = (Message("The scale weighs a feather."), "秤で羽の重さを量る。")
CONTINUED = (
    Message("The scale weighs a"),
    Message("One, two, three, four,"),
    Message("Tokyo is the capital of"),
    "東京は日本の",
)
LATIN = 0  # the index of the probe in Latin letters
LONGEST_OPENING = 2  # special tokens before a text
# Between the log-probability of a token generated and the same token read: half precision and other batches move it.
TOLERANCE = 0.25  # nats
WITHOUT_SPECIAL: Mapping[str, Any] = {"add_special_tokens": False}


@dataclass(frozen=True)
class Form:
    """A form of request. style: of its reply. fields: of its body. n_generated: tokens that it asks for at the end."""

    style: str
    fields: Mapping[str, Any]
    n_generated: int


_IDS = {"return_token_ids": True}
_ECHO = {"echo": True, "logprobs": 1}
FORMS: tuple[Form, ...] = (
    # One token more, because to some servers 0 is no number, and to others no bound.
    Form("tokens", {**_ECHO, "max_tokens": 1, **_IDS}, 1),
    Form("tokens", {**_ECHO, "max_tokens": 1}, 1),
    Form("content", {**_ECHO, "max_tokens": 1}, 1),
    # 0: of the tokens that the model prefers none, of each position the prompt's own.
    Form("prompt_logprobs", {"prompt_logprobs": 0, "max_tokens": 1, **_IDS}, 0),
    Form("prompt_logprobs", {"prompt_logprobs": 0, "max_tokens": 1}, 0),
    Form("tokens", {**_ECHO, "max_tokens": 0}, 0),
    Form("content", {**_ECHO, "max_tokens": 0}, 0),
)


@dataclass(frozen=True)
class Abilities:
    """What the trial found out.

    form: of request. batched: whether one request takes several prompts. opening: the special tokens that the server
    puts before a text. closing_off: whether it can be told not to. bos: the operator's token that stands before a text
    where the server puts none, "" for none. counts: whether the server's count of prompt tokens is that of the tokens
    it sent. latin_tokens: tokens per character of the probe in Latin letters. continued: whether a generated token
    could be compared with the same token read.
    """

    form: Form
    batched: bool
    opening: tuple[str, ...] = ()
    closing_off: bool = False
    bos: str = ""
    counts: bool = False
    latin_tokens: float = 1.0
    continued: bool = False


async def try_endpoint(endpoint: Endpoint, client: Client) -> Abilities:
    """Find out how an endpoint is to be asked. Raises ModelError when it cannot score texts, saying what it lacks."""
    asker = _Asker(endpoint, client)
    abilities, prompts = await _working_form(asker)
    if endpoint.bos:
        abilities = await _with_bos(asker, abilities)
    if abilities.opening:
        abilities = replace(abilities, closing_off=await _can_close_off(asker, abilities))
    n_latin = len(prompts[LATIN].tokens) - abilities.form.n_generated
    abilities = replace(abilities, latin_tokens=round(n_latin / len(PROBES[LATIN]), 3))
    return replace(abilities, continued=await _agrees_with_generation(asker, abilities))


class _Asker:
    """Sends texts to an endpoint in a form, and reads what comes back."""

    def __init__(self, endpoint: Endpoint, client: Client) -> None:
        self.endpoint, self._client = endpoint, client

    async def ask(
        self, form: Form, texts: Sequence[str], *, batched: bool, fields: Mapping[str, Any] | None = None
    ) -> tuple[list[PromptTokens], list[Any]]:
        """The tokens of each text, and the replies. Raises Refused and ReplyError."""
        prompts: list[PromptTokens] = []
        replies = []
        for group in [list(texts)] if batched else [[text] for text in texts]:
            body = request_body(self.endpoint, form, group, batched=batched, fields=fields or {})
            reply = await self._client.complete(body, on_trial=True)
            replies.append(reply)
            for prompt in prompts_of_reply(reply, form.style, len(group)):
                if isinstance(prompt, ReplyError):
                    raise prompt
                prompts.append(prompt)
        return prompts, replies

    def unusable(self, why: str) -> ModelError:
        return ModelError(Message("{full_name} cannot be used: {why}", full_name=self.endpoint.full_name, why=why))


def request_body(
    endpoint: Endpoint, form: Form, texts: Sequence[str], *, batched: bool, fields: Mapping[str, Any]
) -> dict[str, Any]:
    """The body of a request for the log-probabilities of texts; one text where the server takes no list."""
    return {
        "model": endpoint.model,
        "prompt": list(texts) if batched else texts[0],
        "temperature": 0,
        "stream": False,
        **form.fields,
        **fields,
    }


async def _working_form(asker: _Asker) -> tuple[Abilities, list[PromptTokens]]:
    reasons: list[str] = []
    for batched in (True, False):
        for form in FORMS:
            try:
                prompts, replies = await asker.ask(form, PROBES, batched=batched)
                for prompt in prompts:
                    _require_scores(prompt, form)
                opening = _opening(form, prompts)
            except (Refused, ReplyError) as error:
                reasons.append(str(error))
                continue
            counted = [n_prompt_tokens(reply) for reply in replies]
            n_tokens = sum(len(prompt.tokens) - form.n_generated for prompt in prompts)
            known = [number for number in counted if number is not None]
            counts = len(known) == len(counted) and sum(known) == n_tokens
            return Abilities(form, batched, opening, counts=counts), prompts
    raise asker.unusable(
        Message(
            "its server returns no log-probabilities of the prompt. It has to answer POST /completions with echo "
            "and logprobs, or prompt_logprobs, for the prompt's own tokens: vLLM and SGLang do, llama-cpp-python "
            "with --logits_all true. {FORMS}.",
            FORMS=together("; ", dict.fromkeys(reasons[: len(FORMS)])),
        )
    )


def _require_scores(prompt: PromptTokens, form: Form) -> None:
    """Raise ReplyError where less than all tokens but the first have a log-probability."""
    n_tokens = len(prompt.tokens) - form.n_generated
    if n_tokens < 2:
        raise ReplyError(Message("it holds {n_tokens} of the prompt's tokens", n_tokens=n_tokens))
    for value in prompt.log_probabilities[1:n_tokens]:
        log_probability(value)


def _opening(form: Form, prompts: Sequence[PromptTokens]) -> tuple[str, ...]:
    """The special tokens before a text: those of the probe in Latin letters, of which each token shows all.

    Raises ReplyError where what follows them does not join to the probes.
    """
    opening = _opening_of(prompts[LATIN], PROBES[LATIN], form)
    if opening is None:
        raise ReplyError(
            Message(
                "for {LATIN!r} it holds other tokens, {tokens!r:.200}",
                LATIN=PROBES[LATIN],
                tokens=list(prompts[LATIN].tokens),
            )
        )
    for prompt, text in zip(prompts, PROBES, strict=True):
        split_prompt(prompt, text, opening, form.n_generated)
    return opening


def _opening_of(prompt: PromptTokens, text: str, form: Form) -> tuple[str, ...] | None:
    end = len(prompt.tokens) - form.n_generated
    for n_special in range(LONGEST_OPENING + 1):
        shown, body = prompt.tokens[:n_special], prompt.tokens[n_special:end]
        # A first token that shows nothing, and that the text does without, is a special one.
        if not n_special and body and not body[0] and _covers(body[1:], text):
            continue
        if _covers(body, text) or (not n_special and body and body[0] is None):
            return tuple(token or UNNAMED for token in shown)
    return None


def _covers(tokens: Sequence[str | None], text: str) -> bool:
    return bool(tokens) and None not in tokens and prompt_spans([str(token) for token in tokens], text) is not None


async def _with_bos(asker: _Asker, abilities: Abilities) -> Abilities:
    """The operator's bos put before texts. Raises ModelError where the server does not read it as one token."""
    bos = asker.endpoint.bos
    if abilities.opening:
        if abilities.opening not in ((bos,), (UNNAMED,)):
            raise asker.unusable(
                Message(
                    "its server itself puts {opening} before a text, and the operator names bos={bos}. Leave bos= out.",
                    opening=" ".join(abilities.opening),
                    bos=bos,
                )
            )
        return replace(abilities, opening=(bos,))
    try:
        prompts, _ = await asker.ask(abilities.form, [bos + text for text in PROBES], batched=abilities.batched)
        for prompt, text in zip(prompts, PROBES, strict=True):
            piece_of_prompt(prompt, text, (bos,), abilities.form.n_generated)
    except (Refused, ReplyError) as error:
        raise asker.unusable(
            Message("its server does not read bos={bos} as one token before a text ({error}).", bos=bos, error=error)
        ) from error
    return replace(abilities, bos=bos)


async def _can_close_off(asker: _Asker, abilities: Abilities) -> bool:
    """Whether the server leaves the opening out where add_special_tokens is false."""
    try:
        prompts, _ = await asker.ask(abilities.form, PROBES, batched=abilities.batched, fields=WITHOUT_SPECIAL)
    except (Refused, ReplyError):
        return False
    return _opening_of(prompts[LATIN], PROBES[LATIN], abilities.form) == ()


async def _agrees_with_generation(asker: _Asker, abilities: Abilities) -> bool:
    """Whether a next token could be compared. Raises ModelError when it has another log-probability once it is read."""
    for text in CONTINUED:
        try:
            values = await _generated_and_read(asker, abilities, text)
        except (Refused, ReplyError):
            continue
        if values is None:
            continue
        token, generated, read = values
        if abs(generated - read) > TOLERANCE:
            raise asker.unusable(
                Message(
                    "its server gives the token {token!r} after {text!r} the log-probability {generated:.3f} when "
                    "it generates it, and {read:.3f} when it is part of the prompt. The log-probabilities of its "
                    "prompts are not those of the model.",
                    token=token,
                    text=text,
                    generated=generated,
                    read=read,
                )
            )
        return True
    return False


async def _generated_and_read(asker: _Asker, abilities: Abilities, text: str) -> tuple[str, float, float] | None:
    """The model's next token after a text, and its log-probabilities generated and read; None where it is no token of
    its own once it is read."""
    form, bos = abilities.form, abilities.bos
    generating = Form("content" if form.style == "content" else "tokens", {"max_tokens": 1, "logprobs": 1}, 0)
    [generated], _ = await asker.ask(generating, [bos + text], batched=False)
    token = generated.tokens[-1]
    if len(generated.tokens) != 1 or not token or not is_whole(token):
        return None
    [read], _ = await asker.ask(form, [bos + text + token], batched=False)
    place, spans = split_prompt(read, text + token, (bos,) if bos else abilities.opening, form.n_generated)
    if read.tokens[place.stop - 1] != token or spans[-1] != (len(text), len(text + token)):
        return None
    return (
        token,
        log_probability(generated.log_probabilities[-1]),
        log_probability(read.log_probabilities[place.stop - 1]),
    )
