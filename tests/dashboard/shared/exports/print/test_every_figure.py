"""Every figure of every page is offered for print, and what is printed is what the page draws, with nothing cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from matplotlib.artist import Artist
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.text import Text
from mpl_toolkits.mplot3d import Axes3D
from streamlit.testing.v1 import AppTest

from dashboard.faces import FACES
from dashboard.shared import session
from dashboard.shared.exports.print.charts.plotly_figure import draw
from dashboard.shared.exports.print.charts.values import numbers, with_lists
from dashboard.shared.exports.print.files import Drawing
from dashboard.shared.exports.print.rich_text import plain_text
from dashboard.shared.exports.print.style import PrintStyle
from engine.evaluations.minimal_pairs.views import available
from engine.runs.storage.searching import Search
from tests.dashboard.shared.exports.print.conftest import Recorded
from tests.dashboard.test_stored_runs import RUNS, VERSION_STORED
from tests.stored_runs import directories as stored_runs
from tests.support.fakes import FakeBackend
from tests.support.page_visits import drawn, visit

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
STYLES = [PrintStyle("one", 8), PrintStyle("two", 10)]
SECTIONS = ("Scores", "Categories", "Fair subsets")
A_PIXEL = 1.0  # at 300 dpi: letters and lines are rounded to whole ones


@pytest.fixture
def data_dir(backend: FakeBackend, tmp_path: Path) -> Path:
    return stored_runs.copied(VERSION_STORED, tmp_path / "data")


def run_named(name: str) -> tuple[str, str]:
    """The page of a stored run, and its id."""
    (run,) = (run for run in session.engine().store.search(Search()) if run.name == name)
    return FACES[run.kind].page.name, run.id


@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("name", RUNS)
def test_a_page_offers_all_its_figures_and_each_is_printed_whole(name: str, recorded: Recorded) -> None:
    page, run_id = run_named(name)
    visit(page, run=run_id)
    check(recorded)
    if page == "minimal_pairs":
        for section in SECTIONS:
            recorded.forget()
            visit(page, run=run_id, section=section)
            check(recorded)


@pytest.mark.usefixtures("data_dir")
def test_the_folded_figures_of_clusters_are_offered_too(recorded: Recorded) -> None:
    page, run_id = run_named("Clusters: a few labelled sentences")
    app = visit(page, run=run_id)
    before = len(recorded.drawn)
    opened(app, "clusters-open-Scores by class and sentence")
    assert len(recorded.drawn) > before
    check(recorded)


@pytest.mark.usefixtures("data_dir")
def test_agreement_and_compare_offer_theirs(recorded: Recorded) -> None:
    visit("agreement")
    check(recorded)
    recorded.forget()
    _, run_id = run_named("Alignment: 12 sentence pairs")
    visit("compare", a=run_id, b=run_id)
    check(recorded)


def check(recorded: Recorded) -> None:
    """What was drawn is offered, and what is offered is printed in full in every style."""
    offered = [comparable(figure) for figure in recorded.offered.values()]
    assert recorded.drawn and all(comparable(figure) in offered for figure in recorded.drawn)
    for style in STYLES:
        for caption, figure in recorded.offered.items():
            printed = draw(figure, style)
            assert nothing_cut_off(printed), f"{caption}, {style}"
            assert complete(with_lists(figure), printed), f"{caption}, {style}"
        for caption, drawing in recorded.drawings.items():
            printed = drawing.drawn(style)
            assert nothing_cut_off(printed), f"{caption}, {style}"
            assert all_texts(drawing, printed, style), caption


def comparable(figure: go.Figure) -> dict[str, object]:
    """What a figure shows, without the theme that the page gives it and the lines that it breaks the axes' titles into."""
    shown = with_lists(figure).to_dict()
    shown["layout"].pop("template", None)
    for name, axis in shown["layout"].items():
        if "axis" in name and axis.get("title", {}).get("text"):
            axis["title"]["text"] = axis["title"]["text"].replace("<br>", " ")
    return {"data": str(shown["data"]), "layout": str(shown["layout"])}


