"""A setting declared once: what the declaration says, what the check refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any

import pytest

from engine.datasets.corpora.corpus import UNITS
from engine.datasets.labelled.livedoor import PARTS, Drawing
from engine.datasets.labelled.webis import SPLITS, Reviews
from engine.datasets.masked.masked_building import Building
from engine.errors import InputError
from engine.evaluations.alignment.records import THRESHOLDS, Scoring
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.minimal_pairs.records import PairScoring
from engine.measures.clusters.neighbours import METRICS
from engine.models.pretraining import settings as pretraining
from engine.models.scoring.sentence_vectors import POOLINGS
from engine.options import check, check_value, option, option_of, options_of, records_in, with_current_names

RECORDS = (
    *(evaluation.settings_type for evaluation in EVALUATIONS.values()),
    Scoring,
    PairScoring,
    Building,
    Drawing,
    Reviews,
    pretraining.Settings,
    pretraining.Running,
)
CLUSTERS = EVALUATIONS["clusters"].settings_type
UNDECLARED = {"models", "model", "name", "architecture", "scoring"}  # without a default, or a record of its own


@dataclass(frozen=True)
class Inner:
    kind: str = option("a", "Kind.", choices={"a": "the first", "b": ""})


@dataclass(frozen=True)
class Sample:
    n: int = option(5, "Number.", least=1, most=1000)
    share: float = option(0.5, "Share.", least=0, most=1, exclusive=True, unit="of all")
    layer: int | None = option(None, "Layer.", least=0, unset="the last")
    widths: tuple[int, ...] = option(
        (2, 3), "Widths.", least=1, least_items=1, formerly={"wide": {True: (9,), False: (1,)}}
    )
    inner: Inner = field(default_factory=Inner)


def test_settings_under_a_former_name_are_what_they_are_now() -> None:
    assert with_current_names(Sample, {"wide": True, "n": 7}) == {"n": 7, "widths": (9,)}
    assert with_current_names(Sample, {"wide": False, "widths": (4,)}) == {"widths": (4,)}
    stored = {"wide": True}
    assert with_current_names(Sample, stored) != stored == {"wide": True}
    with pytest.raises(InputError, match="wide, now widths, was one of True, False; got 'yes'"):
        with_current_names(Sample, {"wide": "yes"})


def test_a_declaration_knows_its_field() -> None:
    options = options_of(Sample)
    assert list(options) == ["n", "share", "layer", "widths"] and list(records_in(Sample)) == ["inner"]
    assert [(one.kind, one.several) for one in options.values()] == [
        (int, False),
        (float, False),
        (int, False),
        (int, True),
    ]
    assert (Sample().n, options["n"].default, options["n"].name) == (5, 5, "n")
    assert option_of(Inner, "kind").meanings == {"a": "the first"}
    with pytest.raises(KeyError):
        option_of(Sample, "inner")


@pytest.mark.parametrize(
    "changed", [{}, {"n": 1}, {"n": 1000}, {"share": 0.999}, {"layer": 0}, {"widths": (1,)}, {"inner": Inner("b")}]
)
def test_what_is_within_the_bounds_passes(changed: dict[str, Any]) -> None:
    check(Sample(**changed))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n": 0}, "n must be between 1 and 1,000; got 0."),
        ({"n": 1001}, "n must be between 1 and 1,000; got 1001."),
        ({"n": 10**400}, f"n must be between 1 and 1,000; got {10**400}."),  # no float is so large
        ({"share": 0.0}, "share must be strictly between 0 and 1 (of all); got 0.0."),
        ({"share": float("nan")}, "share must be strictly between 0 and 1 (of all); got nan."),
        ({"layer": -1}, "layer is at least 0; got -1."),
        ({"widths": ()}, "widths holds at least 1 value; got ()."),
        ({"widths": (2, 0)}, "widths is at least 1; got 0."),
        ({"inner": Inner("c")}, "kind is one of a, b; got 'c'."),
    ],
)
def test_what_is_not_is_refused_in_words(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        check(Sample(**changed))


@pytest.mark.parametrize(
    ("record_type", "name", "known"),
    [
        (CLUSTERS, "pooling", POOLINGS),
        (CLUSTERS, "metric", METRICS),
        (EVALUATIONS["dictionary"].settings_type, "unit", UNITS),
        (Drawing, "part", PARTS),
        (Reviews, "split", SPLITS),
    ],
)
def test_the_layer_below_knows_the_same_choices(record_type: type[Any], name: str, known: Any) -> None:
    assert tuple(option_of(record_type, name).choices) == tuple(known)


def test_one_text_is_no_list_of_them() -> None:
    """Its letters would be the values."""
    declared = option_of(EVALUATIONS["minimal-pairs"].settings_type, "in_template")
    check_value(declared, ("So: {sentence}",))
    with pytest.raises(
        InputError, match=re.escape("in_template is a list, also of one value, such as ['So: {sentence}']")
    ):
        check_value(declared, "So: {sentence}")
    with pytest.raises(InputError, match=re.escape("such as ['1', 'a']; got (1, 'a')")):
        check_value(declared, (1, "a"))


def test_no_bound_lets_infinity_pass() -> None:
    with pytest.raises(InputError, match="threshold is at least 0"):
        check_value(THRESHOLDS["value"], float("inf"))


@pytest.mark.parametrize("record_type", RECORDS, ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_every_setting_is_declared_with_a_default_that_can_be(record_type: type[Any]) -> None:
    assert {one.name for one in fields(record_type)} - set(options_of(record_type)) <= UNDECLARED
    for declared in options_of(record_type).values():
        check_value(declared, declared.default)
        assert re.fullmatch(r"[^\n]+\.", declared.help), f"{declared.name}: one line, in sentences"
        assert declared.unset or declared.default is not None
        assert declared.kind in (int, float, bool, str)
        if declared.shown_most is not None:
            assert declared.most is None or declared.shown_most <= declared.most
