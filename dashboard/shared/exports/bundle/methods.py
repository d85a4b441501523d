"""The methods paragraph of a run: what was evaluated and how, in whole sentences with citations, from its signature.

A statement is a sentence's name with its parts; the sentences stand in `english` and `japanese`, and every one of them
in both. Nothing is said that the signature does not hold. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.shared.exports.bundle import english, japanese
from dashboard.shared.exports.bundle.bertscore import alignment, metric_study
from dashboard.shared.exports.bundle.parts import Choice, Cited, Models, Named, Names, Phrase, Statement
from dashboard.shared.exports.bundle.references import WORKS, Work, bibtex, model_work
from dashboard.shared.exports.bundle.vectors import by_value, vectors
from dashboard.shared.exports.signing import digest
from dashboard.shared.exports.tables import latex
from dashboard.shared.exports.tables import markdown as markdown_text
from engine.evaluations.clusters.records import EXCLUDE, SIGNED_LONE
from engine.evaluations.shared.left_out import SIGNED as UNUSABLE
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.models.sources.names import shown_name
from engine.translation import in_language, tr

LANGUAGES = {"en": english, "ja": japanese}
# The first line in LaTeX.
PACKAGES = "% references.bib needs \\usepackage{url} or \\usepackage{hyperref}, for \\url.\n"
# Round the keys of a citation, until the text is written in a format: characters of the private use area.
_BEGIN, _END = "\ue010", "\ue011"
_CITED = re.compile(f"{_BEGIN}([^{_END}]*){_END}")
ITEMS = {"clusters": "sentences", "classification": "sentences", "fill-mask": "masked", "alignment": "pairs",
         "metric-study": "pairs", "minimal-pairs": "minimal"}


@dataclass(frozen=True)
class Methods:
    """What the paragraph says, and the works that it cites by key."""

    statements: tuple[Statement, ...]
    works: Mapping[str, Work]

    def text(self, language: str) -> str:
        """The paragraph as plain text, citations between marks."""
        words = LANGUAGES[language]
        return words.SEPARATOR.join(words.SENTENCES[statement.name].format(
            **{name: _worded(part, words) for name, part in statement.parts.items()}) for statement in self.statements)

    def markdown(self, language: str) -> str:
        """The paragraph in Markdown with citations as Pandoc reads them."""
        return _written(self.text(language), markdown_text.escape,
                        lambda keys: f"[{'; '.join(f'@{key}' for key in keys)}]") + "\n"

    def latex(self, language: str) -> str:
        r"""The paragraph in LaTeX with \cite."""
        written = _written(self.text(language), latex.escape_text, lambda keys: rf"\cite{{{','.join(keys)}}}")
        return f"{PACKAGES}{written}\n"

    def bibtex(self) -> str:
        """The works that are cited."""
        cited = [key for match in _CITED.finditer(self.text("en")) for key in match[1].split(",")]
        return bibtex(self.works, cited)


def methods(kind: str, signature: Mapping[str, Any], dataset_name: str, n_items: int, n_excluded: int = 0, *,
            several_references: bool = False) -> Methods:
    """The paragraph of a run of `kind`, from the signature of what is shown. n_excluded: items left out by models.

    several_references: whether a pair of the data has more than one.

    A setting that the signature of an earlier version lacks is not spoken of.
    """
    entries = {f"model-{number}": work for number, model in enumerate(signature.get("models", ()), start=1)
               if (work := model_work(model["name"], model.get("revision"))) is not None}
    models = Names(tuple(
        Named(str(model.get("model") or model["name"]), str(model.get("revision") or ""),
              key if (key := f"model-{number}") in entries else "", str(model.get("label") or ""))
        for number, model in enumerate(signature.get("models", ()), start=1)))
    versions = signature.get("versions", {})
    dtypes = Names(tuple(dict.fromkeys(model["dtype"] for model in signature.get("models", ())
                                       if model.get("dtype") and not model.get("endpoint"))))
    served = [model for model in signature.get("models", ()) if model.get("endpoint")]
    statements = [
        Statement("data", {"models": models, "n": n_items, "items": Choice("items", ITEMS[kind]),
                           "dataset": dataset_name}),
        *_OF_KIND[kind](signature),
        *([Statement("best reference")] if several_references else []),
        *([Statement("unusable", {"n": signature[UNUSABLE]})] if signature.get(UNUSABLE) else []),
        *([Statement("excluded", {"n": n_excluded})] if n_excluded else []),
        *([Statement("computed", {"dtype": dtypes, "torch": versions["torch"], "transformers": versions["transformers"],
                                  "cite": Cited(("wolf2020transformers",)),
                                  "whom": Models(tuple(str(model["name"]) for model in signature["models"]
                                                       if not model.get("endpoint")) if served else ())})]
          if "torch" in versions and dtypes.items else []),
        *(_served(model) for model in served),
        Statement("tool", {"version": versions.get("hakari", ""), "signature": digest(signature)}),
    ]
    return Methods(tuple(statements), {**WORKS, **entries})


def _served(model: Mapping[str, Any]) -> Statement:
    """What computed a model behind a server."""
    server = model["endpoint"]
    version = {"version": server["version"]} if server.get("version") else {}
    return Statement("served" if version else "served without version", {
        "whom": shown_name(str(model["name"])), "model": server["model"], **version})


def _normalised(settings: Mapping[str, Any]) -> Iterator[Statement]:
    if settings.get("normalize"):
        yield Statement("normalised", {"steps": Names(tuple(settings["normalize"]))})


def _clusters(signature: Mapping[str, Any]) -> Iterator[Statement]:
    settings = signature["settings"]
    yield from vectors(signature)
    yield from _normalised(settings)
    yield Statement("dispersions", {"cite": Cited(("shibayama2020clustering",))})
    if settings.get("lone_classes") == EXCLUDE and signature.get(SIGNED_LONE, True):
        yield Statement("lone classes")
    if "resamples" in settings:
        yield Statement("cluster intervals", {"n": settings["resamples"], "seed": str(settings["seed"]),
                                              "cite": Cited(("efron1993",)), "permuted": Cited(("phipson2010",))})
    yield Statement("validity", {
        "silhouette": Cited(("rousseeuw1987",)), "calinski": Cited(("calinski1974",)),
        "davies": Cited(("davies1979",)), "measure": Cited(("rosenberg2007",)),
        "rand": Cited(("hubert1985",)), "nmi": Cited(("strehl2002",)),
        "library": Cited(("pedregosa2011",)), "version": signature.get("versions", {}).get("scikit-learn", "")})
    if settings.get("projection") == "umap":
        yield Statement("umap", {"neighbours": settings["n_neighbors"], "distance": settings["min_dist"],
                                 "metric": settings["metric"], "seed": str(settings["seed"]),
                                 "cite": Cited(("mcinnes2018umap",)),
                                 "version": signature.get("versions", {}).get("umap-learn", "")})
    elif settings.get("projection") == "pca":
        yield Statement("pca")


def _classification(signature: Mapping[str, Any]) -> Iterator[Statement]:
    settings = signature["settings"]
    seeds = signature.get("run_seeds", ())
    yield from vectors(signature)
    yield from _normalised(settings)
    yield Statement("network", {
        "cite": Cited(("shibayama2020nlp",)), "hidden": Names(tuple(settings["hidden"])), "epochs": settings["epochs"],
        "batch": settings["batch_size"], "runs": settings["seeds"], "first": str(settings["seed"]),
        "last": str(seeds[-1] if seeds else settings["seed"])})
    if settings.get("standardize"):
        yield Statement("standardised")
    yield Statement("split", {"share": f"{100 * settings['test_share']:g}",
                              "split": Choice("split", settings["split"])})
    yield Statement("accuracy intervals", {"cite": Cited(("wilson1927",))})


def _fill_mask(signature: Mapping[str, Any]) -> Iterator[Statement]:
    settings = signature["settings"]
    yield from _normalised(settings)
    yield Statement("mask", {"cite": Cited(("shibayama2020clustering",))})
    if "resamples" in settings:
        # Runs of before have a percentile interval.
        yield Statement("mask intervals" if signature.get("mask_intervals") else "mask percentiles", {
            "n": settings["resamples"], "seed": str(settings["seed"]), "cite": Cited(("efron1993",))})


def _minimal_pairs(signature: Mapping[str, Any]) -> Iterator[Statement]:
    settings, rules = signature["settings"], tuple(signature.get("scoring", {}).values())
    yield Statement("decision", {"cite": Cited(("ueda2024",))})
    if any("causal" in rule for rule in rules):
        yield Statement("causal")
        for tokens, of_models in by_value(signature.get("prefixes", {})).items():
            yield Statement("prefix", {"tokens": tokens, "whom": Models(of_models)}) if tokens else Statement(
                "no prefix", {"whom": Models(of_models)})
        if settings.get("leading_space"):
            yield Statement("leading space")
    if any("causal" not in rule for rule in rules):
        cited = "salazar2020" if settings["pll"] == "original" else "kauf2023"
        yield Statement(f"pll {settings['pll']}", {"cite": Cited((cited,))})
        if settings["pll"] == "word-l2r" and settings.get("words") in english.WORDS["words"]:
            yield Statement("words of pll", {"words": Choice("words", settings["words"])})
    if settings.get("shared_tokens"):
        yield Statement("shared tokens", {"cite": Cited(("nangia2020crows",))})
    shown = signature.get("normalization", "LP")
    if (score := NORMALIZATIONS.get(shown)) is not None:
        yield Statement("cited score" if score.cites else "score", {
            "score": Phrase(score.in_words), **({"cite": Cited(score.cites)} if score.cites else {})})
        if score.has_alpha and "alpha" in signature:
            yield Statement("alpha", {"alpha": f"{signature['alpha']:g}"})
        if score.by_unigrams and signature.get("unigrams"):
            yield Statement("unigrams", {"corpus": signature["unigrams"]})
    if signature.get("subset", "all") in english.WORDS["subset"]:
        yield Statement("subset", {"subset": Choice("subset", signature["subset"])})
    if signature.get("region", "") in english.WORDS["region"]:
        yield Statement("region", {"region": Choice("region", signature["region"])})
    holm = Cited(("holm1979",))
    if signature.get("clustered_by"):
        yield Statement("intervals over clusters", {
            "column": signature["clustered_by"], "miller": Cited(("miller2024",)), "korn": Cited(("korn1998",)),
            "holm": holm})
    else:
        yield Statement("pair intervals", {"wilson": Cited(("wilson1927",)), "mcnemar": Cited(("mcnemar1947",)),
                                           "holm": holm})


_OF_KIND = {"clusters": _clusters, "classification": _classification, "fill-mask": _fill_mask,
            "alignment": alignment, "metric-study": metric_study, "minimal-pairs": _minimal_pairs}
KINDS = tuple(_OF_KIND)


def _worded(part: Any, words: Any) -> str:
    """A part in the words of a language."""
    if isinstance(part, Choice):
        return str(words.WORDS[part.group][part.name])
    if isinstance(part, Phrase):
        with in_language(words.LANGUAGE):
            return tr(part.text)
    if isinstance(part, Cited):
        return f"{_BEGIN}{','.join(part.keys)}{_END}"
    if isinstance(part, Names):
        return str(words.listed([_worded(item, words) for item in part.items]))
    if isinstance(part, Models):
        return words.OF_MODELS.format(models=words.listed(list(map(shown_name, part.names)))) if part.names else ""
    if isinstance(part, Named):
        form = (words.LABELLED if part.label else words.MODEL)[bool(part.revision)]
        name = form.format(name=part.name, revision=part.revision, label=part.label)
        return words.WITH_CITATION.format(name=name, cite=f"{_BEGIN}{part.key}{_END}") if part.key else name
    return f"{part:,}" if isinstance(part, int) else str(part)


def _written(text: str, escape: Any, cite: Any) -> str:
    """The text in a format: `escape` for what is no citation, `cite` for the keys of one."""
    parts: Sequence[str] = _CITED.split(text)
    return "".join(cite(part.split(",")) if index % 2 else escape(part) for index, part in enumerate(parts))
