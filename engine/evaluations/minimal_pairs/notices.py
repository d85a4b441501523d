"""What a minimal-pairs result says of itself: pairs left out, ties, unknown characters, what may be swapped."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.rows import row_notice
from engine.evaluations.minimal_pairs.judgements import SIDES, judgement_notices
from engine.evaluations.minimal_pairs.outside.notices import of_scores
from engine.evaluations.minimal_pairs.prompts.scoring import takes_prompts
from engine.evaluations.minimal_pairs.prompts.templates import templates_of
from engine.evaluations.minimal_pairs.records import NO_PROMPTS, THESE, WHOLE, Result
from engine.evaluations.minimal_pairs.regions import marked_notices
from engine.evaluations.minimal_pairs.scoring_rules import prefix_rule
from engine.evaluations.minimal_pairs.unigrams import tells_tokens_apart, why_not_fitted
from engine.evaluations.minimal_pairs.views import has_boundaries, of_model, summary
from engine.evaluations.shared.checkpoints import unread_series
from engine.evaluations.shared.dictionaries import BUILT_IN
from engine.language.quantities import count
from engine.language.words import are_spaced
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.measures.statistics.intervals import wilson_interval
from engine.messages.message import Message, list_of, together
from engine.models.sources.facts import ModelFacts
from engine.models.sources.names import shown_name, without_label

# Below this accuracy, as sure as the interval says, guessing the other sentence would be right far more often.
SWAPPED_BELOW = 0.4
NO_CURVE = Message(
    "{models} look like checkpoints of one training, but their names do not say so: there is no curve along its steps. "
    "Give them labels that differ in the step alone, such as 1M=MODEL and 10M=MODEL, or step 1,000=MODEL."
)
STEADY_BETA = 1.0  # the largest difference of beta between parts: from no frequency taken off to all of it


def of_sentences(result: Result, dataset: MinimalPairs, all_facts: Sequence[ModelFacts], _: Iterable[str]) -> list[str]:
    """One sentence for each thing worth knowing of single sentences, most serious first."""
    return [
        *_left_out_sentences(result.excluded, dataset.n),
        *_unknown_in_sentences(result.pairs),
        *(Message("{model}: {rule}", model=model, rule=rule) for model, rule in _prefix_rules(result, all_facts)),
        *of_servers(result, all_facts),
        *of_scores(result, dataset, all_facts),
        *_of_boundaries(result, all_facts),
        *_of_prompts(result, dataset, all_facts),
    ]


def of_pairs(
    result: Result, dataset: MinimalPairs, all_facts: Sequence[ModelFacts], about_shared: Iterable[str]
) -> list[str]:
    """One sentence for each thing worth knowing of pairs, most serious first, but for `swapped`."""
    without_masks = [facts.name for facts in all_facts if facts.kind != "masked"]  # those of files among them
    all_notices = [
        *_left_out(result.excluded, dataset.n),
        *_ties(result.pairs),
        *_unknown(result.pairs),
    ]
    all_notices += [
        together(" ", (Message("{model}: {rule}", model=model, rule=rule), _first_tokens(result, model)))
        for model, rule in _prefix_rules(result, all_facts)
    ]
    all_notices += [*of_servers(result, all_facts), *of_scores(result, dataset, all_facts)]
    all_notices += [_of_exact_decisions(line) for line in result.precision.to_dict("records")]
    if result.settings.shared_tokens:
        all_notices += [
            Message("{model} fills no masks, so it has no shared-token score.", model=model) for model in without_masks
        ]
    return [
        *all_notices,
        *_of_boundaries(result, all_facts),
        *_of_prompts(result, dataset, all_facts),
        *judgement_notices(dataset, result.items, result.settings.ratings),
        *_of_morcela(result),
        *about_shared,
        *marked_notices(dataset),
        *of_unread_series(result),
    ]


def of_unread_series(result: Result) -> list[Message]:
    """Of models that look like checkpoints of a training and are on no axis of steps."""
    return [
        NO_CURVE.format(models=list_of(map(shown_name, models))) for models in unread_series(result.settings.models)
    ]


def _prefix_rules(result: Result, all_facts: Sequence[ModelFacts]) -> Iterator[tuple[str, str]]:
    """Each causal model, and each condition of one, with what it reads before the first token."""
    causal = {without_label(facts.name): facts for facts in all_facts if facts.kind == "causal"}
    for model in result.scored_models:
        if facts := causal.get(without_label(model)):
            yield model, prefix_rule(facts, result.conditions.get(model, result.settings.prefix))


def beyond_regions(model: str, n: int) -> list[str]:
    """Of sentences in conditions: how many tokens a boundary of two regions cuts; none for 0."""
    return (
        [
            Message(
                "{model}: {n} of the sentences cross the boundary of two regions and count in the one in which "
                "they begin.",
                model=model,
                n=count(n, "token"),
            )
        ]
        if n
        else []
    )


def _of_boundaries(result: Result, all_facts: Sequence[ModelFacts]) -> list[Message]:
    """Why there is no WordLP, by model, where the boundaries of words were to be scored."""
    if not result.settings.word_boundaries:
        return []
    without = [facts for facts in all_facts if not has_boundaries(of_model(result, facts.name))]
    if without and not are_spaced([text for side in SIDES for text in result.pairs[side]]):
        return [
            Message(
                "There is no WordLP: most sentences have no white space between words, so none marks where a word ends."
            )
        ]
    about = [
        Message("{name}: its file says nothing of the boundaries of words: there is no WordLP.", name=facts.name)
        if facts.scores is not None
        else Message(
            "{name} is a masked model, whose pseudo-log-likelihood has no boundaries of words: there is no WordLP.",
            name=facts.name,
        )
        if facts.kind == "masked"
        else Message(
            "{name} is scored by its decoder, of which the boundaries of words are not scored: there is no WordLP.",
            name=facts.name,
        )
        if facts.kind != "causal"
        else Message(
            "{name}: its server does not tell how probable the beginning of a word is: there is no WordLP.",
            name=facts.name,
        )
        if facts.endpoint
        else Message(
            "{name}: its tokenizer does not mark with a space how words begin, so their boundaries cannot be "
            "scored: there is no WordLP.",
            name=facts.name,
        )
        for facts in without
    ]
    return about + (
        [Message("WordLP and MeanWordLP are there where every model has them: score the others in a run of their own.")]
        if 0 < len(without) < len(all_facts)
        else []
    )


def _of_prompts(result: Result, dataset: MinimalPairs, all_facts: Sequence[ModelFacts]) -> list[Message]:
    """Why there are no prompted scores, by model, where they were asked for, and what makes their vote doubtful."""
    if result.settings.prompts == NO_PROMPTS:
        return []
    without = [facts for facts in all_facts if not takes_prompts(facts)]
    about = [
        Message(
            "{name}: only causal models that are loaded here are scored in templates: there is no in-template LP, no "
            "Yes/No probability and no vote.",
            name=facts.name,
        )
        for facts in without
    ]
    if 0 < len(without) < len(all_facts):
        about.append(
            Message("Prompted scores are there where every model has them: score the others in a run of their own.")
        )
    n = len(templates_of(result.settings))
    if n % 2 == 0 and len(without) < len(all_facts) and dataset.data_kind.n_sentences > 1:
        about.append(
            Message(
                "The vote is of {n} predictions, an even number: where as many are for either sentence, the pair is a tie and "
                "not correct, so that predictions at random are correct in fewer than 50%. Leave a template out, or add one.",
                n=n,
            )
        )
    return about


def _of_morcela(result: Result) -> list[Message]:
    """Why there is no MORCELA although the sentences were judged, by model, or what makes it doubtful."""
    reasons = why_not_fitted(result)
    about = [
        Message(
            "{model}: MORCELA cannot be fitted to the judgements, so it is not there: {reason}.",
            model=model,
            reason=reason,
        )
        for model, reason in reasons.items()
    ]
    fitted = result.pairs[result.pairs["morcela_beta"].notna()].groupby("model", sort=False)["morcela_beta"]
    about += [
        Message(
            "{model}: MORCELA's beta is from {low:.2f} to {high:.2f} in the parts of the cross-validation, "
            "too unsteady for scores of different parts to be on one scale. More judged sentences make it "
            "steadier.",
            model=model,
            low=low,
            high=high,
        )
        for model, low, high in fitted.agg(["min", "max"]).itertuples()
        if high - low > STEADY_BETA
    ]
    return about + (
        [Message("MORCELA is there where it was fitted for every model: score the others in a run of their own.")]
        if 0 < len(reasons) < len(result.scored_models)
        else []
    )


def _of_exact_decisions(line: dict[Hashable, Any]) -> str:
    model, n_fp32, n, safety, error = (line[name] for name in ("model", "n_fp32", "n", "safety", "largest_error"))
    return Message(
        "{model}: {n_fp32:,} of {n:,} pairs were scored in fp32, the others in bf16; no error up to "
        "{safety:g} times the largest one seen ({error:.2g} nats per square root of a token) changes a "
        "winner of theirs under {line}.",
        model=model,
        n_fp32=n_fp32,
        n=n,
        safety=safety,
        error=error,
        line=_exact_scores(line),
    )


def of_servers(result: Result, all_facts: Sequence[ModelFacts]) -> list[Message]:
    """What numbers from an external server rest on."""
    about = []
    for facts in all_facts:
        if facts.endpoint is None:
            continue
        compared = (
            Message("A token that it generated had the same log-probability when it was read.")
            if facts.endpoint.continued
            else Message(
                "Whether a token that it generates has the same log-probability when it is read could not be seen."
            )
        )
        name, host, model, version = (facts.name, facts.endpoint.host, facts.endpoint.model, facts.endpoint.version)
        about.append(
            Message(
                "{name}: scored by the server at {host} as {model}, version {version}, in its own "
                "precision. {compared}",
                name=name,
                host=host,
                model=model,
                version=version,
                compared=compared,
            )
            if version
            else Message(
                "{name}: scored by the server at {host} as {model}, in its own precision. {compared}",
                name=name,
                host=host,
                model=model,
                compared=compared,
            )
        )
        if not tells_tokens_apart(result, facts.name):
            about.append(
                Message(
                    "{name}: its server shows some tokens only as a part of a character, and not by "
                    "their ids, so that they cannot be counted: there is no SLOR.",
                    name=facts.name,
                )
            )
    return about


def not_exact(result: Result, normalization: str, alpha: float, unigrams: str = THESE, region: str = WHOLE) -> str:
    """Which models' decisions under a score are not all float32's although exact ones were asked for; "" if none's.

    unigrams: the corpus of SLOR; exact decisions under SLOR hold for these sentences and the built-in corpora. region:
    what of the sentences is counted, of which the whole sentence alone has exact decisions.
    """
    score = NORMALIZATIONS[normalization]
    if score.is_prompted:  # always computed in float32 then
        return ""
    other_corpus = score.by_unigrams and score.is_bounded and unigrams not in (THESE, *BUILT_IN)
    lines = [
        line
        for line in result.precision.to_dict("records")
        # Results of versions without these columns are exact under every score shown.
        if not pd.isna(line["scores"])
        and line["n_fp32"] < line["n"]
        and (
            other_corpus
            or region != WHOLE
            or normalization not in line["scores"].split(", ")
            or (score.has_alpha and not np.isclose(alpha, line["alpha"]))
        )
    ]
    if not lines:
        return ""
    shown = Message("PenLP at alpha {alpha:g}", alpha=alpha) if score.has_alpha else normalization
    shown = Message("{shown} by another corpus", shown=shown) if other_corpus else shown
    shown = together(", ", [shown, region]) if region != WHOLE else shown
    models, scores = together(" and ", (line["model"] for line in lines)), _exact_scores(lines[0])
    return Message(
        "{models}: decisions are exact under {scores}; under {shown} a close pair may have another winner "
        "than in fp32.",
        models=models,
        scores=scores,
        shown=shown,
    )


def _exact_scores(line: dict[Hashable, Any]) -> str:
    names = [
        Message("PenLP at alpha {line:g}", line=line["alpha"]) if name == "PenLP" else Message(name)
        for name in line["scores"].split(", ")
    ]
    return together(" and ", [together(", ", names[:-1]), names[-1]] if len(names) > 1 else names)


def _first_tokens(result: Result, model: str) -> str:
    """Which pairs the choice of a prefix concerns, and by name those whose difference is not measured."""
    pairs = result.pairs[result.pairs["model"] == model]
    differing = pairs.loc[pairs["first_token_differs"], "row"].tolist()
    if not result.prefixes[model] and differing:
        return row_notice(
            differing, Message("{rows} differs in it: {listed}."), Message("{rows} differ in it: {listed}.")
        )[0]
    all_pairs = count(len(pairs), "pair")
    n = len(differing)
    return (
        Message("1 of {all_pairs} differs in it.", all_pairs=all_pairs)
        if n == 1
        else Message("{n:,} of {all_pairs} differ in it.", n=n, all_pairs=all_pairs)
    )


def swapped(result: Result) -> list[Message]:
    """Accuracy far below chance in all pairs, and where the lengths are equal, if there are such pairs.

    Ties, which swapped columns leave ties, are no sign of it.
    """
    warnings = []
    lines = {(line["model"], line["stratum"]): line for line in summary(result, ("LP",)).to_dict("records")}
    for model in result.scored_models:
        overall, equal = lines[model, "all"], lines.get((model, "A=U"))
        _, untied_high = wilson_interval(overall["n_correct"], overall["n"] - overall["n_tied"])  # nan: all are tied
        is_low = overall["ci_high"] < SWAPPED_BELOW and untied_high < SWAPPED_BELOW
        if is_low and not (equal and equal["accuracy"] >= SWAPPED_BELOW):
            warnings.append(
                Message(
                    "{model} is right in only {overall:.1%} of the pairs, far less than by chance. "
                    "Are the columns of acceptable and unacceptable sentences swapped?",
                    model=model,
                    overall=overall["accuracy"],
                )
            )
    return warnings


def _left_out(excluded: pd.DataFrame, n_pairs: int) -> list[str]:
    return [
        Message(
            "{model}: {n} of {n_pairs} pairs could not be scored and were left out, both sentences of each.",
            model=model,
            n=n,
            n_pairs=n_pairs,
        )
        for model, n in excluded["model"].value_counts(sort=False).items()
    ]


def _left_out_sentences(excluded: pd.DataFrame, n_sentences: int) -> list[str]:
    return [
        Message(
            "{model}: {n} of {n_sentences} sentences could not be scored and were left out.",
            model=model,
            n=n,
            n_sentences=n_sentences,
        )
        for model, n in excluded["model"].value_counts(sort=False).items()
    ]


def _unknown_in_sentences(pairs: pd.DataFrame) -> list[str]:
    return [
        Message(
            "{model}: the tokenizer does not know characters of {sentences} ({tokens} in all); what they were the "
            "model cannot see.",
            model=model,
            sentences=count(int((n > 0).sum()), "sentence"),
            tokens=count(int(n.sum()), "unknown token"),
        )
        for model, n in pairs["acceptable_unknown"].groupby(pairs["model"], sort=False)
        if n.any()
    ]


def _ties(pairs: pd.DataFrame) -> list[str]:
    return [
        Message(
            "{model}: in {n} both sentences become the same tokens; counted as ties.", model=model, n=count(n, "pair")
        )
        for model, n in pairs[pairs["identical"]]["model"].value_counts(sort=False).items()
    ]


def _unknown(pairs: pd.DataFrame) -> list[str]:
    counts = pairs[["acceptable_unknown", "unacceptable_unknown"]].sum(axis=1)
    return [
        Message(
            "{model}: in {pairs} a sentence holds characters that the tokenizer does not know ({tokens} in all); "
            "what they were the model cannot see.",
            model=model,
            pairs=count(int((n_unknown > 0).sum()), "pair"),
            tokens=count(int(n_unknown.sum()), "unknown token"),
        )
        for model, n_unknown in counts.groupby(pairs["model"], sort=False)
        if n_unknown.any()
    ]
