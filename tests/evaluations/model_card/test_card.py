"""The card of a model from results: numbers, ranks, outcomes against other models, readings, the Hub's block."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml  # type: ignore[import-untyped]
from huggingface_hub import ModelCard, parse_eval_result_entries
from huggingface_hub.repocard_data import eval_results_to_model_index, model_index_to_eval_results

from engine.datasets import sample_data
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import from_table
from engine.errors import InputError
from engine.evaluations.alignment import evaluate as alignment
from engine.evaluations.alignment.on_card import reading_counts
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.clusters.records import without_ranks
from engine.evaluations.minimal_pairs import evaluate as minimal_pairs
from engine.evaluations.minimal_pairs.kinds.on_card import headlines
from engine.evaluations.model_card.assemble import card_of
from engine.evaluations.model_card.card import BETTER, NOT_SEPARABLE, WORSE, CardOfModel, CardRun, OtherModel
from engine.evaluations.model_card.files import readme, to_json_value
from engine.evaluations.model_card.model_index import eval_result_files, eval_results, model_index
from engine.inference.gateway import Gateway
from tests.support.cluster_results import result_of
from tests.support.fakes import FakeBackend
from tests.support.minimal_results import from_margins
from tests.support.session_fake import SessionFake

EQUAL = [(4, 4)] * 12


def pair_run(
    margins: Mapping[str, Sequence[float]],
    others: Mapping[str, Sequence[float]] = {},
    tokens: Sequence[tuple[int, int]] = EQUAL,
) -> CardRun:
    """A run of the model that `margins` names first, held against its other models and, of another run, `others`."""
    own, *rest = margins
    result = from_margins(margins, tokens)
    other_models = tuple(OtherModel(name, "run", result) for name in rest)
    if others:
        other_models += tuple(OtherModel(name, "past", from_margins(others, tokens)) for name in others)
    return CardRun("minimal-pairs", "run", "sample minimal pairs", "0123456789abcdef", own, result, other_models)


def of(table: pd.DataFrame, **values: Any) -> dict[str, Any]:
    for name, value in values.items():
        table = table[table[name] == value]
    (row,) = table.to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_numbers_ranks_and_outcomes_by_hand() -> None:
    # 12 pairs of equal length. m is right in all, n in none, o in 11: m against n differs in 12 pairs, all one way,
    # p = 2 / 2**12; m against o in 1, p = 1. Holm over two tests: 2 * 2 / 2**12 and 1.
    card = card_of("m", [pair_run({"m": [1.0] * 12, "n": [-1.0] * 12}, {"o": [1.0] * 11 + [-1.0]})])
    headline = of(card.headlines, setting="LP", items="all pairs")
    assert (headline["value"], headline["n"], headline["rank"], headline["n_models"]) == (1.0, 12, 1, 3)
    assert headline["better"] == "higher" and headline["ci_low"] < 1.0 == headline["ci_high"]
    worst = of(card.others, setting="LP", other="n")
    assert (worst["value"], worst["other_value"], worst["difference"], worst["outcome"]) == (1.0, 0.0, 1.0, BETTER)
    assert worst["p_value"] == pytest.approx(2 / 2**12) and worst["p_holm"] == pytest.approx(4 / 2**12)
    near = of(card.others, setting="LP", other="o")
    assert near["other_run"] == "past" and near["p_holm"] == 1.0 and near["outcome"] == NOT_SEPARABLE


def test_models_with_other_items_have_no_rank_among_each_other() -> None:
    # To m all 12 pairs have A = U, to n ten of them: over all pairs they are ranked, over A = U they are not.
    own = from_margins({"m": [1.0] * 12}, EQUAL)
    other = from_margins({"n": [-1.0] * 12}, [(4, 4)] * 10 + [(4, 5)] * 2)
    run = CardRun("minimal-pairs", "run", "pairs", "ab", "m", own, (OtherModel("n", "past", other),))
    card = card_of("m", [run])
    whole = of(card.headlines, setting="LP", items="all pairs")
    assert (whole["rank"], whole["n_models"]) == (1, 2)
    equal = of(card.headlines, setting="LP", items="pairs with A = U")
    assert pd.isna(equal["rank"]) and equal["n_models"] == 1 and equal["value"] == 1.0
    # As many pairs with A = U are not the same pairs.
    first = from_margins({"m": [1.0] * 12}, [(4, 5)] * 2 + [(4, 4)] * 10)
    card = card_of("m", [replace(run, result=first)])
    assert pd.isna(of(card.headlines, setting="LP", items="pairs with A = U")["rank"])


def test_a_number_of_pairs_says_which_rows_it_is_over() -> None:
    # A = U in the first two, A > U in the third, A < U in the last.
    result = from_margins({"m": [1.0] * 4}, [(4, 4), (5, 5), (6, 5), (4, 5)])
    rows = {headline.items: headline.rows for headline in headlines(result, "m")}
    assert rows == {"all pairs": {1, 2, 3, 4}, "pairs with A = U": {1, 2}}


def test_a_run_whose_numbers_cannot_be_made_is_left_out_and_named(aligned: alignment.Result) -> None:
    scoring = replace(aligned.settings.scoring, idf="saved:gone")
    broken = replace(aligned, settings=replace(aligned.settings, scoring=scoring))
    lost = CardRun("alignment", "lost", "pairs.csv", "0123456789abcdef", "owner/bert", broken)
    card = card_of("m", [pair_run({"m": [1.0] * 12}), lost], left_out=("Gone.",))
    assert set(card.headlines["evaluation"]) == {"minimal-pairs"}
    gone, lost_run = card.left_out
    assert gone == "Gone." and lost_run.startswith("The run lost (alignment, pairs.csv) is left out:")
    assert set(card.left_out) <= set(card.notices) and [run["run"] for run in card.signature["runs"]] == ["run"]
    with pytest.raises(InputError, match="The run lost "):
        card_of("m", [lost])


def test_notices_of_other_models_are_not_on_the_card() -> None:
    run = pair_run({"m": [1.0] * 12, "m-large": [-1.0] * 12})
    notices = ("m-large: one.", "m: two.", "m, m-large: three.", "m-large, m: four.", "A sentence is long.")
    run = replace(run, result=replace(run.result, notices=notices))
    assert card_of("m", [run]).notices == notices[1:]


def test_the_same_two_models_from_the_other_side() -> None:
    margins = {"m": [1.0] * 12, "n": [-1.0] * 12}
    card = card_of("n", [pair_run(dict(reversed(margins.items())))])
    assert of(card.headlines, setting="PenLP", items="all pairs")["rank"] == 2
    row = of(card.others, setting="PenLP")
    assert (row["other"], row["difference"], row["outcome"]) == ("m", -1.0, WORSE)


def test_a_score_over_other_sentences_or_without_a_rank_is_ranked_with_nobody() -> None:
    result = result_of(models=("owner/first", "owner/second"))
    first, second = result.settings.models
    fewer = replace(result, points=result.points[result.points["row"] > 3].reset_index(drop=True))
    unranked = replace(result, models=without_ranks(result.models))
    for own, other in ((result, fewer), (result, unranked), (unranked, result)):
        run = CardRun("clusters", "run", "sentences", "ab", first, own, (OtherModel(second, "past", other),))
        row = of(card_of(first, [run]).headlines)
        assert pd.isna(row["rank"]) and row["value"] == result.models.set_index("model").loc[first, "score"]


def test_models_of_other_poolings_are_said_on_the_card() -> None:
    def of_pooling(model: str, words: str) -> Any:
        result = result_of(models=(model,))
        return replace(result, signature={**result.signature, "vectors": {model: words}})

    run = CardRun(
        "clusters",
        "run",
        "sentences",
        "ab",
        "m",
        of_pooling("m", "cls"),
        (OtherModel("n", "past", of_pooling("n", "mean")),),
    )
    assert any("made in different ways (m: cls; n: mean)" in notice for notice in card_of("m", [run]).notices)


def test_lower_is_better_where_the_card_of_the_measure_says_so() -> None:
    result = result_of(models=("owner/first", "owner/second"))
    scores = result.models.set_index("model")["score"]
    best = str(scores.idxmin())
    other = next(name for name in scores.index if name != best)
    run = CardRun("clusters", "run", "sentences", "ab", best, result, (OtherModel(other, "run", result),))
    card = card_of(best, [run])
    row = of(card.headlines)
    assert (row["measure"], row["value"], row["rank"]) == ("dispersion_score", scores[best], 1)
    interval = of(result.intervals, model=best, measure="dispersion_score")
    assert (row["ci_low"], row["ci_high"]) == (interval["ci_low"], interval["ci_high"])
    compared = of(card.others)
    assert compared["difference"] == scores[best] - scores[other] < 0 and compared["outcome"] in (BETTER, NOT_SEPARABLE)
    points = result.points[result.points["model"] == best]
    assert card.maps["x"].tolist() == points["x"].tolist() and card.maps["text"].tolist() == points["text"].tolist()


def test_the_length_bias_is_that_of_the_evaluation() -> None:
    tokens = [(4, 6), (6, 4)] * 6
    card = card_of("m", [pair_run({"m": [1.0, -1.0] * 5 + [-1.0, 1.0], "n": [1.0] * 12}, tokens=tokens)])
    # 5 of the 6 shorter acceptable sentences are preferred, 1 of the 6 longer ones: with two differences the curve
    # passes through both shares, slope = (ln(1/5) - ln(5)) / (2 - -2) = -ln(5) / 2
    row = of(card.length_bias, normalization="LP")
    assert row["slope"] == pytest.approx(-np.log(5) / 2) and row["n"] == 12 and row["reason"] == ""
    assert card.length_bias["normalization"].tolist() == ["LP", "MeanLP", "PenLP"]


def test_single_sentences_have_no_length_bias() -> None:
    lines = ["item,condition,sentence,prediction", "1,a,猫が寝た,(*;%a%) > 0", "1,b,猫を寝た,"]
    dataset = from_table(read_table("\n".join(lines).encode(), "own.csv"))
    result = minimal_pairs.evaluate(minimal_pairs.Settings(("m",)), dataset, SessionFake())  # type: ignore[arg-type]
    card = card_of("m", [CardRun("minimal-pairs", "run", "own.csv", "0123456789abcdef", "m", result, ())])
    assert card.length_bias.empty and card.headlines["measure"].tolist() == ["prediction_accuracy"]


@pytest.fixture(scope="module")
def aligned() -> alignment.Result:
    session = Gateway(FakeBackend(), None).session("readings")
    return alignment.evaluate(alignment.Settings(("owner/bert",)), sample_data.sentence_pairs(), session)


def test_readings_count_names_and_their_tokens(aligned: alignment.Result) -> None:
    counts = reading_counts(aligned, "owner/bert")
    tokens = rescore(aligned, Scoring()).tokens
    plain = tokens[~tokens["special"]]
    assert counts["n_tokens"] == len(plain) and counts["n_unread"] == int((~plain["read_whole"]).sum())
    # The tokens of the fake model are characters, so a name has as many tokens as it has characters.
    names: list[str] = []
    previous: tuple[object, ...] = ()
    for row in plain.sort_values(["row", "side", "position"]).itertuples():
        starts = row.name and previous != (row.row, row.side, row.position - 1, row.name_text)
        names += [str(row.name_text)] if starts else []
        previous = (row.row, row.side, row.position, row.name_text)
    assert counts["n_names"] == len(names) > 20
    assert counts["tokens_per_name"] == pytest.approx(np.mean([len(name) for name in names]))
    assert counts["n_whole_names"] == sum(len(name) == 1 for name in names)
    assert 0 < counts["n_read_names"] <= counts["n_names"]


def test_a_mean_similarity_ranks_no_model(aligned: alignment.Result) -> None:
    run = CardRun("alignment", "run", "pairs", "ab", "owner/bert", aligned)
    card = card_of("owner/bert", [run])
    assert set(card.headlines["better"]) == {"neither"} and card.headlines["rank"].isna().all()
    scores = rescore(aligned, aligned.settings.scoring).pairs
    assert card.headlines["value"].tolist() == [scores["f1"].mean(), scores["penalized_f1"].mean()]
    assert model_index(card)[0].get("results", []) == [] and "model-index" not in readme(card)
    assert ModelCard(readme(card), ignore_metadata_errors=False).data.eval_results is None


def test_another_model_without_a_common_sentence_is_said_and_left_out() -> None:
    run = pair_run({"m": [1.0] * 12})
    elsewhere = from_margins({"n": [1.0] * 12}, EQUAL)
    elsewhere = replace(elsewhere, pairs=elsewhere.pairs.assign(acceptable="x", unacceptable="y"))
    card = card_of("m", [replace(run, others=(OtherModel("n", "past", elsewhere),))])
    assert card.others.empty and any("n cannot be compared" in notice for notice in card.notices)


def test_a_card_of_nothing_and_of_another_kind_are_refused() -> None:
    with pytest.raises(InputError, match="no finished run of m"):
        card_of("m", [])
    with pytest.raises(InputError, match="got dictionary"):
        card_of("m", [replace(pair_run({"m": [1.0] * 12}), kind="dictionary")])


@pytest.fixture
def card() -> CardOfModel:
    return card_of("owner/ours@v1", [pair_run({"owner/ours@v1": [1.0] * 9 + [-1.0] * 3, "n": [-1.0] * 12})])


def test_the_model_index_is_what_the_hub_reads(card: CardOfModel) -> None:
    text = readme(card)
    parsed = ModelCard(text, ignore_metadata_errors=False)
    assert parsed.data.model_name == "owner/ours" and parsed.data.tags == ["hakari"]
    read = parsed.data.eval_results
    assert read is not None and len(read) == 4
    written = eval_results(card)
    assert all(
        one.is_equal_except_value(other) and one.metric_value == other.metric_value
        for one, other in zip(read, written, strict=True)
    )
    first = read[0]
    assert (first.metric_type, first.metric_value, first.dataset_type) == ("accuracy", 0.75, "sample minimal pairs")
    assert (first.task_type, first.task_name) == ("text-generation", "Minimal pairs")
    assert first.dataset_name == "sample minimal pairs"
    assert first.dataset_revision == "0123456789ab" and first.metric_args["better"] == "higher"
    assert first.metric_args["setting"] == "LP"
    # there and back by the library's own functions
    name, results = model_index_to_eval_results(model_index(card))
    assert eval_results_to_model_index(name, results) == model_index(card)
    assert str(ModelCard(str(parsed))) == str(parsed) and "| minimal-pairs |" in parsed.text


@pytest.mark.parametrize(
    ("rule", "task"),
    [
        ("pll-word-l2r", "fill-mask"),
        ("mntp-original", "fill-mask"),
        ("causal", "text-generation"),
        ("seq2seq", "text2text-generation"),
    ],
)
def test_the_task_is_that_of_the_run(rule: str, task: str) -> None:
    """Without the facts of the model, which a card of stored runs does not have."""
    run = pair_run({"Ours=m": [1.0] * 12})
    run = replace(run, result=replace(run.result, signature={"scoring": {"Ours=m": rule}}))
    assert {result.task_type for result in eval_results(card_of("m", [run]))} == {task}


def test_eval_results_are_what_the_hub_reads(card: CardOfModel) -> None:
    """A file for each number, read by huggingface_hub's own parser."""
    files = eval_result_files(card)
    assert len(files) == len(eval_results(card)) == 4
    path, content = next(iter(files.items()))
    assert path == ".eval_results/minimal_pairs_accuracy_lp_all_pairs.yaml"
    [entry] = parse_eval_result_entries(yaml.safe_load(content))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("sample minimal pairs", "minimal_pairs", 0.75)
    assert entry.notes is not None and "n = 12, 95% interval 0.4677 to 0.9111" in entry.notes


def test_samples_are_named_by_their_content() -> None:
    digits = sample_data.minimal_pairs().content_hash
    run = replace(pair_run({"m": [1.0] * 12}), dataset_name="mine", dataset_hash=digits)
    assert {result.dataset_type for result in eval_results(card_of("m", [run]))} == {"sample/minimal-pairs"}


def test_the_json_is_json_and_says_what_the_tables_say(card: CardOfModel) -> None:
    value = json.loads(json.dumps(to_json_value(card), allow_nan=False))
    assert value["headlines"][0]["value"] == 0.75 and value["headlines"][0]["rank"] == 1
    assert [row["outcome"] for row in value["others"]] == card.others["outcome"].tolist()
    assert value["facts"] is None and value["checks"] == {"tokens": None, "loading": None, "refusal": ""}
    assert value["signature"]["runs"][0]["others"] == {"n": "run"}
