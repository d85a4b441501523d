"""What a result over running text says of itself: what no comparison may rest on, windows, what was left out."""

from __future__ import annotations

from collections.abc import Sequence

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.notices import of_servers, of_unread_series
from engine.evaluations.minimal_pairs.outside.notices import of_scores
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.running_text.tables import FEW_DOCUMENTS
from engine.evaluations.minimal_pairs.scoring_rules import BOTH_SIDES, ONE_SIDE, echo_notice, seen_by_models
from engine.language.quantities import count
from engine.measures.statistics.clustered import FEWEST_CLUSTERS
from engine.messages.message import Message, list_of
from engine.models.sources.facts import ModelFacts
from engine.models.sources.names import shown_name

PSEUDO = Message(
    "The numbers of {masked} are pseudo-perplexities: each token is predicted from both sides. They cannot be compared "
    "with the perplexities of {causal}."
)
TOKENIZERS = Message(
    "The models have different tokenizers, so that their perplexities are over different tokens. Compare bits per byte."
)
WINDOWS = Message(
    "The models read windows of different lengths ({lengths} tokens), and so different amounts of context. Choose a window "
    "that all of them take, such as {shortest:,}, to compare them alike."
)


def of_texts(result: Result, dataset: MinimalPairs, all_facts: Sequence[ModelFacts], _: Sequence[str]) -> list[str]:
    """One sentence for each thing worth knowing of running text, most serious first."""
    return [
        *_left_out(result, dataset.n),
        *_not_comparable(result, all_facts),
        *_unknown(result),
        *([Message("The corpus is small: {why}.", why=FEW_DOCUMENTS)] if dataset.n < FEWEST_CLUSTERS else []),
        *_windows(result),
        *_other_windows(result),
        *of_servers(result, all_facts),
        *of_scores(result, dataset, all_facts),
        *of_unread_series(result),
    ]


def _left_out(result: Result, n: int) -> list[Message]:
    return [
        Message(
            "{model}: {n_left} of {n:,} documents could not be scored and are left out.", model=model, n_left=left, n=n
        )
        for model, left in result.excluded["model"].value_counts(sort=False).items()
    ]


def _not_comparable(result: Result, all_facts: Sequence[ModelFacts]) -> list[Message]:
    from_files = {facts.name for facts in all_facts if facts.scores is not None}
    seen = seen_by_models(result)
    masked, others = (
        [shown_name(model) for model in seen.get(side, []) if model not in from_files]
        for side in (BOTH_SIDES, ONE_SIDE)
    )
    return [
        *([PSEUDO.format(masked=list_of(masked), causal=list_of(others))] if masked and others else []),
        *([TOKENIZERS] if len({facts.tokenizer_fingerprint for facts in all_facts} - {""}) > 1 else []),
        *echo_notice(result),
    ]


def _unknown(result: Result) -> list[Message]:
    sums = result.documents.groupby("model", sort=False)[["n_unknown", "n_tokens"]].sum()
    return [
        Message(
            "{model}: {unknown} of {n:,} stand for characters that its tokenizer does not know: their probability is that "
            "of any such character, and the numbers are too low.",
            model=model,
            unknown=count(int(row["n_unknown"]), "token"),
            n=int(row["n_tokens"]),
        )
        for model, row in sums.iterrows()
        if row["n_unknown"]
    ]


def _other_windows(result: Result) -> list[Message]:
    """That windows differ, where a document is longer than the shortest."""
    lengths = sorted({window for window, _ in result.signature.get("windows", {}).values()})
    if len(lengths) < 2 or not (result.documents["n_windows"] > 1).any():
        return []
    return [WINDOWS.format(lengths=list_of(f"{length:,}" for length in lengths), shortest=lengths[0])]


def _windows(result: Result) -> list[Message]:
    table, windows = result.documents, result.signature.get("windows", {})
    n_long = table[(table["n_windows"] > 1).to_numpy()]["model"].value_counts(sort=False)
    alike: dict[tuple[int, int, int], list[str]] = {}
    for model, (window, stride) in windows.items():
        if model in n_long.index:
            alike.setdefault((int(n_long[model]), window, stride), []).append(model)
    return [
        Message(
            "{model}: {n} longer than {window:,} tokens, read in windows that begin {stride:,} tokens apart.",
            model=list_of(models),
            n=count(n, "document"),
            window=window,
            stride=stride,
        )
        for (n, window, stride), models in alike.items()
    ]
