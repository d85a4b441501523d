"""Minimal pairs as all pages see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dashboard.minimal_pairs.compared import COMPARED
from dashboard.minimal_pairs.home_figure import draw_length_bias
from dashboard.minimal_pairs.kinds.catalog import page_of
from dashboard.shared.exports.bundle import no_pairs
from dashboard.shared.exports.bundle.parts import Cited, Models, Paragraph, Phrase, Statement
from dashboard.shared.exports.bundle.vectors import by_value
from dashboard.shared.exports.tables.formats import zipped
from dashboard.shared.face import Face, HomeFigure, SampleRun
from dashboard.shared.inputs.inputs import DatasetForm, FurtherSample
from dashboard.shared.inputs.minimal_pairs import pair_files_input
from engine.datasets import sample_data
from engine.datasets.minimal_pairs import pairs
from engine.datasets.minimal_pairs.kinds import PAIRS
from engine.evaluations.catalog import MINIMAL_PAIRS
from engine.evaluations.minimal_pairs.outside.lm_eval_files import lm_eval_files
from engine.evaluations.minimal_pairs.records import MATCHED, OWN_PROMPTS, REGIONS, SUBSETS, Result, Settings
from engine.evaluations.minimal_pairs.scoring_rules import SEQ2SEQ
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import mark
from engine.models.sources.cards import first_built_in
from engine.options import option_of

WORDS = option_of(Settings, "words").phrases
ENCODER = option_of(Settings, "encoder_reads").phrases


def _templates(signature: Mapping[str, Any]) -> Iterator[Statement]:
    """What was scored in templates: the scores alone that there are templates for."""
    settings, facts = signature["settings"], {"n": len(signature["templates"]), "cite": Cited(("ide2025",))}
    if settings.get("prompts") != OWN_PROMPTS or (settings["in_template"] and settings["yes_no"]):
        yield Statement("templates", facts)
    elif settings["in_template"]:
        yield Statement("in-template LP alone", facts)
    else:
        yield Statement("questions alone", facts)
    if settings.get("chat_template"):
        yield Statement("chat template")


def _statements(signature: Mapping[str, Any]) -> Iterator[Statement]:
    settings, rules = signature["settings"], tuple(signature.get("scoring", {}).values())
    of = signature["items"]
    is_text = of == "texts"
    yield no_pairs.MEASURES.get(of, Statement("decision", {"cite": Cited(("ueda2024",))}))
    if any("causal" in rule for rule in rules):
        yield Statement("causal text" if is_text else "causal")
        for tokens, whom in by_value(signature.get("prefixes", {})).items():
            yield (
                Statement("prefix", {"tokens": tokens, "whom": Models(whom)})
                if tokens
                else Statement("no prefix", {"whom": Models(whom)})
            )
        if settings.get("all_layers"):
            yield Statement(
                "layers by logit lens",
                {"cite": Cited(("nostalgebraist2020", "kuribayashi2025")), "holm": Cited(("holm1979",))},
            )
        if settings.get("leading_space"):
            yield Statement("leading space")
        if signature.get("templates"):
            yield from _templates(signature)
    if any(rule.startswith(("pll", "mntp")) for rule in rules):
        cited = "salazar2020" if settings["pll"] == "original" else "kauf2023"
        yield Statement(f"pll {settings['pll']}", {"cite": Cited((cited,))})
        if settings["pll"] == "word-l2r" and settings.get("words") in WORDS:
            yield Statement("words of pll", {"words": Phrase(WORDS[settings["words"]])})
    for rule, whom in by_value(signature.get("scoring", {})).items():
        if rule.startswith("mntp"):
            yield Statement("mntp", {"cite": Cited(("charpentier2024",)), "whom": Models(whom)})
        elif rule == SEQ2SEQ and settings["encoder_reads"] == "text":
            yield Statement("decoder after text", {"text": settings["encoder_text"], "whom": Models(whom)})
        elif rule == SEQ2SEQ and settings["encoder_reads"] == "masked":
            yield Statement("decoder of masks", {"whom": Models(whom)})
        elif rule == SEQ2SEQ:
            yield Statement("decoder", {"given": Phrase(ENCODER[settings["encoder_reads"]]), "whom": Models(whom)})
    if is_text:
        yield from no_pairs.windows(signature)
        return
    if of in no_pairs.WITHOUT_SCORE:
        return
    if settings.get("shared_tokens"):
        yield Statement("shared tokens", {"cite": Cited(("nangia2020crows",))})
    shown = signature.get("normalization", "LP")
    if (score := NORMALIZATIONS.get(shown)) is not None:
        yield Statement(
            "cited score" if score.cites else "score",
            {"score": Phrase(score.in_words), **({"cite": Cited(score.cites)} if score.cites else {})},
        )
        if score.has_alpha and "alpha" in signature:
            yield Statement("alpha", {"alpha": f"{signature['alpha']:g}"})
        if score.by_unigrams and signature.get("unigrams"):
            yield Statement("unigrams", {"corpus": signature["unigrams"]})
    if of == "judged":
        return
    for name, choices in (("subset", SUBSETS), ("region", REGIONS)):
        if signature.get(name) in choices and (phrase := choices[signature[name]].phrase):
            if signature[name] == MATCHED:
                yield Statement("subset drawn", {name: Phrase(phrase), "seed": str(signature["settings"]["seed"])})
            else:
                yield Statement(name, {name: Phrase(phrase)})
    holm = Cited(("holm1979",))
    if signature.get("clustered_by"):
        yield Statement(
            "intervals over clusters",
            {
                "column": signature["clustered_by"],
                "miller": Cited(("miller2024",)),
                "korn": Cited(("korn1998",)),
                "holm": holm,
            },
        )
    else:
        yield Statement(
            "share intervals" if of == "stereotypes" else "pair intervals",
            {"wilson": Cited(("wilson1927",)), "mcnemar": Cited(("mcnemar1947",)), "holm": holm},
        )


def _as_others(result: Result) -> dict[str, Callable[[], bytes]]:
    """Of pairs the samples and results of lm-evaluation-harness."""
    if result.data_kind.n_sentences < 2:
        return {}
    return {
        "lm-evaluation-harness": lambda: zipped({name: text.encode() for name, text in lm_eval_files(result).items()})
    }


FORM = DatasetForm(
    MINIMAL_PAIRS.kind,
    pairs,
    sample_data.minimal_pairs,
    mark("Pairs of one acceptable and one unacceptable sentence, written for this project."),
    "猫が魚を食べた。\t猫が魚に食べた。",
    files=pair_files_input,
    sample_label=mark("Minimal pairs"),
    further_samples={
        "running-text": FurtherSample(
            mark("Running text"),
            sample_data.running_text,
            mark("Short documents of two genres, written for this project."),
        )
    },
)
FACE = Face(
    MINIMAL_PAIRS,
    lambda result: page_of(result).headlines(result),
    FORM,
    SampleRun(
        "Sample: minimal pairs",  # untranslated
        lambda language: Settings(first_built_in("masked", "causal", language=language)),
    ),
    Paragraph(
        "minimal",
        _statements,
        lambda dataset: "minimal" if dataset.data_kind is PAIRS else dataset.data_kind.name,
    ),
    ("length",),
    HomeFigure(mark("Does a model only prefer short sentences?"), draw_length_bias),
    COMPARED,
    suggested_for=("masked", "causal"),
    has_source_files=True,
    as_others=_as_others,
    asked=lambda result: page_of(result).question,
    is_judged=lambda result: page_of(result).is_judged,
)
