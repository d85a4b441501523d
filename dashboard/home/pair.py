"""The two sentences of the home page and their alignment, answered at once by a model that is kept in memory."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.alignment.pair import AlignedPair, aligned_pair
from dashboard.alignment.pair_choice import pair_table
from dashboard.alignment.scores import own_layer
from dashboard.alignment.view import alignment_view, view_data
from dashboard.shared import session
from dashboard.shared.inputs import sample_language
from dashboard.shared.wording import measure_help, show_error
from engine.datasets import sample_data
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import EngineError, InputError
from engine.evaluations.alignment.records import Settings
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.catalog import EVALUATIONS
from engine.messages.languages import mark, sentences, tr
from engine.messages.message import Message
from engine.models.sources.cards import first_built_in
from engine.runs.computing import SAMPLES_ID

KIND, PLACE, LESSONS = "alignment", "home", "lessons"
MODEL_BY_LANGUAGE = {language: first_built_in("masked", language=language)[0] for language in sample_data.LANGUAGES}
KEPT = 64
MOST_CHARACTERS = 300
MEANING = mark(
    "F1 is 1 only where every token has a match of similarity 1, as in two equal sentences; larger is better."
)
LOWER = mark(
    "With names compared by their readings (M) it is {f1:.3f}: a name weighs at least three times as much as another token, "
    "so names that are read otherwise cost more than synonyms."
)
HIGHER = mark("With names compared by their readings it is {f1:.3f}: names that are read alike count as alike.")


@st.fragment
def pair_demonstration() -> None:
    """Draw two boxes for sentences, their alignment under them with its F1, and the door to the page."""
    language = sample_language.usual()
    _keep_model_warm(MODEL_BY_LANGUAGE[language])
    reference, candidate = _first_pair(language)
    end = "" if language == "ja" else f"-{language}"
    with st.form("home-pair", border=False):
        with st.grid(2, min_column_width=230, gap="small"):
            reference = st.text_input(tr("Reference"), reference, key=f"home-reference{end}")
            candidate = st.text_input(tr("Candidate"), candidate, key=f"home-candidate{end}")
        st.form_submit_button(tr("Align"), type="primary", key="home-align", icon=":material/compare_arrows:")
    try:
        if not reference.strip() or not candidate.strip():
            raise InputError(Message("A pair is two sentences; one of them is empty. Type both."))
        # No max_chars: the field would drop a longer paste without a word.
        if (longest := max(len(reference), len(candidate))) > MOST_CHARACTERS:
            raise InputError(
                Message(
                    "A sentence has {n:,} characters, and here {most:,} at most are aligned. *Alignment* takes longer ones.",
                    n=longest,
                    most=MOST_CHARACTERS,
                )
            )
        with st.spinner(tr("Aligning …")):
            model = MODEL_BY_LANGUAGE[sample_language.of_texts([reference, candidate]) or language]
            pair = aligned(reference.strip(), candidate.strip(), _owner(reference, candidate, language), model)
    except EngineError as error:
        show_error(error)
        return
    alignment_view(view_data(pair.tokens, pair.similarities, pair.threshold, pair.scoring), key="home-alignment")
    f1, penalised = float(pair.pair["f1"]), float(pair.pair["penalized_f1"])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.metric("F1 ↑", tr("undefined") if f1 != f1 else f"{f1:.3f}", help=measure_help("f1"), width=110)
        said = [tr(MEANING)]
        if f"{penalised:.3f}" != f"{f1:.3f}" and penalised == penalised:
            said.append(tr(LOWER if penalised < f1 else HIGHER, f1=penalised))
        st.caption(sentences(*said), width="stretch")
    with st.container(horizontal=True, gap="small"):
        for name, label in ((KIND, tr("Align your own sentences or a file of them")), (LESSONS, tr("Lessons"))):
            st.page_link(pages.path(name), label=label, icon=pages.card(name).icon)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def aligned(reference: str, candidate: str, owner: str, model: str = MODEL_BY_LANGUAGE["ja"]) -> AlignedPair:
    """Two sentences aligned by a built-in model. It is no run: nothing of it is listed. Raises EngineError.

    owner: whom the answer is kept for, "" for all.
    """
    settings = Settings((model,))  # as the page of alignments scores a pair
    frame = pd.DataFrame({"reference": [reference], "candidate": [candidate]})
    engine = session.engine()
    gateway_session = engine.gateway.session(PLACE, owner=owner)
    result = EVALUATIONS[KIND].evaluate(settings, SentencePairs.from_frame(frame, PLACE), gateway_session)
    scores = rescore(result, settings.scoring)
    return aligned_pair(
        PLACE, result, scores, pair_table(result.pairs, scores.pairs).iloc[0], model, own_layer(result, model)
    )


def _owner(reference: str, candidate: str, language: str = "ja") -> str:
    """Whose pieces a pair of sentences is computed from: of the sample's, and where the cache is shared, everybody's."""
    if not session.engine().configuration.private_cache:
        return ""
    return SAMPLES_ID if (reference, candidate) == _first_pair(language) else session.viewer().id


def _first_pair(language: str = "ja") -> tuple[str, str]:
    """The shortest pair of the sample whose names differ, so that its tokens fit on a line."""
    sample = sample_data.sentence_pairs(language)
    pairs = zip(sample.references, sample.candidates, sample.categories, strict=True)
    reference, candidate, _ = min(
        (pair for pair in pairs if pair[2] == sample_data.SWAPPED_NAME[language]), key=lambda pair: len(pair[0])
    )
    return reference, candidate


@st.cache_resource(show_spinner=False)
def _keep_model_warm(model: str) -> None:
    """Have a server's worker load the model at the first visit: before the user types, and not in the cache."""
    engine = session.engine()
    if engine.run_processes is None:  # no server
        return

    def load() -> None:
        with suppress(EngineError):  # shown once the user types
            engine.gateway.session(PLACE).token_similarities(model, [(str(time.time()), PLACE)])

    threading.Thread(target=load, name="home-model", daemon=True).start()  # untranslated
