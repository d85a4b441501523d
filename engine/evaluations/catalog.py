"""The evaluations by kind: what the queue, the pages and the command line know of them."""

from __future__ import annotations

from engine.datasets.corpus_files import CorpusFiles
from engine.datasets.labelled_sentences import LabelledSentences
from engine.datasets.masked_sentences import MaskedSentences
from engine.datasets.minimal_pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations import (
    bertscore,
    classification,
    clusters,
    corpus_dictionary,
    fill_mask,
    metric_study,
    minimal_pairs,
)
from engine.evaluations.evaluation import Evaluation

EVALUATIONS: dict[str, Evaluation] = {
    "clusters": Evaluation("clusters", "Clusters", clusters.Settings, LabelledSentences, clusters.Result,
                           clusters.evaluate),
    "fill-mask": Evaluation("fill-mask", "Fill-mask", fill_mask.Settings, MaskedSentences, fill_mask.Result,
                            fill_mask.evaluate),
    "classify": Evaluation("classify", "Classification", classification.Settings, LabelledSentences,
                           classification.Result, classification.evaluate),
    "bertscore": Evaluation("bertscore", "Alignment", bertscore.Settings, SentencePairs, bertscore.Result,
                            bertscore.evaluate),
    "metric-study": Evaluation("metric-study", "Metric study", metric_study.Settings, SentencePairs,
                               metric_study.Result, metric_study.evaluate),
    "minimal-pairs": Evaluation("minimal-pairs", "Minimal pairs", minimal_pairs.Settings, MinimalPairs,
                                minimal_pairs.Result, minimal_pairs.evaluate),
    "idf": Evaluation("idf", "Dictionary", corpus_dictionary.Settings, CorpusFiles, corpus_dictionary.Result,
                      corpus_dictionary.evaluate),
}
