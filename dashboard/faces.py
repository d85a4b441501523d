"""The faces of all evaluations: what pages that serve several of them ask."""

from __future__ import annotations

from dashboard.alignment import face as alignment
from dashboard.classification import face as classification
from dashboard.clusters import face as clusters
from dashboard.dictionary import face as dictionary
from dashboard.fill_mask import face as fill_mask
from dashboard.metric_study import face as metric_study
from dashboard.minimal_pairs import face as minimal_pairs
from dashboard.shared.face import AnyFace

FACES: dict[str, AnyFace] = {
    module.FACE.kind: module.FACE
    for module in (clusters, classification, fill_mask, alignment, metric_study, minimal_pairs, dictionary)
}