def complete(figure: go.Figure, printed: Figure) -> bool:
    """Whether all points, bars and cells, and all words of axes, legend, titles and annotations are there."""
    artists = {str(artist.get_gid()): artist for artist in printed.findobj(Artist) if artist.get_gid()}
    for index, trace in enumerate(figure.data):
        if trace.visible is False:
            continue
        if trace.type == "bar":
            bars = [name for name in artists if name.startswith(f"trace-{index}-bar-")]
            lengths = numbers(trace.x if trace.orientation == "h" else trace.y)
            assert len(bars) == np.isfinite(lengths).sum()
        elif trace.type == "heatmap":
            mesh = artists[f"trace-{index}-cells"]
            assert isinstance(mesh, QuadMesh)
            values = np.array([numbers(row) for row in trace.z])
            np.testing.assert_allclose(mesh.get_array().filled(np.nan), values)  # type: ignore[union-attr]
        else:
            points_and_lines(trace, index, artists)
    words = [text.get_text() for text in printed.findobj(Text) if text.get_text()]
    joined = "".join("".join(words).split())
    layout = figure.layout
    labels = [note.text for note in layout.annotations] + [layout.title.text, layout.title.subtitle.text]
    labels += [
        trace.name
        for trace in figure.data
        if layout.showlegend
        and trace.showlegend is not False
        and trace.type != "heatmap"
        and trace.visible is not False
    ]
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        if axis.visible is not False:
            labels += [axis.title.text]
            if axis.ticktext is not None and axis.showticklabels is not False:
                numeric = all(str(text).strip("≤≥ +-−").isdigit() for text in axis.ticktext)
                labels += [] if numeric else list(axis.ticktext)  # some numbers may be left out
            labels += list(axis.categoryarray if axis.categoryarray is not None else ())
    return all("".join(plain_text(label).split()) in joined for label in labels if label)


def points_and_lines(trace: go.Scatter, index: int, artists: dict[str, Artist]) -> None:
    places = np.stack(
        [
            [value is not None and value == value for value in getattr(trace, axis)]
            for axis in ("xyz" if trace.type == "scatter3d" else "xy")
        ]
    ).all(axis=0)
    parts = (trace.mode or "lines").split("+")
    points = [artist for name, artist in artists.items() if name.startswith(f"trace-{index}-points-")]
    if "markers" in parts and trace.marker.opacity != 0:
        assert all(isinstance(artist, PathCollection) for artist in points)
        n = sum(
            len(artist._offsets3d[0]) if isinstance(artist.axes, Axes3D) else len(artist.get_offsets())
            for artist in points
        )  # type: ignore[attr-defined]
        assert n == places.sum()
    if "lines" in parts and trace.line.width != 0:
        line = artists[f"trace-{index}-line"]
        np.testing.assert_array_equal(np.isfinite(line.get_xydata()).all(axis=1), places)  # type: ignore[attr-defined]
    if trace.type != "scatter3d" and trace.error_x.array is not None:
        errors = artists[f"trace-{index}-errors-x"]
        known = np.isfinite(numbers(trace.error_x.array)) & places
        assert isinstance(errors, LineCollection) and len(errors.get_segments()) == known.sum()


def nothing_cut_off(printed: Figure) -> bool:
    """Whether every text, and everything that is not cut at the edge of its plot area on purpose, is on the sheet."""
    printed.draw_without_rendering()
    renderer = printed.canvas.get_renderer()  # type: ignore[attr-defined]
    sheet = printed.bbox.padded(A_PIXEL)
    for box in extents(printed, renderer):
        assert sheet.x0 <= box.x0 and box.x1 <= sheet.x1 and sheet.y0 <= box.y0 and box.y1 <= sheet.y1, box
    return True


def extents(printed: Figure, renderer: object) -> Iterator:
    for axes in printed.axes:
        box = axes.get_tightbbox(renderer)
        if box is not None and not isinstance(axes, Axes3D):
            yield box
    for artist in (*printed.texts, *printed.artists, *printed.legends):
        if artist.get_visible() and (box := artist.get_window_extent(renderer)).width:
            yield box


def all_texts(drawing: Drawing, printed: Figure, style: PrintStyle) -> bool:
    words = {text.get_text() for text in printed.findobj(Text)}
    return {text for text in drawing.texts(style) if text.strip()} <= words


def opened(app: AppTest, key: str) -> AppTest:
    """Open a folded section."""
    app.session_state[key] = True
    return drawn(app)


@pytest.mark.usefixtures("data_dir")
def test_the_scores_are_overlaid_a_line_for_each(recorded: Recorded) -> None:
    page, run_id = run_named("Minimal pairs: 20 minimal pairs")
    visit(page, run=run_id, lines="scores")
    scores = list(available(session.engine().runs.result(run_id).pairs))
    overlaid = recorded.offered["Accuracy against the token difference"]
    assert len(scores) > 2 and [trace.name for trace in overlaid.data[: len(scores)]] == scores
    check(recorded)
