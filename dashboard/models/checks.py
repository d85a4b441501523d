"""What was checked of a model before its numbers are believed, in words."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.wording import verbatim
from engine.language.quantities import count
from engine.models.sources.facts import LoadingChecks, ModelFacts, TokenCheck

FINE, NOTED, WRONG = ":material/check:", ":material/info:", ":material/error:"
BATCHING = {"any": "a text's numbers do not depend on the texts beside it",
            "equal lengths": "padding or longer neighbours would change a text's numbers: only texts of one length "
                             "share a batch",
            "alone": "other texts would change a text's numbers: each is read by itself"}


def show_checks(facts: ModelFacts, checks: LoadingChecks | None) -> None:
    """Draw a line for each check; `checks` is None for a model that was not loaded."""
    lines = [_tokens(facts.token_check), _template(facts), *_published(facts)]
    if checks is not None:
        lines += _loading(checks)
    with st.container(gap="xsmall"):
        st.markdown("**Checked**" + (f" :gray[· weights loaded and tried in {checks.seconds:.1f} s]" if checks else ""))
        for icon, text in lines:
            st.caption(f"{icon} {verbatim(text)}")


def _tokens(check: TokenCheck | None) -> tuple[str, str]:
    if check is None:
        return FINE, "Tokens: made by the recipe, not by the tokenizer's class"
    if not check.file:
        return NOTED, "Tokens: no published file says by itself how texts are split; those of the tokenizer's class"
    if check.repaired:
        return NOTED, (f"Tokens: the tokenizer's class splits texts otherwise than {check.file} (first: "
                       f"{check.example!r}); repaired, {check.n_texts:,} texts are now split as the file says")
    return FINE, f"Tokens: as {check.file} says, on {check.n_texts:,} texts"


def _template(facts: ModelFacts) -> tuple[str, str]:
    if not facts.template_tokens:
        return NOTED, "Special tokens: none are put round a text"
    cls = "; the vector of its first token is the CLS vector" if facts.has_cls else ""
    template = " ".join([*facts.opening, "…", *facts.template_tokens[len(facts.opening):]])
    return FINE, f"Special tokens round a text: {template}{cls}"


def _published(facts: ModelFacts) -> list[tuple[str, str]]:
    published = facts.published
    if published is None:
        return []
    if published.problem:
        return [(WRONG, f"Sentence vectors as published: not possible, {published.problem}")]
    parts = [published.description]
    parts += [f"at most {published.max_tokens:,} tokens"] if published.max_tokens else []
    parts += ["lower-cased"] if published.lower_case else []
    parts += [f"{published.truncate_dim:,} dimensions"] if published.truncate_dim else []
    prompts = ", ".join(f"{name} {prompt!r}{' (default)' if name == published.default_prompt else ''}"
                        for name, prompt in published.prompts.items())
    parts += [f"prompts: {prompts}"] if prompts else []
    return [(FINE, f"Sentence vectors as published: {'; '.join(parts)}")]


def _loading(checks: LoadingChecks) -> list[tuple[str, str]]:
    lines = [(FINE if checks.batching == "any" else NOTED, f"Batches: {BATCHING[checks.batching]}")]
    if checks.reads_ahead is not None:
        lines.append((WRONG, "Order: it reads ahead, and is not scored from left to right") if checks.reads_ahead else
                     (FINE, "Order: nothing that it says before a token changes when the token does"))
    if checks.n_unused:
        listed = ", ".join(checks.unused) + (", …" if checks.n_unused > len(checks.unused) else "")
        lines.append((NOTED, f"Weights: {count(checks.n_unused, 'part')} of the files are of no use to this task "
                             f"({listed})"))
    if checks.missing:
        lines.append((NOTED, f"Weights: the files lack {', '.join(checks.missing)}, which no result needs"))
    if not checks.n_unused and not checks.missing:
        lines.append((FINE, "Weights: the files and config.json name the same parts"))
    return lines
