"""Pretraining from a page: the form of a job, and the jobs of the viewer with their progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO, Any

import streamlit as st

from dashboard.shared import session
from dashboard.shared.inputs import settings as inputs
from dashboard.shared.wording import show_error, verbatim
from engine.datasets.corpora.corpus import TEXT_SUFFIXES
from engine.datasets.formats.archives import SUFFIXES as ARCHIVES
from engine.errors import EngineError
from engine.messages.languages import LANGUAGES as LANGUAGE_NAMES
from engine.messages.languages import mark, tr, translated
from engine.models.pretraining.settings import ARCHITECTURES, LANGUAGES, LEARNING_RATES, USUAL_TOKENIZERS, Settings
from engine.options import options_of
from engine.runs.access.pretraining import PretrainingAccess
from engine.runs.pretraining.jobs import Job

REFRESH_SECONDS = 2.0
PROBLEM = "models-pretrain-problem"  # with what was pressed last
OPTIONS = options_of(Settings)
KINDS = {"bert": mark("BERT (masked)"), "gpt2": mark("GPT-2 (causal)")}
STATES = {"running": mark("running"), "stopped": mark("stopped"), "done": mark("done"), "refused": mark("refused")}
ICONS = {
    "running": ":material/progress_activity:",
    "stopped": ":material/pause_circle:",
    "done": ":material/check_circle:",
    "refused": ":material/error:",
}
UNITS = {"file": mark("a file"), "blank-line": mark("the text between blank lines"), "page-break": mark("a page")}
ABOUT = mark(
    "A small model from texts of your own, on the cores of this machine: minutes to hours. A job that is "
    "stopped, also by a restart of the server, resumes from its last checkpoint. The model is chosen by its "
    "directory wherever a page asks for models."
)


def access() -> PretrainingAccess:
    """The pretraining jobs of the viewer."""
    return PretrainingAccess(session.access(), session.engine().pretraining)


def pretrain_model() -> None:
    """Draw the form and the viewer's jobs."""
    if not access().is_allowed:
        st.info(
            tr(
                "On this instance models are pretrained by the command alone: `python -m engine pretrain`. The "
                "operator allows it on this page by `HAKARI_PRETRAINING`."
            ),
            icon=":material/model_training:",
        )
    else:
        st.caption(tr(ABOUT))
        _form()
    _jobs()


