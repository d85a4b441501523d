"""What was checked of a model before its numbers are trusted, in words."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.wording import verbatim
from engine.messages.languages import mark, tr, tr_n, translated
from engine.messages.message import list_of
from engine.models.sources.facts import LoadingChecks, ModelFacts, TokenCheck

FINE, NOTED, WRONG = ":material/check:", ":material/info:", ":material/error:"
BATCHING = {
    "any": mark("Batches: a text's numbers do not depend on the other texts of the batch"),
    "equal lengths": mark(  # untranslated
        "Batches: padding or longer texts change a text's numbers: only texts of one length share a batch"
    ),
    "alone": mark("Batches: other texts change a text's numbers: each is computed by itself"),
}


def show_checks(facts: ModelFacts, checks: LoadingChecks | None) -> None:
    """Draw a line for each check; `checks` is None for a model that was not loaded."""
    with st.container(gap="xsmall"):
        note = tr("weights loaded and tried in {seconds:.1f} s", seconds=checks.seconds) if checks else ""
        st.markdown(f"**{tr('Checks')}**" + (f" :gray[· {note}]" if note else ""))  # untranslated
        for icon, text in check_lines(facts, checks):
            st.caption(f"{icon} {verbatim(text)}")


def check_lines(facts: ModelFacts, checks: LoadingChecks | None) -> list[tuple[str, str]]:
    """Each check as an icon (FINE, NOTED or WRONG) and a sentence; `checks` is None for a model that was not loaded."""
    lines = [*_tokens(facts.token_check), _template(facts), *_published(facts)]
    return [*lines, *(_loading(checks) if checks is not None else [])]


def _tokens(check: TokenCheck | None) -> list[tuple[str, str]]:
    if check is None:
        return [(FINE, tr("Tokens: made by the recipe, not by the tokenizer's class"))]
    if not check.file:
        return [
            (
                NOTED,
                tr("Tokens: no published file says by itself how texts are split; those of the tokenizer's class"),
            )
        ]
    if not check.n_texts:
        return [
            (
                NOTED,
                tr(
                    "Tokens: the ids of all pieces are those of {file}, which does not say how texts are split; they "
                    "are split by the tokenizer's class",
                    file=check.file,
                ),
            )
        ]
    lines = [_held_against_file(check)]
    if check.white_space:
        lines.append(
            (
                NOTED,
                tr(
                    "Tokens: white space alone is still cut otherwise than {file} says (first: {example}); the tokens "
                    "of what is written are the same",
                    file=check.file,
                    example=repr(check.white_space),
                ),
            )
        )
    return lines


def _held_against_file(check: TokenCheck) -> tuple[str, str]:
    if not check.repaired:
        return FINE, tr(
            "Tokens: as {file} says, on {n:,} texts, their ids and the special tokens round them",
            file=check.file,
            n=check.n_texts,
        )
    found = {"file": check.file, "example": repr(check.example), "n": check.n_texts}
    if check.what == "template":
        return NOTED, tr(
            "Tokens: the tokenizer's class puts other special tokens round a text than it was published with beside "
            "{file} (first: {example}); repaired, {n:,} texts are now read as published",
            **found,
        )
    if check.what == "ids":
        return NOTED, tr(
            "Tokens: the tokenizer's class gives pieces other ids than {file} (first: {example}); repaired, {n:,} "
            "texts now have the ids of the file",
            **found,
        )
    return NOTED, tr(
        "Tokens: the tokenizer's class splits texts otherwise than {file} (first: {example}); "
        "repaired, {n:,} texts are now split as the file says",
        **found,
    )


def _template(facts: ModelFacts) -> tuple[str, str]:
    if not facts.template_tokens:
        return NOTED, tr("Special tokens: none are added to a text")
    template = " ".join([*facts.opening, "…", *facts.template_tokens[len(facts.opening) :]])
    if facts.has_cls:
        return FINE, tr(
            "Special tokens added to a text: {template}; the vector of its first token is the CLS vector",
            template=template,
        )
    return FINE, tr("Special tokens added to a text: {template}", template=template)


def _published(facts: ModelFacts) -> list[tuple[str, str]]:
    published = facts.published
    if published is None:
        return []
    if published.problem:
        return [
            (WRONG, tr("Sentence vectors as published: not possible, {problem}", problem=translated(published.problem)))
        ]
    parts = [translated(published.description)]
    parts += [tr("at most {n:,} tokens", n=published.max_tokens)] if published.max_tokens else []
    parts += [tr("lower-cased")] if published.lower_case else []
    parts += [tr("{n:,} dimensions", n=published.truncate_dim)] if published.truncate_dim else []
    prompts = translated(
        list_of(
            tr("{name} {prompt} (default)", name=name, prompt=repr(prompt))
            if name == published.default_prompt
            else f"{name} {prompt!r}"
            for name, prompt in published.prompts.items()
        )
    )
    parts += [tr("prompts: {prompts}", prompts=prompts)] if prompts else []
    return [(FINE, tr("Sentence vectors as published: {description}", description="; ".join(parts)))]


def _loading(checks: LoadingChecks) -> list[tuple[str, str]]:
    lines = [(FINE if checks.batching == "any" else NOTED, tr(BATCHING[checks.batching]))]
    if checks.reads_ahead is not None:
        lines.append(
            (WRONG, tr("Order: it reads ahead, and is not scored from left to right"))
            if checks.reads_ahead
            else (FINE, tr("Order: no prediction before a token changes when the token does"))
        )
    if checks.n_unused:
        listed = translated(list_of([*checks.unused, *(["…"] if checks.n_unused > len(checks.unused) else [])]))
        lines.append(
            (
                NOTED,
                tr_n(
                    "Weights: {n} part of the files is not used by this task ({parts})",
                    "Weights: {n:,} parts of the files are not used by this task ({parts})",
                    checks.n_unused,
                    parts=listed,
                ),
            )
        )
    if checks.missing:
        lines.append(
            (
                NOTED,
                tr("Weights: the files lack {parts}, which no result needs", parts=translated(list_of(checks.missing))),
            )
        )
    if not checks.n_unused and not checks.missing:
        lines.append((FINE, tr("Weights: the files and config.json name the same parts")))
    return lines
