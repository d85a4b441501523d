"""What the methods paragraph says of BERTScore: of alignments and of metric studies, from their signatures. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.shared.exports.bundle.parts import Choice, Cited, Names, Phrase, Statement
from dashboard.shared.exports.bundle.vectors import layers, vectors
from engine.evaluations.alignment.records import OWN_SENTENCES, WITHOUT_DICTIONARY, Scoring
from engine.evaluations.alignment.scoring import WITHOUT_IDF
from engine.measures.idf import OF_WORDS
from engine.measures.name_agreement import LEAST_SHARE, NAME_WEIGHT
from engine.models.sources.names import shown_name
from engine.options import option_of

NAMED_READINGS = 10  # of a list of one's own; of a longer one the paragraph says its length


def _bertscore(signature: Mapping[str, Any], scoring: Mapping[str, Any]) -> Iterator[Statement]:
    """BERTScore itself: layer, unit, special tokens."""
    yield Statement("bertscore", {"cite": Cited(("zhang2020bertscore",)), "layer": layers(signature)})
    if scoring.get("unit") == "word":
        yield Statement("words")
    if "special_tokens" in scoring:
        yield Statement("special", {"special": _phrase(scoring, "special_tokens")})
    if scoring.get("match_special") is False:
        yield Statement("no special matches")


def _phrase(scoring: Mapping[str, Any], name: str) -> Phrase:
    """What a choice of the scoring is in a sentence."""
    option = option_of(Scoring, name)
    return Phrase(option.phrases[scoring.get(name, option.default)])


def _penalty(signature: Mapping[str, Any], scoring: Mapping[str, Any]) -> Iterator[Statement]:
    criterion = scoring.get("criterion", "idf")
    kind = scoring.get("threshold_kind", "quantile")
    yield Statement(
        "penalty",
        {
            "cite": Cited(("novelbertscore",)),
            "criterion": _phrase(scoring, "criterion"),
            "scope": _phrase(scoring, "reading_scope"),
            "pairing": _phrase(scoring, "pairing"),
            "engine": _phrase(scoring, "reading_engine"),
        },
    )
    if criterion not in WITHOUT_IDF:
        yield Statement(
            "share threshold" if kind == "quantile" else "idf threshold", {"threshold": f"{scoring['threshold']:g}"}
        )
    yield from _readings(signature, scoring, merged=scoring.get("sounds") == "merged")


def _names(signature: Mapping[str, Any], scoring: Mapping[str, Any]) -> Iterator[Statement]:
    yield Statement("names", {"weight": f"{NAME_WEIGHT:g}", "share": f"{LEAST_SHARE:.0%}"})
    yield from _readings(signature, scoring, merged=scoring.get("sounds") in ("merged", "auto"))


def _readings(signature: Mapping[str, Any], scoring: Mapping[str, Any], *, merged: bool) -> Iterator[Statement]:
    """Where readings are from, and how they are compared."""
    if merged:
        yield Statement("merged sounds")
    if own := scoring.get("readings"):
        entries = own.split(";")
        yield (
            Statement("own readings", {"list": own})
            if len(entries) <= NAMED_READINGS
            else Statement("many own readings", {"n": f"{len(entries):,}"})
        )
    if signature.get("readings"):
        yield Statement("readings", {"versions": signature["readings"]})


PENALTIES = {"reading": _penalty, "names": _names}


def alignment(signature: Mapping[str, Any]) -> Iterator[Statement]:
    """The sentences on a run of alignment."""
    scoring = signature["settings"]["scoring"]
    yield from _bertscore(signature, scoring)
    if scoring["idf"] in ("none", "references"):
        yield Statement(f"idf {scoring['idf']}")
    else:
        used = tuple(dict.fromkeys(signature.get("dictionaries", {}).values()))
        weighted = "idf of words" if any(f"({OF_WORDS}" in name for name in used) else "idf dictionary"
        yield Statement(weighted, {"dictionaries": Names(used or (scoring["idf"],))})
    if scoring["penalty"] == "none":
        yield Statement("no penalty")
    else:
        yield from PENALTIES[scoring["penalty"]](signature, scoring)
    settings = signature["settings"]
    if settings.get("rescale") == OWN_SENTENCES:
        yield Statement("rescaled", {"n": f"{settings['rescale_pairs']:,}", "seed": str(settings["rescale_seed"])})
    elif settings.get("rescale"):
        yield Statement("rescaled by a list")


def metric_study(signature: Mapping[str, Any]) -> Iterator[Statement]:
    """The sentences on a metric study."""
    settings = signature["settings"]
    yield from _bertscore(signature, settings["scoring"])
    yield Statement(
        "grid",
        {
            "score": Choice("score", settings.get("score", "f1")),
            "idfs": Names(tuple(settings["idfs"])),
            "cite": Cited(("novelbertscore",)),
            "penalties": Names(tuple(Choice("penalty", name) for name in settings["penalties"])),
        },
    )
    yield from _left_out_of_the_grid(signature)
    for name, described in PENALTIES.items():
        if name in settings["penalties"]:
            yield from described(signature, settings["scoring"])
    yield Statement("gold")
    if signature.get("rank_intervals"):
        yield Statement(
            "correlations",
            {"fisher": Cited(("fisher1921",)), "efron": Cited(("efron1981",)), "cliff": Cited(("long1997",))},
        )
    else:  # a run of an earlier version
        yield Statement(
            "correlations, by formula",
            {"fisher": Cited(("fisher1921",)), "bonett": Cited(("bonett2000",)), "fieller": Cited(("fieller1957",))},
        )
    yield Statement("williams", {"cite": Cited(("williams1959", "graham2014"))})
    if signature.get("surface"):
        yield Statement(
            "surface",
            {
                "bleu": Cited(("papineni2002",)),
                "chrf": Cited(("popovic2015",)),
                "sacrebleu": Cited(("post2018",)),
                "signatures": Names(tuple(signature["surface"].values())),
            },
        )
    if settings.get("metric_columns"):
        yield Statement("scores of the data", {"names": Names(tuple(settings["metric_columns"]))})
    if settings.get("lower_columns"):
        yield Statement("lower scores", {"names": Names(tuple(settings["lower_columns"]))})
    yield from vectors(signature, "cosine", "published cosine")


def _left_out_of_the_grid(signature: Mapping[str, Any]) -> Iterator[Statement]:
    """Which combinations there are not: the penalty without a dictionary, and dictionaries that do not fit models."""
    settings = signature["settings"]
    if (
        "none" in settings["idfs"]
        and "reading" in settings["penalties"]
        and settings["scoring"].get("criterion", "idf") not in WITHOUT_IDF
    ):
        yield Statement("grid without idf")
    used = signature.get("dictionaries", {})
    for idf in (idf for idf in settings["idfs"] if used and idf not in WITHOUT_DICTIONARY):
        lacking = tuple(str(model["name"]) for model in signature["models"] if f"{idf}, {model['name']}" not in used)
        if lacking:
            yield Statement("grid without model", {"idf": idf, "models": Names(tuple(map(shown_name, lacking)))})
