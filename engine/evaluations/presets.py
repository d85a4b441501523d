"""Settings by name that every installation has: as the papers evaluated, and what else is chosen as a whole.

A preset says nothing of models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.evaluations.alignment import records as alignment
from engine.evaluations.classification import records as classification
from engine.evaluations.clusters import records as clusters
from engine.evaluations.fill_mask import records as fill_mask
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.messages.message import Message


@dataclass(frozen=True)
class Preset:
    """name: on the command line. title: for readers. settings: of the kind, without models."""

    name: str
    title: str
    settings: Any


_SHIBAYAMA = Message("As in the paper (Shibayama 2020)")
_NOVELS = Message("As in the paper (novel translation)")

PRESETS: Mapping[str, tuple[Preset, ...]] = {
    "clusters": (
        # Section 3.1: the embedding of the CLS token in the output of the model; its sums are over all classes.
        Preset("shibayama-2020", _SHIBAYAMA, clusters.Settings((), pooling="cls", lone_classes=clusters.KEEP)),
        Preset(
            "mean-over-tokens",
            Message("Mean over tokens, for models without a CLS token"),
            clusters.Settings((), pooling="mean-without-special"),
        ),
    ),
    "classification": (
        # The paper of the same group for the NLP meeting of 2020, section 5.2.
        Preset("shibayama-2020", _SHIBAYAMA, classification.Settings((), pooling="cls")),
        Preset(
            "mean-over-tokens",
            Message("Mean over tokens, for models without a CLS token"),
            classification.Settings((), pooling="mean-without-special"),
        ),
    ),
    "fill-mask": (
        # Section 3.3: ＣＤ in half width. Lower case was for one model alone, whose vocabulary has cd and not CD.
        Preset("shibayama-2020", _SHIBAYAMA, fill_mask.Settings((), normalize=("nfkc",))),
    ),
    "alignment": (
        Preset("names-by-reading", Message("Names by reading"), alignment.Settings(())),
        # Sections 3 and 4.3: idf of novels, a penalty on low-frequency tokens by the edit distance of readings.
        Preset(
            "novel-translation",
            _NOVELS,
            alignment.Settings((), scoring=alignment.Scoring(idf="novel", penalty="reading")),
        ),
        Preset(
            "bertscore",
            Message("Plain BERTScore (Zhang 2020)"),
            alignment.Settings((), scoring=alignment.Scoring(penalty="none")),
        ),
    ),
    "metric-study": (
        # Section 4.3: two dictionaries, without and with the penalty.
        Preset(
            "novel-translation",
            _NOVELS,
            metric_study.Settings((), idfs=metric_study.IDFS, penalties=("none", "reading")),
        ),
        Preset(
            "names-by-reading",
            Message("Names by reading"),
            metric_study.Settings((), idfs=("none", *metric_study.IDFS), penalties=("none", "names")),
        ),
    ),
    "minimal-pairs": (
        # Section 4, set-up: PLL-word-l2r for masked models, by minicons.
        Preset("ueda-2024", Message("As in the paper (Ueda 2024)"), minimal_pairs.Settings((), pll="word-l2r")),
        Preset(
            "salazar-2020",
            Message("Each token masked alone (Salazar 2020)"),
            minimal_pairs.Settings((), pll="original"),
        ),
        # babylm-org/babylm-eval: each token masked alone; what the tokenizer itself puts before a text, which is nothing
        # in its baselines. Its way of counting is in the tables of `babylm`.
        Preset(
            "babylm",
            Message("As BabyLM"),
            minimal_pairs.Settings((), pll="original", prefix="template"),
        ),
    ),
}


def preset(kind: str, name: str) -> Preset:
    """A preset by its name. Raises KeyError."""
    return {known.name: known for known in PRESETS[kind]}[name]
