"""The evaluations by kind: what the queue, the pages and the command line know of them."""

from __future__ import annotations

from engine.datasets.corpora.corpus_files import CorpusFiles
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment import evaluate as alignment
from engine.evaluations.classification import evaluate as classification
from engine.evaluations.clusters import evaluate as clusters
from engine.evaluations.dictionary import evaluate as dictionary
from engine.evaluations.fill_mask import evaluate as fill_mask
from engine.evaluations.metric_study import evaluate as metric_study
from engine.evaluations.minimal_pairs import evaluate as minimal_pairs
from engine.evaluations.shared.evaluation import Evaluation

EVALUATIONS: dict[str, Evaluation] = {
    kind: Evaluation(kind, title, module.Settings, dataset_type, module.Result, module.evaluate)
    for kind, title, module, dataset_type in (
        ("clusters", "Clusters", clusters, LabelledSentences),
        ("fill-mask", "Fill-mask", fill_mask, MaskedSentences),
        ("classification", "Classification", classification, LabelledSentences),
        ("alignment", "Alignment", alignment, SentencePairs),
        ("metric-study", "Metric study", metric_study, SentencePairs),
        ("minimal-pairs", "Minimal pairs", minimal_pairs, MinimalPairs),
        ("dictionary", "Dictionary", dictionary, CorpusFiles),
    )
}
