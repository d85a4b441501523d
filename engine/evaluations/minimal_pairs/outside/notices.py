"""What numbers from a file rest on, and which are not there because the file does not say enough."""

from __future__ import annotations

from collections.abc import Sequence

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.minimal_pairs.scores import OutsideScores
from engine.evaluations.minimal_pairs.exact_decisions import SIDES
from engine.evaluations.minimal_pairs.outside.models import COUNTS, SUMS, TOKENIZER, TOKENS
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import of_model, without_token_counts
from engine.language.quantities import count
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts

SOURCE = Message("{name}: log-likelihoods from {file} ({form}); what is scored is as the file says.")
# By `ScoreFacts.level`: what is not there, and what would do.
LACKING = {
    SUMS: Message(
        "{name}: its file has no numbers of tokens, so that there are no strata by length, no slope, no fair "
        "subsets, and none of {scores}. A column n_tokens or tokens, or the tokenizer (--tokenizer), gives them; the "
        "tokens also the cuts of words and, with their log-likelihoods, regions."
    ),
    COUNTS: Message(
        "{name}: its file has no tokens, so that there is no SLOR, no cut of words and no region of a sentence. A "
        "column tokens gives them."
    ),
    TOKENIZER: Message(
        "{name}: its tokens are those of {tokenizer}, all of which are taken as scored; they have no log-likelihoods, so "
        "that there is no region of a sentence. A column tokens gives them."
    ),
}
NOT_ALIGNED = Message(
    "{name}: in {n} the tokens do not join to the sentence, so that their cuts of words and regions are not known."
)
NOT_FOR_ALL = Message("Scores by tokens are there where every model has them: score the others in a run of their own.")
NO_USE = Message(
    "The tokenizer {given} is not used: it counts the tokens of scores from a file that has none, and all scores "
    "here have theirs."
)
PUBLISHED = Message(
    "{name}: the file itself has an accuracy of {theirs:.4f} over {n}; by LP it is {ours:.4f} over {own}, with {tied} tied."
)


def of_scores(result: Result, dataset: MinimalPairs, all_facts: Sequence[ModelFacts]) -> list[Message]:
    """The notices of all models whose scores are from a file."""
    by_name = {scores.name: scores for scores in dataset.scores}
    notices: list[Message] = []
    for facts in all_facts:
        if facts.scores is None:
            continue
        notices.append(SOURCE.format(name=facts.name, file=facts.scores.file, form=Message(facts.scores.form)))
        if facts.scores.level in LACKING:
            by_tokens = ", ".join(name for name, score in NORMALIZATIONS.items() if score.by_tokens)
            notices.append(
                LACKING[facts.scores.level].format(name=facts.name, scores=by_tokens, tokenizer=facts.scores.tokenizer)
            )
        if facts.scores.level in (TOKENS, TOKENIZER):
            n_odd = int(of_model(result, facts.name)["cut_words"].isna().sum())
            notices += [NOT_ALIGNED.format(name=facts.name, n=count(n_odd, "pair"))] if n_odd else []
        notices += _published(result, by_name[facts.name])
    used = {facts.scores.tokenizer for facts in all_facts if facts.scores is not None} - {""}
    notices += [
        NO_USE.format(given=given)
        for given in result.settings.tokenizer
        if given not in used and given.partition("=")[2] not in used
    ]
    uncounted = without_token_counts(result)
    return [*notices, NOT_FOR_ALL] if 0 < len(uncounted) < len(result.scored_models) else notices


def _published(result: Result, scores: OutsideScores) -> list[Message]:
    """The accuracy that a file states itself, beside that of its log-likelihoods."""
    if "accuracy" not in scores.published or result.data_kind.n_sentences < len(SIDES):
        return []
    pairs = of_model(result, scores.name)
    first, second = (pairs[f"{side}_log_likelihood"] for side in SIDES)
    return [
        PUBLISHED.format(
            name=scores.name,
            theirs=scores.published["accuracy"],
            n=count(int(scores.published["n"]), "pair"),
            ours=float((first > second).mean()),
            own=count(len(pairs), "pair"),
            tied=count(int((first == second).sum()), "pair"),
        )
    ]
