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
from dashboard.models.find import find_model
from dashboard.models.memory import size
from dashboard.shared import drawing_turns, session
from dashboard.shared.run_links import card_link
from dashboard.shared.wording import show_error, verbatim
from engine.errors import Cancelled, EngineError, InputError
from engine.inference.gateway import GatewaySession
from engine.messages.languages import language, mark, tr, tr_n, translated
from engine.messages.message import Message, list_of
from engine.models.sources.cards import BUILT_IN, first_built_in
from engine.models.sources.facts import LoadingChecks, ModelFacts
from engine.models.sources.hub_cards import hub_card
from engine.models.sources.memory_budget import budget_of
from engine.models.sources.names import split_revision, without_label
from engine.precision import AUTO, BYTES_PER_WEIGHT, processor_computes_bf16, resolved

# By the language of the reader.
SENTENCES = {
    "ja": "昨日、図書館でＧＰＵの小説を読んだ。",
    "en": "Yesterday I read a novel about GPUs in the library.",  # untranslated
}
LONGEST = 2_000  # characters
SHOWN = 300  # tokens
POLL_SECONDS = 0.2
INSPECTION = "models-look"
KINDS = {
    "masked": mark("masked language model"),
    "causal": mark("causal language model"),
    "encoder": mark("encoder without language-model head"),
    "encoder-decoder": mark("encoder-decoder"),
}


@dataclass(frozen=True)
class Inspection:
    """The facts of a model, its tokens of one sentence, and what loading it found, or why it cannot be loaded."""

    facts: ModelFacts
    sentence: str
    tokens: dict[str, Any]
    checks: LoadingChecks | None = None
    refusal: EngineError | None = None


def inspect_model() -> None:
    """Draw the search, the form that takes what it found, and the last inspection of this session."""
    find_model("models-look-name")
    with st.form("models-look-form", border=False):
        name = st.text_input(
            tr("Model"),
            first_built_in("masked", language=language())[0],
            key="models-look-name",
            help=tr(
                "A built-in model, a Hugging Face id (`owner/name`, `owner/name@revision` or `owner/name:folder`), "
                "a directory, a GGUF file (its path, or `owner/name:file.gguf`), or CARD=DIRECTORY with a card of the "
                "papers."
            ),
        )
        sentence = st.text_input(tr("Sentence"), SENTENCES[language()], key="models-look-sentence")
        loads = st.toggle(
            tr("Load and check the model"),
            True,
            key="models-look-load",
            help=tr(
                "Reads the weights into memory and tries them on a few tokens, once for each version of the files: do they "
                "fit config.json, do the texts of a batch change each other's numbers, does a causal model read ahead?"
            ),
        )
        is_submitted = st.form_submit_button(
            tr("Inspect"), type="primary", key="models-look-submit", icon=":material/search:"
        )
    if is_submitted:
        st.session_state.pop(INSPECTION, None)
        try:
            if not name.strip():
                raise InputError(
                    Message("No model is named. Type one, such as {BUILT_IN}.", BUILT_IN=next(iter(BUILT_IN)))
                )
            if len(sentence) > LONGEST:
                raise InputError(
                    Message(
                        "The sentence has {n:,} characters, and {most:,} at most are cut into tokens here. Type a shorter one.",
                        n=len(sentence),
                        most=LONGEST,
                    )
                )
            st.session_state[INSPECTION] = inspected(name.strip(), sentence, loads=loads)
        except EngineError as error:
            show_error(error)
    if (inspection := st.session_state.get(INSPECTION)) is not None:
        _facts(inspection.facts)
        card_link(inspection.facts.name)
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


def inspected(name: str, sentence: str, *, loads: bool) -> Inspection:
    """The inspection of a model, by the engine in a thread: a download shows its progress, and ends with the page.

    Raises EngineError for a model that cannot be, or may not be opened here.
    """
    session.engine().configuration.models.check({"model": name})
    is_started = bool(session.engine().backend.workers())
    progress: list[tuple[int, int, str]] = [(0, 0, tr("Opening {model}", model=name))]
    is_left = threading.Event()
    model_session = session.engine().gateway.session(
        f"look-{uuid4().hex}",
        on_progress=lambda *report: progress.append(report),
        is_cancelled=is_left.is_set,
        owner=session.viewer().id,
    )
    pool = ThreadPoolExecutor(1)
    try:
        future = pool.submit(_inspection, model_session, name, sentence, loads=loads)
        bar = st.progress(0.0)
        with drawing_turns.waiting():
            while not future.done():
                done, total, label = progress[-1]
                step = translated(label)
                bar.progress(
                    min(1.0, done / total) if total else 0.0,
                    text=verbatim(step if is_started else tr("Starting a worker, then: {step}", step=step)),
                )
                time.sleep(POLL_SECONDS)
        bar.empty()
        return future.result()
    finally:
        is_left.set()
        pool.shutdown(wait=False)


