"""How sentences are scored, in words: what a page, a signature and a table say beside the numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.errors import InputError
from engine.evaluations.minimal_pairs.prompts.templates import IN_TEMPLATE, templates_of
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.evaluations.shared.checkpoints import Checkpoint, checkpoint_of, in_series
from engine.evaluations.shared.signature import FINGERPRINT_DIGITS
from engine.messages.message import Message, list_of, together
from engine.models.sources.facts import ModelFacts, ScoreFacts
from engine.models.sources.names import LONGEST_LABEL, shown_name, split_label, without_label
from engine.models.tokenization.prefix_tokens import BOS, EOS, NONE, TEMPLATE, prefix_tokens, resolved_prefix
from engine.options import option_of

PLL_RULES: Mapping[str, str] = option_of(Settings, "pll").choices
ENCODER_RULES: Mapping[str, str] = option_of(Settings, "encoder_reads").choices
SEQ2SEQ = "seq2seq"
ONE_SIDE, BOTH_SIDES, ITSELF = "one side", "both sides", "itself"
ECHO = Message(
    "{models}: the encoder is given the text itself, so that the numbers say how well it is given back, not how "
    "probable it is."
)
WINDOW_RULES: Mapping[str, str] = option_of(Settings, "window_prefix").choices
WORD_RULES: Mapping[str, str] = option_of(Settings, "words").choices
SPACE_RULES: Mapping[bool, str] = {
    False: Message("No space is put before a sentence; a tokenizer that puts one itself (SentencePiece) still does."),
    True: Message("A space is put before each sentence, as lm-evaluation-harness does for English BLiMP."),
}
_ROLES: Mapping[str, str] = {BOS: "BOS", EOS: "EOS", TEMPLATE: Message("the tokenizer's own beginning")}
_SERVED = Message(
    "The server computes it, in its own precision, and makes the tokens: it may read as a control token "
    "what is spelled like one."
)
_BOUNDARIES = Message(
    "The boundaries of words are scored, too, where the tokenizer marks with a space how words begin."
)
_PROMPTED = Message(
    "It is scored in templates, too: the log-probability of the sentence after the beginning of a template, and the "
    "log-odds of the answers to a question on the sentence, each answer with all its tokens."
)
_IN_TEMPLATES = Message(
    "It is scored in templates, too: the log-probability of the sentence after the beginning of a template."
)
_QUESTIONS = Message(
    "A question on it is scored, too: the log-odds of its two answers, each answer with all its tokens."
)
_NO_SPECIAL = Message("Special tokens are not scored.")
_CHAT = Message("The questions are put into the tokenizer's chat template.")
_BY_DECODER = Message("The decoder's log-likelihood of the tokens, from left to right, given what the encoder reads.")
_BY_MASKS = Message("The log-likelihood of each token under the decoder, masked alone for the encoder, summed.")
_BEFORE_MASK = Message(
    "A masked token is predicted at the token before it (MNTP), so that a first token without one is not scored."
)
# By `ScoreFacts.level`.
_LEVELS: Mapping[str, Message] = {
    "sums": Message("It has sums alone: how many tokens were scored is not known."),
    "numbers of tokens": Message("It has sums and numbers of scored tokens."),
    "tokens": Message("It has the log-likelihood of each token."),
    "tokens of a tokenizer": Message("It has sums alone; the tokens are those of the tokenizer {tokenizer}."),
}
_NUMBERED = re.compile(r", \d+\)$")  # of a label that would be another's
_TOO_LONG = Message("A sentence longer than the model takes is never cut: its pair is left out.")
_NO_WINDOWS = Message("A text longer than the model takes is left out.")
_WINDOWS = Message(
    "A text of more than {window:,} tokens, special ones included, is read in windows of so many, {stride:,} tokens apart."
)
_TO_THE_LEFT = Message("A token is scored in the first window that has it.")
_TO_BOTH_SIDES = Message("A token is scored in the window where it is nearest to the middle.")


def prefix_rule(facts: ModelFacts, prefix: str) -> str:
    """What a causal model reads before the first token of a sentence under a choice of `prefix`, and what it scores."""
    resolved, tokens = resolved_prefix(facts, prefix), prefix_tokens(facts, prefix)
    if tokens:
        role = (
            _ROLES[resolved]
            if not facts.endpoint
            else Message("put there by the server")
            if facts.opening
            else Message("BOS, sent")
        )
        return Message(
            "Each sentence is read after {tokens} ({role}), so its first token is scored.",
            tokens=" ".join(tokens),
            role=role,
        )
    if facts.endpoint:
        why = (
            Message("nothing is to stand before it")
            if resolved == NONE
            else Message("the server shows nothing before it")
        )
        return Message(
            "The first token is not scored, for {why}: pairs that differ in the first token lose that difference.",
            why=why,
        )
    token = {BOS: facts.bos_token, EOS: facts.eos_token}.get(resolved, "")
    why = (
        Message("nothing is to stand before it")
        if resolved == NONE
        else Message("the model has no embedding for {token} ({resolved})", token=token, resolved=_ROLES[resolved])
        if token
        else Message("the tokenizer itself puts nothing before a text")
        if resolved == TEMPLATE
        else Message("the tokenizer has no {resolved} token", resolved=_ROLES[resolved])
    )
    return Message(
        "The first token is not scored, for {why}: pairs that differ in the first token lose that difference.", why=why
    )


def scores_rule(scores: ScoreFacts) -> Message:
    """What is scored of a model whose scores are from a file: what the file says, and how far it says it."""
    return together(
        " ",
        [
            Message(
                "What is scored is as the file says: {file} ({form}, SHA-256 {digest}).",
                file=scores.file,
                form=Message(scores.form),
                digest=scores.digest[:FINGERPRINT_DIGITS],
            ),
            _LEVELS[scores.level].format(tokenizer=scores.tokenizer),
        ],
    )


def predicts_before_mask(facts: ModelFacts, predicted_at: str) -> bool:
    """Whether a masked model is read at the token before a mask, by the setting or as the model declares."""
    return facts.masked_next_token if predicted_at == "auto" else predicted_at == "before"


def scores_by_decoder(facts: ModelFacts) -> bool:
    """Whether a sentence is scored by the decoder of a model, which has an encoder beside it."""
    return facts.kind == "encoder" and facts.n_seq2seq_parameters > 0


def seen_by_rule(rule: str, encoder_reads: str) -> str:
    """What the score of a token sees of its text under a rule of the signature's `scoring`: a key of what follows.

    ONE_SIDE for a log-likelihood, BOTH_SIDES for a pseudo-log-likelihood, also that of an encoder-decoder whose encoder
    reads the text with a mask, ITSELF where the encoder reads the text as it is.
    """
    if rule.startswith(("pll", "mntp")) or (rule == SEQ2SEQ and encoder_reads == "masked"):
        return BOTH_SIDES
    return ITSELF if rule == SEQ2SEQ and encoder_reads == "sentence" else ONE_SIDE


def seen_by_models(result: Result) -> dict[str, list[str]]:
    """The models of a run by what their scores see of a text (`seen_by_rule`), in the order of the run."""
    rules = {without_label(model): str(rule) for model, rule in result.signature.get("scoring", {}).items()}
    found: dict[str, list[str]] = {}
    for model in result.scored_models:
        found.setdefault(seen_by_rule(rules.get(without_label(model), ""), result.settings.encoder_reads), []).append(
            model
        )
    return found


def echo_notice(result: Result) -> list[Message]:
    """The notice of models whose encoder is given the text that is scored; none for others."""
    models = seen_by_models(result).get(ITSELF, [])
    return [ECHO.format(models=list_of(map(shown_name, models)))] if models else []


def scoring_rule(
    facts: ModelFacts, settings: Settings, prefix: str, windows: tuple[int, int] | None = None, *, is_text: bool = False
) -> str:
    """How one model scores a sentence under these settings, after a choice of prefix, in whole sentences.

    is_text: whether it is a document of running text instead. windows: their length and stride for such a document, None
    where it is not read in windows.
    """
    how_long = [_NO_WINDOWS if is_text else _TOO_LONG]
    if windows is not None:
        how_long = [
            _WINDOWS.format(window=windows[0], stride=windows[1]),
            *(
                [Message(WINDOW_RULES[settings.window_prefix]), _TO_THE_LEFT]
                if facts.kind == "causal"
                else [_TO_BOTH_SIDES]
            ),
        ]
    if facts.scores is not None:
        return scores_rule(facts.scores)
    if facts.kind == "causal":
        return together(
            " ",
            [
                Message("The log-likelihood of the tokens, from left to right."),
                prefix_rule(facts, prefix),
                SPACE_RULES[settings.leading_space],
                Message("What the tokenizer puts at the end is not scored."),
                *([_BOUNDARIES] if settings.word_boundaries and not facts.endpoint else []),
                *([] if facts.endpoint else _prompts_rule(settings)),
                *how_long,
                *([_SERVED] if facts.endpoint else []),
            ],
        )
    if scores_by_decoder(facts):
        given = (
            Message("The encoder is given the text {text!r}.", text=settings.encoder_text)
            if settings.encoder_reads == "text"
            else Message("What the encoder is given: {what}", what=Message(ENCODER_RULES[settings.encoder_reads]))
        )
        by = _BY_MASKS if settings.encoder_reads == "masked" else _BY_DECODER
        return together(" ", [by, given, _NO_SPECIAL, *how_long])
    pll = settings.pll
    word = [Message("Words: {words}", words=Message(WORD_RULES[settings.words]))] if pll == "word-l2r" else []
    before = [_BEFORE_MASK] if predicts_before_mask(facts, settings.predicted_at) else []
    kind = Message("The pseudo-log-likelihood ({pll}).", pll=pll)
    return together(" ", [kind, Message(PLL_RULES[pll]), *word, *before, _NO_SPECIAL, *how_long])


def _prompts_rule(settings: Settings) -> list[Message]:
    """What is scored of sentences in templates, of the scores alone that the settings have templates for."""
    found = {template.score for template in templates_of(settings)}
    rule = _PROMPTED if len(found) > 1 else _IN_TEMPLATES if IN_TEMPLATE in found else _QUESTIONS
    return [*([rule] if found else []), *([_CHAT] if settings.chat_template else [])]


@dataclass(frozen=True)
class Condition:
    """A causal model that is scored again after another prefix. facts: the model's, under the condition's own name."""

    facts: ModelFacts
    model: str
    prefix: str


def check_served(facts: ModelFacts, prefix: str) -> None:
    """Raises InputError where a model behind a server cannot be given a prefix; no other model is looked at."""
    if facts.endpoint and prefix == EOS:
        raise InputError(
            Message(
                "Which token is EOS the server of {name} does not say. Choose the prefix auto, bos, template or none.",
                name=facts.name,
            )
        )
    if facts.endpoint and prefix == BOS and not facts.has_bos:
        raise InputError(
            Message(
                "The server of {name} puts no token before a text, and the operator has named none "
                "(bos= in HAKARI_ENDPOINTS). Choose the prefix auto, template or none.",
                name=facts.name,
            )
        )


def prefix_conditions(settings: Settings, all_facts: Sequence[ModelFacts]) -> tuple[list[Condition], list[Message]]:
    """Each causal model under each of `other_prefixes` that is other tokens to it, and notices of those that are not.

    A condition is named as a model with a label is, "gpt2 (prefix none)=owner/gpt2": its tables need no other column,
    and its label says what is read first: "none" also where the tokenizer has no such token.
    """
    conditions: list[Condition] = []
    causal = [facts for facts in all_facts if facts.kind == "causal"]
    notices = (
        [Message("There is no condition after another prefix: only causal models read one.")]
        if settings.other_prefixes and not causal
        else []
    )
    stems, taken = _stems([facts.name for facts in causal]), {shown_name(facts.name) for facts in all_facts}
    for facts in causal:
        seen = {prefix_tokens(facts, settings.prefix): settings.prefix}
        for prefix in settings.other_prefixes:
            try:
                check_served(facts, prefix)
            except InputError as error:
                notices.append(not_served(facts.name, prefix, error))
                continue
            tokens = prefix_tokens(facts, prefix)
            if tokens in seen:
                notices.append(
                    Message(
                        "{name}: with the prefix {prefix} it reads the same as with {tokens}, so that "
                        "is no further condition.",
                        name=facts.name,
                        prefix=prefix,
                        tokens=seen[tokens],
                    )
                )
                continue
            seen[tokens] = prefix
            label = _label(stems[facts.name], resolved_prefix(facts, prefix) if tokens else NONE, taken)
            taken.add(label)
            named = replace(facts, name=f"{label}={without_label(facts.name)}")
            conditions.append(Condition(named, facts.name, prefix))
    return conditions, notices


def not_served(model: str, prefix: str, error: InputError) -> Message:
    """The notice that a server cannot score a model after another prefix."""
    return Message(
        "{model} is not scored after the prefix {prefix}: {message}", model=model, prefix=prefix, message=error.message
    )


def checkpoint_series(result: Result, models: Sequence[str]) -> dict[str, tuple[Checkpoint, ...]]:
    """The trainings of which models of a result are checkpoints, as `in_series`; their conditions are one of their own.

    A condition has the step of the model that it is of: its own label may be too short for it.
    """
    named = {without_label(model): model for model in result.settings.models}
    found = []
    for model in models:
        checkpoint = checkpoint_of(named.get(without_label(model), model))
        if checkpoint and model in result.conditions:
            ending = _NUMBERED.sub(")", f" (prefix {shown_name(model).rpartition(' (prefix ')[2]}")
            checkpoint = Checkpoint(model, checkpoint.series + ending, checkpoint.step)
        if checkpoint:
            found.append(checkpoint)
    return in_series(found)


def _stems(models: Sequence[str]) -> dict[str, str]:
    """What a label can call each model: its own label, or as many of the last parts of its name as tell all apart.

    Of checkpoints two at least, so that the training is named beside the step.
    """
    parts = {
        model: [split_label(model)[0]]
        if split_label(model)[0]
        else [part for part in _showable(model).split("/") if part]
        for model in models
    }
    stems = dict.fromkeys(models, "")
    first = 2 if any(map(checkpoint_of, models)) else 1
    for depth in range(first, first + max(map(len, parts.values()), default=0)):
        stems = {model: "-".join(of_model[-depth:]).strip() for model, of_model in parts.items()}
        if len(set(stems.values())) == len(stems):
            break
    return stems


def _showable(text: str) -> str:
    """A text without what a label cannot hold: "=", and characters that cannot be seen."""
    return "".join(
        "-"
        if character == "="
        or unicodedata.category(character)[0] == "C"
        or unicodedata.category(character) in ("Zl", "Zp")
        else character
        for character in text
    )


def _label(stem: str, prefix: str, taken: set[str]) -> str:
    """A label that no other model or condition has; of a long stem the end, which distinguishes names."""
    for number in range(1, len(taken) + 2):
        ending = f" (prefix {prefix}{f', {number}' if number > 1 else ''})"
        room = LONGEST_LABEL - len(ending)
        label = f"{stem if len(stem) <= room else '…' + stem[1 - room :].lstrip()}{ending}"
        if label not in taken:
            return label
    raise AssertionError("one more label than there are others is free")
