"""The evaluations by kind: what the queue, the pages and the command line know of them."""

from __future__ import annotations

from collections.abc import Callable

from engine.datasets import sample_data, sentence_pairs
from engine.datasets.corpora.corpus_files import CorpusFiles
from engine.datasets.labelled import labelled_sentences
from engine.datasets.masked import masked_sentences
from engine.datasets.minimal_pairs import pairs
from engine.datasets.minimal_pairs.files import read_pairs
from engine.evaluations.alignment import evaluate as alignment
from engine.evaluations.alignment import finding as alignment_finding
from engine.evaluations.alignment import on_card as alignment_on_card
from engine.evaluations.alignment import records as alignment_records
from engine.evaluations.classification import evaluate as classification
from engine.evaluations.classification import finding as classification_finding
from engine.evaluations.classification import on_card as classification_on_card
from engine.evaluations.classification import records as classification_records
from engine.evaluations.clusters import evaluate as clusters
from engine.evaluations.clusters import finding as clusters_finding
from engine.evaluations.clusters import on_card as clusters_on_card
from engine.evaluations.clusters import records as clusters_records
from engine.evaluations.dictionary import evaluate as dictionary
from engine.evaluations.dictionary import records as dictionary_records
from engine.evaluations.fill_mask import evaluate as fill_mask
from engine.evaluations.fill_mask import finding as fill_mask_finding
from engine.evaluations.fill_mask import on_card as fill_mask_on_card
from engine.evaluations.fill_mask import records as fill_mask_records
from engine.evaluations.metric_study import evaluate as metric_study
from engine.evaluations.metric_study import finding as metric_study_finding
from engine.evaluations.metric_study import on_card as metric_study_on_card
from engine.evaluations.metric_study import records as metric_study_records
from engine.evaluations.metric_study import tables as metric_study_tables
from engine.evaluations.minimal_pairs import evaluate as minimal_pairs
from engine.evaluations.minimal_pairs import files as minimal_pairs_files
from engine.evaluations.minimal_pairs import records as minimal_pairs_records
from engine.evaluations.minimal_pairs.kinds import finding as minimal_pairs_finding
from engine.evaluations.minimal_pairs.kinds import on_card as minimal_pairs_on_card
from engine.evaluations.minimal_pairs.scoring_rules import scores_by_decoder
from engine.evaluations.shared.evaluation import (
    ACCEPTABILITY,
    PREFERENCE,
    SIMILARITY,
    AnyEvaluation,
    Evaluation,
    Settings,
)
from engine.inference.gateway import GatewaySession
from engine.measures.clusters.resampling import FEWEST_RESAMPLES
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts
from engine.options import file_settings

WITHOUT_CLS = "mean-without-special"


def _pooled(settings_type: type[Settings]) -> Callable[[str, ModelFacts, GatewaySession], Settings]:
    """The settings of a model's card: by the mean where it has no CLS token and its files do not say how."""
    make: Callable[..., Settings] = settings_type

    def of_facts(model: str, facts: ModelFacts, _: GatewaySession) -> Settings:
        knows_pooling = facts.has_cls or facts.published is not None
        return make((model,)) if knows_pooling else make((model,), pooling=WITHOUT_CLS)

    return of_facts


CLUSTERS = Evaluation(
    "clusters",
    "Clusters",
    clusters_records.Settings,
    labelled_sentences.LabelledSentences,
    clusters_records.Result,
    clusters.evaluate,
    clusters_records.FILES,
    labelled_sentences.from_table,
    sample_data.labelled_sentences,
    row_roles=("text", "label"),
    classes_in_first_rows=True,
    for_card=_pooled(clusters_records.Settings),
    first_rows={"projection": "pca", "resamples": FEWEST_RESAMPLES, "clusterings": 0, "class_columns": ()},
    card=clusters_on_card.ON_CARD,
    finding=clusters_finding.finding,
)
CLASSIFICATION = Evaluation(
    "classification",
    "Classification",
    classification_records.Settings,
    labelled_sentences.LabelledSentences,
    classification_records.Result,
    classification.evaluate,
    classification_records.FILES,
    labelled_sentences.from_table,
    sample_data.labelled_sentences,
    row_roles=("text", "label"),
    for_card=_pooled(classification_records.Settings),
    card=classification_on_card.ON_CARD,
    finding=classification_finding.finding,
)
FILL_MASK = Evaluation(
    "fill-mask",
    "Fill-mask",
    fill_mask_records.Settings,
    masked_sentences.MaskedSentences,
    fill_mask_records.Result,
    fill_mask.evaluate,
    fill_mask_records.FILES,
    masked_sentences.from_table,
    sample_data.masked_sentences,
    row_roles=("text", "label", "domain"),
    first_rows={},
    fits=lambda facts: facts.endpoint is None and facts.kind == "masked",
    card=fill_mask_on_card.ON_CARD,
    finding=fill_mask_finding.finding,
)
ALIGNMENT = Evaluation(
    "alignment",
    "Alignment",
    alignment_records.Settings,
    sentence_pairs.SentencePairs,
    alignment_records.Result,
    alignment.evaluate,
    alignment_records.FILES,
    sentence_pairs.from_table,
    sample_data.sentence_pairs,
    row_roles=("reference", "candidate", "category"),
    first_rows={"rescale": ""},
    questions=(SIMILARITY,),
    card=alignment_on_card.ON_CARD,
    finding=alignment_finding.finding,
)
METRIC_STUDY = Evaluation(
    "metric-study",
    Message("Metric study"),
    metric_study_records.Settings,
    sentence_pairs.SentencePairs,
    metric_study_records.Result,
    metric_study.evaluate,
    metric_study_tables.FILES,
    sentence_pairs.from_table,
    sample_data.scored_pairs,
    row_roles=("reference", "candidate", "human"),
    questions=(SIMILARITY,),
    for_card=lambda model, _, session: metric_study_records.Settings(
        (model,), idfs=metric_study.fitting_idfs((model,), session)
    ),
    card=metric_study_on_card.ON_CARD,
    finding=metric_study_finding.finding,
)
MINIMAL_PAIRS = Evaluation(
    "minimal-pairs",
    Message("Minimal pairs"),
    minimal_pairs_records.Settings,
    pairs.MinimalPairs,
    minimal_pairs_records.Result,
    minimal_pairs.evaluate,
    minimal_pairs_files.FILES,
    pairs.from_table,
    sample_data.minimal_pairs,
    read_pairs,
    row_roles=("acceptable", "unacceptable", "category"),
    first_rows={"other_prefixes": ()},
    fits=lambda facts: facts.endpoint is not None or facts.kind != "encoder" or scores_by_decoder(facts),
    questions=(PREFERENCE, ACCEPTABILITY),
    card=minimal_pairs_on_card.ON_CARD,
    finding=minimal_pairs_finding.finding,
)
DICTIONARY = Evaluation(
    "dictionary",
    "Dictionary",
    dictionary_records.Settings,
    CorpusFiles,
    dictionary_records.Result,
    dictionary.evaluate,
    dictionary_records.FILES,
)

EVALUATIONS: dict[str, AnyEvaluation] = {
    each.kind: each
    for each in (CLUSTERS, CLASSIFICATION, FILL_MASK, ALIGNMENT, METRIC_STUDY, MINIMAL_PAIRS, DICTIONARY)
}
# The settings of any of them whose values may name a file.
FILE_SETTINGS = frozenset[str]().union(*(file_settings(each.settings_type) for each in EVALUATIONS.values()))