def _form() -> None:
    # Outside of the form, because they decide what the fields in it are.
    with st.container(horizontal=True):
        architecture = st.segmented_control(
            tr("Architecture"),
            ARCHITECTURES,
            default="bert",
            required=True,
            key="models-pretrain-architecture",
            format_func=lambda name: tr(KINDS[name]),
            persist_state="session",
        )
        language = st.segmented_control(
            tr("Language of the texts"),
            list(LANGUAGES),
            default="ja",
            required=True,
            key="models-pretrain-language",
            format_func=LANGUAGE_NAMES.__getitem__,
            persist_state="session",
            help=translated(OPTIONS["language"].help),
        )
    with st.form("models-pretrain", border=False, enter_to_submit=False):
        types = [suffix.lstrip(".") for suffix in (*TEXT_SUFFIXES, *ARCHIVES)]
        files = st.file_uploader(
            tr("Texts"),
            type=types,
            accept_multiple_files=True,
            key="models-pretrain-files",
            help=tr(
                "Plain text or Aozora Bunko's, also as zip or tar of many. At least some "
                "hundred thousand characters; the Japanese built-in models have seen 42 million."
            ),
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input(
                tr("Name"),
                key="models-pretrain-name",
                max_chars=40,
                width=200,
                placeholder=tr("my-model"),
                persist_state="session",
            )
            values = {"vocab_size": _number(tr("Vocabulary"), "vocab_size"), "steps": _number(tr("Steps"), "steps")}
            values["documents"] = inputs.segments(
                tr("A document is"),
                OPTIONS["documents"],
                key="models-pretrain-documents",
                words={unit: tr(words) for unit, words in UNITS.items()},
            )
        with st.expander(tr("Advanced options"), icon=":material/tune:"):
            values |= _advanced(architecture, language)
        submitted = st.form_submit_button(
            tr("Pretrain"), type="primary", key="models-pretrain-submit", icon=":material/model_training:"
        )
    if submitted:
        _start(name.strip(), Settings(architecture, **values), [(file.name, file) for file in files])


def _advanced(architecture: str, language: str) -> dict[str, Any]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        values: dict[str, Any] = {
            "language": language,
            "layers": _number(tr("Layers"), "layers"),
            "hidden": _number(tr("Dimensions"), "hidden"),
            "heads": _number(tr("Attention heads"), "heads"),
            "max_length": _number(tr("Longest input"), "max_length"),
            "tokens_per_step": _number(tr("Tokens per step"), "tokens_per_step"),
            "warmup_steps": _number(tr("Warm-up steps"), "warmup_steps"),
            "held_out_share": inputs.number(
                tr("Held-out share"),
                OPTIONS["held_out_share"],
                width=150,
                format="%g",
                key="models-pretrain-held_out_share",
            ),
            "seed": _number(tr("Seed"), "seed"),
        }
    # Its default is another for each architecture.
    values["learning_rate"] = st.number_input(
        tr("Learning rate"),
        1e-6,
        1.0,
        LEARNING_RATES[architecture],
        format="%g",
        width=150,
        key=f"models-pretrain-rate-{architecture}",
        help=translated(OPTIONS["learning_rate"].help),
    )
    if architecture == "bert":
        usual = USUAL_TOKENIZERS[language][architecture]
        values["tokenizer"] = st.segmented_control(
            tr("Tokenizer"),
            list(OPTIONS["tokenizer"].choices),
            default=usual,
            required=True,
            key="models-pretrain-tokenizer" + ("" if language == "ja" else f"-{language}"),
            help=translated(OPTIONS["tokenizer"].help),
        )
    return values


def _number(label: str, name: str) -> Any:
    return inputs.number(label, OPTIONS[name], key=f"models-pretrain-{name}", width=150)


def _start(name: str, settings: Settings, uploads: Sequence[tuple[str, IO[bytes]]]) -> None:
    try:
        access().start(name, settings, uploads)
    except EngineError as error:
        show_error(error)


@st.fragment(run_every=REFRESH_SECONDS)
def _jobs() -> None:
    """The viewer's jobs, refreshed at intervals."""
    try:
        jobs = access().mine()
    except EngineError as error:
        show_error(error)
        return
    if (problem := st.session_state.pop(PROBLEM, None)) is not None:
        show_error(problem)
    for job in jobs:
        with st.container(border=True, key=f"models-pretrain-job-{job.id}"):
            _job(job)


def _job(job: Job) -> None:
    about = tr(
        "{architecture}, vocabulary {vocabulary:,}, {steps:,} steps",
        architecture=tr(KINDS[job.settings.architecture]),
        vocabulary=job.settings.vocab_size,
        steps=job.settings.steps,
    )
    state = tr(STATES[job.state])
    st.markdown(f"{ICONS[job.state]} **{verbatim(job.name)}** :gray[· {state} · {verbatim(about)}]")  # untranslated
    if job.state in ("running", "stopped"):
        st.progress(
            min(1.0, job.step / job.settings.steps),
            text=verbatim(translated(job.message))
            or tr("Starting …" if job.state == "running" else "Stopped before the first step."),
        )
    elif job.state == "refused":
        st.error(verbatim(translated(job.problem)), icon=":material/error:")
    else:
        st.code(str(job.model), language=None, wrap_lines=True)
        st.caption(tr("Its card, with the numbers on documents kept out of training, is README.md in this directory."))
    with st.container(horizontal=True):
        if job.state == "running":
            _button(tr("Stop"), ":material/stop_circle:", f"stop-{job.id}", access().cancel, job)
        if job.state == "stopped":
            _button(tr("Resume"), ":material/play_circle:", f"resume-{job.id}", access().resume, job)
        if job.state == "refused":
            _button(tr("Delete"), ":material/delete:", f"delete-{job.id}", access().delete, job)
        elif job.state != "running":
            with st.popover(
                tr("Delete"), icon=":material/delete:", type="tertiary", key=f"models-pretrain-sure-{job.id}"
            ):
                _button(
                    tr("Delete the model for good"),
                    ":material/delete_forever:",
                    f"delete-{job.id}",
                    access().delete,
                    job,
                )


def _button(label: str, icon: str, key: str, act: Callable[[str], None], job: Job) -> None:
    st.button(label, icon=icon, key=f"models-pretrain-{key}", type="tertiary", on_click=_act, args=(act, job.id))


def _act(act: Callable[[str], None], job_id: str) -> None:
    try:
        act(job_id)
    except EngineError as error:
        st.session_state[PROBLEM] = error
