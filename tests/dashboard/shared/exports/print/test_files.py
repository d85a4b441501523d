"""Printed files: their size, fonts, metadata, determinism, and what cannot be printed."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zlib
from pathlib import Path

import plotly.graph_objects as go
import pytest
from PIL import Image

from dashboard.shared.exports.print.files import figure_file, figure_files, missing_characters
from dashboard.shared.exports.print.style import FORMATS, PrintStyle
from dashboard.shared.exports.signing import digest
from engine.errors import InputError

ROOT = Path(__file__).parents[5]
SIGNATURE = {"models": [{"name": "斉藤"}]}
NO_FONT = "\U0010fffd"  # for private use


def figure(**layout: object) -> go.Figure:
    built = go.Figure(go.Scatter(x=[0, 1, 2], y=[0.1, 0.5, 0.3], mode="lines+markers", name="斉藤さんの模型 &lt;A&gt;"))
    return built.update_layout(height=300, showlegend=True, xaxis={"title": {"text": "トークン数の差"}}, **layout)


@pytest.mark.parametrize("file_format", FORMATS)
def test_the_same_figure_gives_the_same_bytes_with_the_signature_and_no_date(file_format: str) -> None:
    first, second = (figure_file(figure(), file_format, PrintStyle(), SIGNATURE) for _ in range(2))
    assert first == second
    assert digest(SIGNATURE).encode() in first
    assert not re.search(rb"<dc:date>|CreationDate", first)
    assert figure_file(figure(), file_format, PrintStyle(), {"models": []}) != first


def test_several_formats_of_one_drawing_are_what_each_alone_is() -> None:
    together = figure_files(figure(), tuple(FORMATS), PrintStyle(), SIGNATURE)
    assert together == {name: figure_file(figure(), name, PrintStyle(), SIGNATURE) for name in FORMATS}


@pytest.mark.parametrize(("columns", "cm"), [("one", 7.7), ("two", 16.0)])
def test_a_figure_is_as_wide_as_the_columns_in_every_format(columns: str, cm: float) -> None:
    style = PrintStyle(columns)
    pdf, svg, png = (figure_file(figure(), file_format, style, {}) for file_format in ("pdf", "svg", "png"))
    points = cm / 2.54 * 72
    box = re.search(rb"/MediaBox \[\s*0 0 ([\d.]+) ([\d.]+)", pdf)
    assert box is not None and float(box[1]) == pytest.approx(points, abs=0.01)
    width = re.search(rb'<svg[^>]* width="([\d.]+)pt"', svg)
    assert width is not None and float(width[1]) == pytest.approx(points, abs=0.01)
    with Image.open(io.BytesIO(png)) as picture:
        assert picture.width == pytest.approx(points / 72 * 300, abs=1)
        assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.1)


def test_the_fonts_of_a_pdf_are_embedded_as_truetype_and_its_text_can_be_searched() -> None:
    pdf = figure_file(figure(), "pdf", PrintStyle(), {})
    assert b"IPAexGothic" in pdf and b"/FontFile2" in pdf and b"/Type3" not in pdf
    streams = b"".join(unpacked(part) for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL))
    assert b"beginbfchar" in streams or b"beginbfrange" in streams  # the table from letters to Unicode


def unpacked(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return stream


def test_the_letters_of_an_svg_are_outlines() -> None:
    svg = figure_file(figure(), "svg", PrintStyle(), {}).decode()
    assert "<text" not in svg and "<!-- トークン数の差 -->" in svg


def test_larger_letters_make_the_figure_no_wider() -> None:
    sizes = []
    for size in (6, 12):
        with Image.open(io.BytesIO(figure_file(figure(), "png", PrintStyle("one", size), {}))) as picture:
            sizes.append(picture.size)
    assert sizes[0][0] == sizes[1][0] and sizes[0][1] != sizes[1][1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda f: f.add_trace(go.Pie(values=[1, 2])), "trace of the type 'pie'"),
        (lambda f: f.update_traces(marker={"gradient": {"type": "radial"}}), "property 'marker.gradient.type'"),
        (lambda f: f.update_traces(error_y={"type": "percent", "value": 10}), "property 'error_y.value'"),
        (lambda f: f.update_xaxes(rangebreaks=[{"bounds": [1, 2]}]), "property 'axis.rangebreaks.bounds'"),
        (lambda f: f.add_shape(type="circle", x0=0, x1=1, y0=0, y1=1), "shape of the type 'circle'"),
        (lambda f: f.update_traces(fill="tozeroy"), "fill 'tozeroy'"),
        (lambda f: f.update_traces(marker={"symbol": "hexagram"}), "marker 'hexagram'"),
        (lambda f: f.update_traces(name="<i>a</i>"), "element 'i'"),
        (lambda f: f.update_yaxes(tickformat="~s"), "number format '~s'"),
    ],
)
def test_what_would_be_lost_in_print_is_refused_by_name(changed: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        figure_file(changed(figure()), "png", PrintStyle(), {})  # type: ignore[operator]


def test_a_format_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="pdf, svg, png; got 'eps'"):
        figure_file(figure(), "eps", PrintStyle(), {})


def test_characters_that_no_font_has_are_named_and_others_find_a_font() -> None:
    named = figure(title={"text": f"髙橋 Ж é العربية 😀 {NO_FONT}"})
    assert missing_characters(named) == NO_FONT
    assert missing_characters(figure()) == ""
    with pytest.warns(UserWarning, match="Glyph 1114109"):
        assert figure_file(named, "pdf", PrintStyle(), {})


@pytest.mark.nightly
def test_the_web_process_imports_matplotlib_with_the_first_file_only() -> None:
    code = (
        "import sys, dashboard.shared.run_view, dashboard.alignment.pair\n"
        "assert not {'matplotlib', 'matplotlib_fontja'} & set(sys.modules)\n"
        "import plotly.graph_objects as go\n"
        "from dashboard.shared.exports.print.files import figure_file\n"
        "from dashboard.shared.exports.print.style import PrintStyle\n"
        "figure_file(go.Figure(go.Bar(x=[1], y=[1])), 'svg', PrintStyle(), {})\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
