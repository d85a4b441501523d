"""The evaluations by kind: what the queue, the pages and the command line know of them."""

from __future__ import annotations

from engine.datasets.corpora.corpus_files import CorpusFiles
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment import evaluate as alignment
from engine.evaluations.alignment import records as alignment_records
from engine.evaluations.classification import evaluate as classification
from engine.evaluations.classification import records as classification_records
from engine.evaluations.clusters import evaluate as clusters
from engine.evaluations.clusters import records as clusters_records
from engine.evaluations.dictionary import evaluate as dictionary
from engine.evaluations.dictionary import records as dictionary_records
from engine.evaluations.fill_mask import evaluate as fill_mask
from engine.evaluations.fill_mask import records as fill_mask_records
from engine.evaluations.metric_study import evaluate as metric_study
from engine.evaluations.metric_study import tables as metric_study_tables
from engine.evaluations.minimal_pairs import evaluate as minimal_pairs
from engine.evaluations.minimal_pairs import files as minimal_pairs_files
from engine.evaluations.shared.evaluation import Evaluation
from engine.messages import Message
from engine.options import file_settings

EVALUATIONS: dict[str, Evaluation] = {
    kind: Evaluation(kind, title, module.Settings, dataset_type, module.Result, module.evaluate, tables)
    for kind, title, module, dataset_type, tables in (
        ("clusters", "Clusters", clusters, LabelledSentences, clusters_records.FILES),
        ("fill-mask", "Fill-mask", fill_mask, MaskedSentences, fill_mask_records.FILES),
        ("classification", "Classification", classification, LabelledSentences, classification_records.FILES),
        ("alignment", "Alignment", alignment, SentencePairs, alignment_records.FILES),
        ("metric-study", Message("Metric study"), metric_study, SentencePairs, metric_study_tables.FILES),
        ("minimal-pairs", Message("Minimal pairs"), minimal_pairs, MinimalPairs, minimal_pairs_files.FILES),
        ("dictionary", "Dictionary", dictionary, CorpusFiles, dictionary_records.FILES),
    )
}
# The settings of any of them whose values may name a file.
FILE_SETTINGS = frozenset[str]().union(*(file_settings(each.settings_type) for each in EVALUATIONS.values()))
