"""Look into a model: what it is, and what it makes of a sentence, before anything is weighed."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pandas as pd
import streamlit as st

from dashboard.models.memory import size
from dashboard.shared import session
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError, InputError
from engine.language.quantities import count
from engine.models.sources.cards import BUILT_IN
from engine.models.sources.facts import ModelFacts

SENTENCE = "昨日、図書館でＧＰＵの小説を読んだ。"
LONGEST = 2_000  # characters
SHOWN = 300  # tokens
POLL_SECONDS = 0.2
LOOK = "models-look"


@dataclass(frozen=True)
class Look:
    """What was found: the facts of a model, and the tokens of one sentence."""

    facts: ModelFacts
    sentence: str
    tokens: dict[str, Any]


def look_into_a_model() -> None:
    """Draw the form and what was last looked at in this session."""
    with st.form("models-look-form", border=False):
        name = st.text_input(
            "Model", next(iter(BUILT_IN)), key="models-look-name",
            help="A built-in model, a Hugging Face id (`owner/name`, or `owner/name@revision`), a directory, or "
                 "CARD=DIRECTORY with a card of the papers.")
        sentence = st.text_input("Sentence", SENTENCE, max_chars=LONGEST, key="models-look-sentence")
        asked = st.form_submit_button("Look", type="primary", key="models-look-submit", icon=":material/search:")
    if asked:
        st.session_state.pop(LOOK, None)
        try:
            if not name.strip():
                raise InputError(f"No model is named. Type one, such as {next(iter(BUILT_IN))}.")
            st.session_state[LOOK] = _looked(name.strip(), sentence)
        except EngineError as error:
            show_error(error)
    if (look := st.session_state.get(LOOK)) is not None:
        _facts(look.facts)
        _tokens(look)


def _looked(name: str, sentence: str) -> Look:
    """Ask the engine in a thread, so that a download shows how far it is and ends when the page is left."""
    session.engine().configuration.models.check({"model": name})
    starting = "" if session.engine().backend.workers() else "Starting a worker, then: "
    told: list[tuple[int, int, str]] = [(0, 0, f"Opening {name}")]
    left = threading.Event()
    asked = session.engine().gateway.session(
        f"look-{uuid4().hex}", on_progress=lambda *now: told.append(now), is_cancelled=left.is_set)
    pool = ThreadPoolExecutor(1)
    try:
        future = pool.submit(lambda: Look(asked.describe(name), sentence, asked.tokenized(name, [sentence])[0]))
        bar = st.progress(0.0)
        while not future.done():
            done, total, label = told[-1]
            bar.progress(min(1.0, done / total) if total else 0.0, text=verbatim(starting + label))
            time.sleep(POLL_SECONDS)
        bar.empty()
        return future.result()
    finally:
        left.set()
        pool.shutdown(wait=False)


def _facts(facts: ModelFacts) -> None:
    st.markdown(f"**{verbatim(facts.name)}** :gray[· {verbatim(facts.architecture)}, {_kind(facts)}]")
    with st.grid(4, min_column_width=130):
        st.metric("Parameters", _short(facts.n_parameters), border=True, help=f"{facts.n_parameters:,}")
        st.metric("Layers", f"{facts.n_layers}", border=True, help=f"Hidden states 0 to {facts.n_layers}, "
                                                                   f"{facts.hidden_size} wide")
        st.metric("Vocabulary", f"{facts.vocab_size:,}", border=True)
        st.metric("Longest input", f"{facts.max_tokens:,}", border=True, help="In tokens, special ones included")
    has = {"mask": facts.has_mask, "CLS": facts.has_cls, "BOS": facts.has_bos}
    lines = [
        f"Tokenizer: {facts.recipe or facts.tokenizer}",
        "Special tokens: " + ", ".join(token if there else f"no {token}" for token, there in has.items()),
        f"{facts.hidden_size} wide · runs on {facts.device} in {facts.dtype}, {size(facts.n_parameters * 4)} in memory "
        f"({size(facts.weights_bytes)} on disk)",
        f"Fingerprint {facts.fingerprint[:12]} · tokenizer {facts.tokenizer_fingerprint[:12]}"
        + (f" · revision {facts.revision}" if facts.revision else ""),
    ]
    st.caption("  \n".join(map(verbatim, lines)))


def _tokens(look: Look) -> None:
    piece = look.tokens
    special, unknown = piece["special"], piece["unknown"]
    n_tokens, n_unknown = len(piece["tokens"]), int(unknown.sum())
    notes = [f"{n_unknown:,} unknown"] if n_unknown else []
    notes += [f"more than the {look.facts.max_tokens:,} it takes"] if n_tokens > look.facts.max_tokens else []
    st.markdown(f"**{count(n_tokens, 'token')}**" + "".join(f" :orange[· {note}]" for note in notes))
    surfaces = [look.sentence[start:end] if start >= 0 else "" for start, end in piece["spans"].tolist()]
    chips = []
    for token, surface, is_special, is_unknown in list(zip(
            piece["tokens"], surfaces, special, unknown, strict=True))[:SHOWN]:
        if is_special:
            chips.append(f":gray[{verbatim(token)}]")
        elif is_unknown:
            chips.append(f":orange-background[{verbatim(f'{token} {surface}')}]")
        else:
            chips.append(f":gray-background[{verbatim(token)}]")
    st.markdown(" ".join(chips) + (f" :gray[… {n_tokens - SHOWN:,} more]" if n_tokens > SHOWN else ""))
    if piece["prepared"]:
        st.caption(f"The vocabulary sees: {verbatim(piece['prepared'])}")
    with st.expander("Token by token", icon=":material/table_rows:"):
        words = [word if word >= 0 else None for word in piece["words"].tolist()]
        st.dataframe(pd.DataFrame({"token": piece["tokens"], "id": piece["ids"], "text": surfaces, "word": words}),
                     hide_index=True, placeholder="–", alt="Every token with its number and its place", column_config={
                         "token": "Token", "id": "Id", "text": st.column_config.TextColumn("Stands for"),
                         "word": st.column_config.NumberColumn("Word", help="The tokenizer's own words, from 0")})


def _kind(facts: ModelFacts) -> str:
    return {"masked": "a masked language model", "causal": "a causal language model"}.get(
        facts.kind, "an encoder without language-model head")


def _short(number: int) -> str:
    return f"{number / 1e9:.2f} B" if number >= 1e9 else f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number:,}"
