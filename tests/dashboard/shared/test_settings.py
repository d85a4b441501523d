"""Every widget of a setting has the default, bounds, choices and help of its declaration, on every page."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared import dictionaries, session
from dashboard.shared.inputs import settings
from dashboard.shared.wording import verbatim
from engine.datasets import sample_data
from engine.datasets.labelled import livedoor, webis
from engine.datasets.masked.masked_building import Building
from engine.evaluations.alignment import records as alignment
from engine.evaluations.classification import records as classification
from engine.evaluations.clusters import records as clusters
from engine.evaluations.dictionary import records as dictionary
from engine.evaluations.fill_mask import records as fill_mask
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.messages.languages import in_language
from engine.options import Option, options_of
from tests.evaluations.minimal_pairs.reading.test_reading_times import as_csv, challenge_rows
from tests.support.fakes import FakeBackend
from tests.support.layouts.livedoor import files, tar_gz
from tests.support.page_visits import SECONDS, drawn, visit

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")

FORMS = sorted((Path(__file__).parents[3] / "dashboard").rglob("*.py"))
WIDGETS = (
    "number",
    "slider",
    "percent",
    "repeated",
    "toggle",
    "segments",
    "pills",
    "one_of",
    "list_of",
    "several_of",
    "typed",
    "typed_lines",
    "typed_texts",
    "typed_words",
)
IN_THE_LINK = alignment.Scoring(idf="references", penalty="reading")
PRESETS = (
    alignment.ONE_PAIR,
    IN_THE_LINK,
    alignment.Scoring(),
    minimal_pairs.PairScoring(),
    dictionary.PASTED,
    livedoor.AS_IN_THE_PAPERS,
)
# Widgets of the inputs that are no settings: where the data comes from, the models, what the page shows; and those that
# offer less than their setting, or columns of the data.
OTHERS = re.compile(
    r"[a-z-]+-(source|sample|models|model)|fill-mask-words|alignment-extent|corpora-view-.*|([a-z-]+-sample-)?language-buttons|"
    r"alignment-rescale|metric-annotators|corpora-counted|minimal-pairs-(form|column|header|quoting|encoding|sheet)-.*"
)
# Settings that the command line alone has.
NOT_ON_A_PAGE = {
    (classification.Settings, "batch_size"),
    (classification.Settings, "test_share"),
    (fill_mask.Settings, "top"),
    (fill_mask.Settings, "resamples"),
    (fill_mask.Settings, "seed"),
    (webis.Reviews, "language"),
    (minimal_pairs.PairScoring, "by"),
    (minimal_pairs.PairScoring, "levels"),
    (minimal_pairs.PairScoring, "clustered_by"),
    (minimal_pairs.PairScoring, "folds"),
    (minimal_pairs.PairScoring, "region"),
    (minimal_pairs.Settings, "ratings"),
    (minimal_pairs.Settings, "tokenizer"),  # where scores are uploaded it is asked for
    (minimal_pairs.PairScoring, "predictions"),
    (clusters.Settings, "class_columns"),
    (dictionary.Settings, "words"),
    (metric_study.Settings, "metric_columns"),
    (metric_study.Settings, "system_column"),
    (metric_study.Settings, "annotators"),
    (metric_study.Settings, "entity_column"),
    (metric_study.Settings, "lower_columns"),
    (alignment.Settings, "rescale"),
    (alignment.Settings, "rescale_pairs"),
    (alignment.Settings, "rescale_seed"),
}


@dataclass(frozen=True)
class Drawn:
    """A call of a widget of `dashboard.shared.inputs.settings`."""

    widget: str
    option: Option
    arguments: dict[str, Any]

    @property
    def first(self) -> Any:
        """What the widget is to be set to at first, told from the declaration and the preset alone."""
        preset = self.arguments.get("first")
        return self.option.default if preset is None else getattr(preset, self.option.name)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Drawn]]:
    """What is drawn through the helpers, while they draw it."""
    seen: list[Drawn] = []

    def spied(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(draw)
        def drawing(*given: Any, **arguments: Any) -> Any:
            option = next(value for value in given if isinstance(value, Option))
            seen.append(Drawn(name, option, arguments))
            return draw(*given, **arguments)

        return drawing

    for name in WIDGETS:
        monkeypatch.setattr(settings, name, spied(name, getattr(settings, name)))
    yield seen


def number_ends(option: Option) -> tuple[float | None, float | None]:
    return option.least, option.most if option.shown_most is None else option.shown_most


def check(app: AppTest, call: Drawn) -> None:
    """Compare the widget that the browser is sent with the declaration."""
    option, arguments = call.option, call.arguments
    if call.widget == "repeated":
        value, times = (app.get_by_key(key) for key in arguments["keys"])
        assert (value.value, value.min, value.max) == (option.default[0], *number_ends(option))
        assert (times.value, times.min, times.max) == (len(option.default), option.least_items, option.shown_items)
        assert value.help == times.help
        assert value.help.startswith(verbatim(option.help))
        return
    element = app.get_by_key(arguments["key"])
    if "help" not in arguments:
        assert element.help.startswith(verbatim(option.help)), element.key
        for choice, meaning in option.meanings.items():
            on_widget = (arguments.get("words") or {}).get(choice) or option.labels.get(choice, str(choice))
            assert f"**{verbatim(on_widget)}**: {verbatim(meaning)}" in element.help
    if call.widget in ("number", "slider"):
        assert (element.value, element.min, element.max) == (call.first, *number_ends(option)), element.key
        assert getattr(element, "placeholder", "") == option.unset or option.default is not None
    elif call.widget == "percent":
        assert (element.value, element.min, element.max) == tuple(
            round(100 * part) for part in (call.first, option.least, option.most)
        )
    elif call.widget == "typed":
        assert (element.value, element.placeholder) == (call.first or "", option.unset), element.key
    elif call.widget == "typed_lines":
        assert element.value == call.first.replace(";", "\n"), element.key
    elif call.widget == "typed_texts":
        assert element.value == "\n---\n".join(call.first), element.key
    elif call.widget == "typed_words":
        assert element.value == ",".join(call.first)
    else:
        assert element.value == (list(call.first) if option.several else call.first), element.key
    if call.widget in ("segments", "pills"):
        choices = [choice for choice in option.choices if choice not in arguments.get("but", ())]
        words = {**option.labels, **(arguments.get("words") or {})}
        assert element.options == [words.get(choice, str(choice)) for choice in choices]


def check_all(app: AppTest, calls: list[Drawn], *chosen: str) -> list[Option]:
    """Compare every widget of the page, save those that were `chosen`; returns the settings that they stand for.

    The calls are forgotten. Where no result is shown, every widget that is not one of OTHERS must be a setting's.
    """
    keys: set[str] = set()
    for call in calls:
        if call.arguments.get("key") not in chosen:
            check(app, call)
        keys |= {*call.arguments.get("keys", ()), call.arguments.get("key", "")}
        preset = call.arguments.get("first")
        assert preset is None or preset in PRESETS or replace(preset, per_category=100) in PRESETS, call
    kinds = (
        app.number_input,
        app.slider,
        app.toggle,
        app.get("button_group"),
        app.selectbox,
        app.multiselect,
        app.checkbox,
        app.radio,
        app.select_slider,
    )
    for elements in kinds if not app.query_params.get("run") else ():
        for element in elements:
            assert element.key in keys or OTHERS.fullmatch(element.key), f"{element.key} is a setting of its own"
    options = [call.option for call in calls]
    calls.clear()
    return options


def check_with(app: AppTest, calls: list[Drawn], key: str, value: Any) -> list[Option]:
    """`check_all` once a widget has been set to another value."""
    app.get_by_key(key).set_value(value)
    calls.clear()
    return check_all(drawn(app), calls, key)


def finished(kind: str, asked: Any, dataset: Any) -> str:
    runs = session.engine().runs
    run_id = runs.submit(kind, asked, dataset).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def require(options: list[Option], *record_types: type[Any]) -> None:
    """Every setting of the records has been drawn, from its own declaration, unless it is known not to be."""
    for record_type in record_types:
        for name, option in options_of(record_type).items():
            expected = tuple(alignment.THRESHOLDS.values()) if name == "threshold" else (option,)
            for one in expected if (record_type, name) not in NOT_ON_A_PAGE else ():
                assert any(one is other for other in options), f"{record_type.__module__}: {name} has no widget"


def test_the_help_calls_a_choice_what_the_widget_calls_it() -> None:
    pooling, region = options_of(clusters.Settings)["pooling"], options_of(minimal_pairs.PairScoring)["region"]
    assert "**Mean of all tokens**: " in settings.help_text(pooling)
    with in_language("ja"):
        assert "**異なる単語**: " in settings.help_text(region)


@pytest.mark.parametrize(
    ("page", "record_type"), [("clusters", clusters.Settings), ("classification", classification.Settings)]
)
def test_labelled_sentences(backend: FakeBackend, calls: list[Drawn], page: str, record_type: type[Any]) -> None:
    app = visit(page)
    options = check_all(app, calls)
    for correction in ("whitening", "all-but-the-top") if page == "clusters" else ():
        options += check_with(visit(page), calls, "clusters-correction", correction)
    calls.clear()
    app.get_by_key(f"{page}-source").set_value("upload")
    drawn(app).file_uploader[0].upload("ldcc.tar.gz", tar_gz(files()))
    calls.clear()
    require(options + check_all(drawn(app), calls), record_type, livedoor.Drawing)


def test_fill_mask(backend: FakeBackend, calls: list[Drawn]) -> None:
    app = visit("fill_mask")
    options = check_all(app, calls)
    for source in ("build", "webis"):
        options += check_with(app, calls, "fill-mask-words", source)
    require(options, fill_mask.Settings, Building, webis.Reviews)


def test_alignment(backend: FakeBackend, calls: list[Drawn]) -> None:
    app = visit("alignment")
    options = check_all(app, calls)
    options += check_with(app, calls, "alignment-extent", "dataset")
    run_id = finished("alignment", alignment.Settings(("owner/first",)), sample_data.sentence_pairs())
    app = visit("alignment", run=run_id, idf="references", penalty="reading")
    assert any(call.arguments.get("first") == IN_THE_LINK for call in calls)
    options += check_all(app, calls)
    options += check_with(app, calls, f"alignment-threshold-kind-{run_id}", "value")
    require(options, alignment.Settings, alignment.Scoring)


def test_metric_study(backend: FakeBackend, calls: list[Drawn]) -> None:
    app = visit("metric_study")
    options = check_all(app, calls)
    options += check_with(app, calls, "metric-study-threshold-kind", "value")
    grid = [options_of(alignment.Scoring)[name] for name in ("idf", "penalty")]  # the grid goes through all of them
    require(options + grid, metric_study.Settings, alignment.Scoring)


def test_minimal_pairs(backend: FakeBackend, calls: list[Drawn], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionaries, "choices", lambda *_, **__: {"novel": "novel"})
    app = visit("minimal_pairs")
    options = check_all(app, calls)
    options += check_with(app, calls, "minimal-pairs-precision", "exact-decisions")
    options += check_with(visit("minimal_pairs"), calls, "minimal-pairs-encoder_reads", "text")
    options += check_with(visit("minimal_pairs"), calls, "minimal-pairs-prompts", "own")
    app = visit("minimal_pairs")
    app.get_by_key("minimal-pairs-source").set_value("upload")
    drawn(app).file_uploader(key="minimal-pairs-files").set_value([("a.txt", "一つの文書。".encode(), "text/plain")])
    calls.clear()
    options += check_all(drawn(app), calls)  # windows are of running text
    app = visit("minimal_pairs")
    app.get_by_key("minimal-pairs-source").set_value("upload")
    reading = as_csv(challenge_rows()).encode()
    drawn(app).file_uploader(key="minimal-pairs-files").set_value([("reading.csv", reading, "text/csv")])
    calls.clear()
    options += check_all(drawn(app), calls)  # layers are of reading times
    run_id = finished("minimal-pairs", minimal_pairs.Settings(("owner/gpt",)), sample_data.minimal_pairs())
    app = visit("minimal_pairs", run=run_id)
    for score in ("PenLP", "SLOR"):
        options += check_with(app, calls, f"minimal-pairs-normalization-{run_id}", score)
    require(options, minimal_pairs.Settings, minimal_pairs.PairScoring)


def test_dictionary(backend: FakeBackend, calls: list[Drawn]) -> None:
    app = visit("dictionary")
    options = check_with(app, calls, "corpora-view-", "build")
    options += check_with(app, calls, "corpora-source", "paste")
    require(options, dictionary.Settings)


def constants_in(node: ast.AST) -> list[Any]:
    return [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant) and inner.value is not None]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: "/".join(path.parts[-2:]))
def test_no_form_types_a_default_or_a_bound(path: Path) -> None:
    """What is drawn for a setting is given a declaration, a label, a key, and what it looks like: nothing else."""
    look = {
        "key",
        "keys",
        "words",
        "width",
        "step",
        "disabled",
        "wrap",
        "help",
        "label_visibility",
        "placeholder",
        "persist_state",
        "format_func",
        "but",
        "usual",  # of the models that are chosen, not of the declaration
    }
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in WIDGETS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "settings"
        ):
            continue
        for keyword in node.keywords:
            if keyword.arg == "first":
                assert not [value for value in constants_in(keyword.value) if isinstance(value, int | float)]
            else:
                assert keyword.arg is None or keyword.arg in look, f"{path}:{node.lineno} {keyword.arg}"
            if keyword.arg == "help":
                assert not constants_in(keyword.value) or isinstance(keyword.value, ast.Call)
        assert not any(isinstance(value, int | float) for argument in node.args for value in constants_in(argument))


@pytest.mark.parametrize(
    "texts",
    [
        ("{sentence}", "one\ntwo\n"),
        ("Question: a\n---\nAnswer:", "---", "--- \n\n---"),  # few-shot prompts have such lines of their own
        ("a\n\\---\n\\\\---", "\\\\", "----"),
    ],
)
def test_texts_of_several_lines_are_those_that_were_put_into_their_field(texts: tuple[str, ...]) -> None:
    assert settings.separate_texts(settings.joined_texts(texts)) == texts
