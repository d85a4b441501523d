"""No text of a printed figure lies over another, its axes have names, and it says what it is: many models, long names.

Every night all pages with 1, 2, 4 and 8 models in both languages; among the slow tests the first figure of each kind with 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import matplotlib
import plotly.graph_objects as go
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from dashboard.faces import FACES
from dashboard.shared import session
from dashboard.shared.exports.file_names import file_names
from dashboard.shared.exports.print.charts.plotly_figure import draw
from dashboard.shared.exports.print.files import SETTINGS, Drawing
from dashboard.shared.exports.print.style import PrintStyle
from engine.evaluations.catalog import METRIC_STUDY, MINIMAL_PAIRS
from engine.messages.languages import in_language, translated
from engine.messages.message import Message
from tests.dashboard.shared.exports.print.conftest import Recorded
from tests.dashboard.shared.exports.print.overlaps import overlapping
from tests.support.page_visits import at, drawn

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "backend")
STYLES = PrintStyle("one", 8), PrintStyle("two", 8)
MASKED = (
    "tohoku-nlp/bert-base-japanese-whole-word-masking",
    "ku-nlp/deberta-v2-base-japanese-char-wwm",
    "builtin/bert-mini-ja",
    "nlp-waseda/roberta-large-japanese-with-auto-jumanpp",
    "globis-university/deberta-v3-japanese-xsmall",
    "izumi-lab/bert-small-japanese-fin",
    "models/日本語モデル",
    "line-corporation/line-distilbert-base-japanese",
)
CAUSAL = (
    "rinna/japanese-gpt-neox-3.6b-instruction-ppo",
    "cyberagent/open-calm-gpt-small",
    "openai-community/gpt2",
    "llm-jp/llm-jp-gpt-3-980m-instruct3",
    "models/日本語gpt",
    "abeja/gpt-neox-japanese-2.7b",
    "stockmark/gpt-neox-japanese-1.4b",
    "line-corporation/japanese-large-lm-gpt-1.7b",
)
KINDS = [kind for kind, face in FACES.items() if face.sample is not None]
SECTIONS: Mapping[str, tuple[dict[str, str], ...]] = {
    MINIMAL_PAIRS.kind: tuple({"section": name} for name in ("Scores", "Categories"))
}
WAIT = 60


def offered(kind: str, n_models: int, language: str, recorded: Recorded) -> dict[str, go.Figure | Drawing]:
    """The figures that the page of a run of the sample offers, of each kind of caption the first, by caption."""
    face = FACES[kind]
    assert face.sample is not None
    models = (CAUSAL if kind == MINIMAL_PAIRS.kind else MASKED)[:n_models]
    settings = replace(face.sample.settings(language), models=models)
    if kind == METRIC_STUDY.kind:
        settings = replace(settings, idfs=("none", "references"))  # the other dictionaries are of other tokenizers
    run_id = session.access().submit(kind, settings, face.evaluation.sample(language)).run_id
    run = session.engine().runs.wait(run_id, WAIT)
    assert run.state == "done", run.message
    for query in SECTIONS.get(kind, ({},)):
        app = at(face.page.name)
        app.session_state["language"] = language
        app.query_params.update({"run": run_id} | query)
        drawn(app)
    every: dict[str, go.Figure | Drawing] = {**recorded.offered, **recorded.drawings}
    assert all(isinstance(caption, Message) for caption in every), "a caption is a message, in no language yet"
    first: dict[str, str] = {}
    for caption in every:
        first.setdefault(getattr(caption, "template", ""), caption)
    return {caption: every[caption] for caption in first.values()}


def faults(figures: Mapping[str, go.Figure | Drawing], language: str) -> list[str]:
    """What is wrong with the figures, printed in one column and in two."""
    found = []
    for caption, figure in figures.items():
        with in_language(language):
            shown = translated(caption)
        for style in STYLES:
            with matplotlib.rc_context(SETTINGS):
                printed = draw(figure, style, shown) if isinstance(figure, go.Figure) else figure.drawn(style, shown)
                where = f"{shown}, {style.columns}: "
                found += [f"{where}{first!r} over {second!r}" for first, second in overlapping(printed)]
                found += [f"{where}the {name} axis has no name" for name in unnamed_axes(printed)]
                if not says(printed, shown):
                    found.append(f"{where}no caption")
    return found


def unnamed_axes(printed: Figure) -> list[str]:
    """The axes with labels at their ticks and no name, of all plot areas and colour bars."""
    return [
        letter
        for axes in printed.axes
        if axes.axison and axes.name != "3d"
        for letter, axis in (("horizontal", axes.xaxis), ("vertical", axes.yaxis))
        if axis.get_visible() and not axis.get_label_text() and any(_shown(label) for label in axis.get_ticklabels())
    ]


def _shown(label: Text) -> bool:
    return bool(label.get_visible() and label.get_text())


def says(printed: Figure, caption: str) -> bool:
    """Whether a text of the sheet is the caption, on one line or several."""
    wanted = "".join(caption.split())
    return any("".join(text.get_text().split()) == wanted for text in printed.findobj(Text))


@pytest.mark.parametrize("kind", KINDS)
def test_four_models_with_long_names_are_printed_without_overlaps(kind: str, recorded: Recorded) -> None:
    figures = offered(kind, 4, "ja", recorded)
    assert figures and faults(figures, "ja") == []
    assert all(name.isascii() for name in file_names(figures).values())


@pytest.mark.nightly
@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("n_models", [1, 2, 4, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_models_is_printed_without_overlaps(
    kind: str, n_models: int, language: str, recorded: Recorded
) -> None:
    assert faults(offered(kind, n_models, language, recorded), language) == []