def _facts(facts: ModelFacts) -> None:
    kind = tr(KINDS.get("encoder-decoder" if facts.n_seq2seq_parameters else facts.kind, KINDS["encoder"]))
    st.markdown(f"**{verbatim(facts.name)}** :gray[· {verbatim(facts.architecture)}, {kind}]")  # untranslated
    with st.grid(4, min_column_width=130):
        st.metric(tr("Parameters"), _short(facts.n_parameters), border=True, help=f"{facts.n_parameters:,}")
        st.metric(
            tr("Layers"),
            f"{facts.n_layers}",
            border=True,
            help=tr("Hidden states 0 to {n} of {hidden} dimensions", n=facts.n_layers, hidden=facts.hidden_size),
        )
        st.metric(tr("Vocabulary"), f"{facts.vocab_size:,}", border=True)
        st.metric(
            tr("Longest input"), f"{facts.max_tokens:,}", border=True, help=tr("In tokens, special ones included")
        )
    has = {"mask": facts.has_mask, "CLS": facts.has_cls, "BOS": facts.has_bos, "EOS": facts.has_eos}
    lines = [
        *([tr("Weights dequantised from {method}", method=facts.quantised)] if facts.quantised else []),
        *([tr("A masked token is predicted at the token before it (MNTP)")] if facts.masked_next_token else []),
        *(
            [
                tr(
                    "Encoder-decoder: minimal pairs are scored by its decoder, with {n} parameters in all",
                    n=f"{facts.n_seq2seq_parameters:,}",
                )
            ]
            if facts.n_seq2seq_parameters
            else []
        ),
        *([tr("Adapter of {model}, merged at loading", model=facts.adapter_of)] if facts.adapter_of else []),
        *([tr("Run with code of its own, confined: {code}", code=facts.own_code)] if facts.own_code else []),
        tr("Tokenizer: {name}", name=translated(facts.recipe) if facts.recipe else facts.tokenizer),
        tr(
            "Special tokens: {tokens}",
            tokens=translated(
                list_of(token if is_there else tr("no {token}", token=token) for token, is_there in has.items())
            ),
        ),
        tr(
            "{hidden} dimensions · published in {dtype}, {size} on disk · needs on {device} {memory}",
            hidden=facts.hidden_size,
            dtype=facts.dtype,
            size=size(facts.weights_bytes),
            device=facts.device,
            memory=_budgets(facts),
        ),
        " · ".join(
            [
                tr(
                    "Fingerprint {model} · tokenizer {tokenizer}",
                    model=facts.fingerprint[:12],
                    tokenizer=facts.tokenizer_fingerprint[:12],
                ),
                *([tr("revision {revision}", revision=facts.revision)] if facts.revision else []),
            ]
        ),
    ]
    if (card := hub_card(split_revision(without_label(facts.name))[0])) is not None:
        lines.append(" · ".join(translated(part) for part in (card.publisher, card.tokenizer, card.note) if part))
    st.caption("  \n".join(map(verbatim, lines)))


def _budgets(facts: ModelFacts) -> str:
    """What the model takes at least, in the precision that is the default on its device, and in half of that."""
    chosen = resolved(AUTO, facts.dtype, facts.device)
    words = translated(budget_of(facts, chosen).words)
    if BYTES_PER_WEIGHT[chosen] < 4:
        return words
    smaller = size(budget_of(facts, "bf16").total)
    if processor_computes_bf16():
        return tr("{memory}; {smaller} in bf16, and faster on this processor", memory=words, smaller=smaller)
    return tr("{memory}; {smaller} in bf16", memory=words, smaller=smaller)


def _tokens(inspection: Inspection) -> None:
    tokens = inspection.tokens
    special, unknown = tokens["special"], tokens["unknown"]
    n_tokens, n_unknown = len(tokens["tokens"]), int(unknown.sum())
    notes = [tr("{n:,} unknown", n=n_unknown)] if n_unknown else []
    if n_tokens > inspection.facts.max_tokens:
        notes.append(tr("longer than its limit of {n:,}", n=inspection.facts.max_tokens))
    title = tr_n("{n} token", "{n:,} tokens", n_tokens)
    st.markdown(f"**{title}**" + "".join(f" :orange[· {note}]" for note in notes))  # untranslated
    surfaces = [inspection.sentence[start:end] if start >= 0 else "" for start, end in tokens["spans"].tolist()]
    chips = []
    for token, surface, is_special, is_unknown in list(zip(tokens["tokens"], surfaces, special, unknown, strict=True))[
        :SHOWN
    ]:
        if is_special:
            chips.append(f":gray[{verbatim(token)}]")
        elif is_unknown:
            chips.append(f":orange-background[{verbatim(f'{token} {surface}')}]")
        else:
            chips.append(f":gray-background[{verbatim(token)}]")
    if n_tokens > SHOWN:
        chips.append(f":gray[{tr('… {n:,} more', n=n_tokens - SHOWN)}]")
    st.markdown(" ".join(chips))
    if tokens["prepared"]:
        st.caption(verbatim(tr("Text after normalisation and segmentation: {text}", text=tokens["prepared"])))
    with st.expander(tr("Table of tokens"), icon=":material/table_rows:"):
        words = [word if word >= 0 else None for word in tokens["words"].tolist()]
        st.dataframe(
            pd.DataFrame({"token": tokens["tokens"], "id": tokens["ids"], "text": surfaces, "word": words}),
            hide_index=True,
            placeholder="–",
            alt=tr("Every token with its id, text and word"),
            column_config={
                "token": tr("Token"),
                "id": "Id",
                "text": st.column_config.TextColumn(tr("Text")),
                "word": st.column_config.NumberColumn(tr("Word"), help=tr("The tokenizer's own words, from 0")),
            },
        )


def _short(number: int) -> str:
    return f"{number / 1e9:.2f} B" if number >= 1e9 else f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number:,}"
