"""What a methods paragraph says of running text: its measures, windows and intervals. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.shared.exports.bundle.parts import Cited, Models, Statement
from dashboard.shared.exports.bundle.vectors import by_value


def is_running_text(signature: Mapping[str, Any]) -> bool:
    """Whether a run of minimal pairs is of running text, by its signature."""
    return "windows" in signature


def measured() -> Statement:
    """The first sentence: what is reported."""
    return Statement("running text", {"cite": Cited(("gao2020pile",))})


def windows(signature: Mapping[str, Any]) -> Iterator[Statement]:
    """In which windows which models read a text, where the prefix stands, and over what intervals and tests are."""
    as_texts = {model: "/".join(map(str, of_model)) for model, of_model in signature["windows"].items()}
    for both, whom in by_value(as_texts).items():
        length, stride = both.split("/")
        yield Statement("windows", {"window": length, "stride": stride, "whom": Models(whom)})
    settings, causal = signature["settings"], "causal" in signature.get("scoring", {}).values()
    if causal and as_texts and settings.get("window_prefix") == "first":
        yield Statement("prefix before the text alone")
    yield Statement(
        "text intervals",
        {"seed": str(settings["seed"]), "efron": Cited(("efron1993",)), "holm": Cited(("holm1979",))},
    )
