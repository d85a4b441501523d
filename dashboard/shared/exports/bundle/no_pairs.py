"""What a methods paragraph says of data that are no pairs of an acceptable and an unacceptable sentence: their measures
and intervals, and the windows of running text. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.shared.exports.bundle.parts import Cited, Models, Statement
from dashboard.shared.exports.bundle.vectors import by_value

MEASURES: Mapping[str, Statement] = {
    "stereotypes": Statement("stereotypes", {"cite": Cited(("nangia2020crows",))}),
    "judged": Statement("judged", {"delong": Cited(("delong1988",)), "cola": Cited(("warstadt2019",))}),
    "conditions": Statement("conditions", {"cite": Cited(("gauthier2020",))}),
    "reading": Statement("reading"),
    "acquisition": Statement("acquisition", {"cite": Cited(("chang2022",))}),
    "texts": Statement("running text", {"cite": Cited(("gao2020pile",))}),
}
# What has no score of a sentence: its words or regions are asked alone.
WITHOUT_SCORE = ("conditions", "reading", "acquisition")


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
