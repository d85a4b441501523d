"""Masked models that are BERTs in the main, against plain transformers."""

from tests.models.zoo.comparisons import test_kind_and_tokens, test_log_likelihoods, test_vectors_and_similarities
from tests.models.zoo.kinds.masked import BERT_LIKE as COMPARED_KINDS

__all__ = ["COMPARED_KINDS", "test_kind_and_tokens", "test_log_likelihoods", "test_vectors_and_similarities"]
