"""The evaluations by kind: what the queue, the pages and the command line know of them."""

from __future__ import annotations

from engine.datasets.labelled_sentences import LabelledSentences
from engine.datasets.minimal_pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations import bertscore, clusters, minimal_pairs
from engine.evaluations.evaluation import Evaluation

EVALUATIONS: dict[str, Evaluation] = {
    "clusters": Evaluation("clusters", "Clusters", clusters.Settings, LabelledSentences, clusters.Result,
                           clusters.evaluate),
    "bertscore": Evaluation("bertscore", "Alignment", bertscore.Settings, SentencePairs, bertscore.Result,
                            bertscore.evaluate),
    "minimal-pairs": Evaluation("minimal-pairs", "Minimal pairs", minimal_pairs.Settings, MinimalPairs,
                                minimal_pairs.Result, minimal_pairs.evaluate),
}
