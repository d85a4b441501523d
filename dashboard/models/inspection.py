"""Inspection of a model: its facts and its tokens of a sentence, before any evaluation."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pandas as pd
import streamlit as st

from dashboard.models.checks import show_checks
from dashboard.models.memory import size
from dashboard.shared import session
from dashboard.shared.wording import show_error, verbatim
from engine.errors import Cancelled, EngineError, InputError
from engine.inference.gateway import GatewaySession
from engine.language.quantities import count
from engine.models.sources.cards import BUILT_IN
from engine.models.sources.facts import LoadingChecks, ModelFacts
from engine.models.sources.hub_cards import hub_card
from engine.models.sources.memory_budget import budget_of
from engine.models.sources.names import split_revision, without_label
from engine.precision import AUTO, BYTES_PER_WEIGHT, resolved

SENTENCE = "昨日、図書館でＧＰＵの小説を読んだ。"
LONGEST = 2_000  # characters
SHOWN = 300  # tokens
POLL_SECONDS = 0.2
INSPECTION = "models-look"


@dataclass(frozen=True)
class Inspection:
    """The facts of a model, its tokens of one sentence, and what loading it found, or why it cannot be loaded."""

    facts: ModelFacts
    sentence: str
    tokens: dict[str, Any]
    checks: LoadingChecks | None = None
    refusal: EngineError | None = None


def inspect_model() -> None:
    """Draw the form and the last inspection of this session."""
    with st.form("models-look-form", border=False):
        name = st.text_input(
            "Model", next(iter(BUILT_IN)), key="models-look-name",
            help="A built-in model, a Hugging Face id (`owner/name`, `owner/name@revision` or `owner/name:folder`), a "
                 "directory, or CARD=DIRECTORY with a card of the papers.")
        sentence = st.text_input("Sentence", SENTENCE, max_chars=LONGEST, key="models-look-sentence")
        loads = st.toggle("Load it and check it", True, key="models-look-load", help=(
            "Reads the weights into memory and tries them on a few tokens, once for each version of the files: do they "
            "fit config.json, do the texts of a batch change each other's numbers, does a causal model read ahead?"))
        is_submitted = st.form_submit_button("Inspect", type="primary", key="models-look-submit",
                                             icon=":material/search:")
    if is_submitted:
        st.session_state.pop(INSPECTION, None)
        try:
            if not name.strip():
                raise InputError(f"No model is named. Type one, such as {next(iter(BUILT_IN))}.")
            st.session_state[INSPECTION] = _inspected(name.strip(), sentence, loads=loads)
        except EngineError as error:
            show_error(error)
    if (inspection := st.session_state.get(INSPECTION)) is not None:
        _facts(inspection.facts)
        show_checks(inspection.facts, inspection.checks)
        if inspection.refusal is not None:
            show_error(inspection.refusal)
        _tokens(inspection)


def _inspection(model_session: GatewaySession, name: str, sentence: str, *, loads: bool) -> Inspection:
    facts, [tokens] = model_session.describe(name), model_session.tokenized(name, [sentence])
    try:
        return Inspection(facts, sentence, tokens, model_session.loading_checks(name) if loads else None)
    except Cancelled:
        raise
    except EngineError as error:
        return Inspection(facts, sentence, tokens, refusal=error)


def _inspected(name: str, sentence: str, *, loads: bool) -> Inspection:
    """Ask the engine in a thread, so that a download shows its progress and ends when the page is left."""
    session.engine().configuration.models.check({"model": name})
    starting = "" if session.engine().backend.workers() else "Starting a worker, then: "
    progress: list[tuple[int, int, str]] = [(0, 0, f"Opening {name}")]
    is_left = threading.Event()
    model_session = session.engine().gateway.session(
        f"look-{uuid4().hex}", on_progress=lambda *report: progress.append(report), is_cancelled=is_left.is_set)
    pool = ThreadPoolExecutor(1)
    try:
        future = pool.submit(_inspection, model_session, name, sentence, loads=loads)
        bar = st.progress(0.0)
        while not future.done():
            done, total, label = progress[-1]
            bar.progress(min(1.0, done / total) if total else 0.0, text=verbatim(starting + label))
            time.sleep(POLL_SECONDS)
        bar.empty()
        return future.result()
    finally:
        is_left.set()
        pool.shutdown(wait=False)


def _facts(facts: ModelFacts) -> None:
    st.markdown(f"**{verbatim(facts.name)}** :gray[· {verbatim(facts.architecture)}, {_kind(facts)}]")
    with st.grid(4, min_column_width=130):
        st.metric("Parameters", _short(facts.n_parameters), border=True, help=f"{facts.n_parameters:,}")
        st.metric("Layers", f"{facts.n_layers}", border=True, help=f"Hidden states 0 to {facts.n_layers}, "
                                                                   f"{facts.hidden_size} wide")
        st.metric("Vocabulary", f"{facts.vocab_size:,}", border=True)
        st.metric("Longest input", f"{facts.max_tokens:,}", border=True, help="In tokens, special ones included")
    has = {"mask": facts.has_mask, "CLS": facts.has_cls, "BOS": facts.has_bos, "EOS": facts.has_eos}
    lines = [
        *([f"Adapter of {facts.adapter_of}, merged at loading"] if facts.adapter_of else []),
        f"Tokenizer: {facts.recipe or facts.tokenizer}",
        "Special tokens: " + ", ".join(token if is_there else f"no {token}" for token, is_there in has.items()),
        f"{facts.hidden_size} wide · published in {facts.dtype}, {size(facts.weights_bytes)} on disk · needs on "
        f"{facts.device} {_budgets(facts)}",
        f"Fingerprint {facts.fingerprint[:12]} · tokenizer {facts.tokenizer_fingerprint[:12]}"
        + (f" · revision {facts.revision}" if facts.revision else ""),
    ]
    if (card := hub_card(split_revision(without_label(facts.name))[0])) is not None:
        lines.append(card.description)
    st.caption("  \n".join(map(verbatim, lines)))


def _budgets(facts: ModelFacts) -> str:
    """What the model takes at least, in the precision that is the default on its device, and in half of that."""
    chosen = resolved(AUTO, facts.dtype, facts.device)
    words = budget_of(facts, chosen).words
    smaller = budget_of(facts, "bf16")
    return words if BYTES_PER_WEIGHT[chosen] < 4 else f"{words}; {size(smaller.total)} in bf16"


def _tokens(inspection: Inspection) -> None:
    tokens = inspection.tokens
    special, unknown = tokens["special"], tokens["unknown"]
    n_tokens, n_unknown = len(tokens["tokens"]), int(unknown.sum())
    notes = [f"{n_unknown:,} unknown"] if n_unknown else []
    if n_tokens > inspection.facts.max_tokens:
        notes.append(f"longer than its limit of {inspection.facts.max_tokens:,}")
    st.markdown(f"**{count(n_tokens, 'token')}**" + "".join(f" :orange[· {note}]" for note in notes))
    surfaces = [inspection.sentence[start:end] if start >= 0 else "" for start, end in tokens["spans"].tolist()]
    chips = []
    for token, surface, is_special, is_unknown in list(zip(
            tokens["tokens"], surfaces, special, unknown, strict=True))[:SHOWN]:
        if is_special:
            chips.append(f":gray[{verbatim(token)}]")
        elif is_unknown:
            chips.append(f":orange-background[{verbatim(f'{token} {surface}')}]")
        else:
            chips.append(f":gray-background[{verbatim(token)}]")
    st.markdown(" ".join(chips) + (f" :gray[… {n_tokens - SHOWN:,} more]" if n_tokens > SHOWN else ""))
    if tokens["prepared"]:
        st.caption(f"Text after normalisation and segmentation: {verbatim(tokens['prepared'])}")
    with st.expander("Table of tokens", icon=":material/table_rows:"):
        words = [word if word >= 0 else None for word in tokens["words"].tolist()]
        st.dataframe(pd.DataFrame({"token": tokens["tokens"], "id": tokens["ids"], "text": surfaces, "word": words}),
                     hide_index=True, placeholder="–", alt="Every token with its id, text and word", column_config={
                         "token": "Token", "id": "Id", "text": st.column_config.TextColumn("Text"),
                         "word": st.column_config.NumberColumn("Word", help="The tokenizer's own words, from 0")})


def _kind(facts: ModelFacts) -> str:
    return {"masked": "a masked language model", "causal": "a causal language model"}.get(
        facts.kind, "an encoder without language-model head")


def _short(number: int) -> str:
    return f"{number / 1e9:.2f} B" if number >= 1e9 else f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number:,}"
