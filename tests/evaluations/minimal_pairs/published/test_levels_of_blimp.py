"""The table of levels on BLiMP's real paradigms: 67 → 12 → 4, with the averages that its authors print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.datasets.minimal_pairs.files import read_pairs
from engine.evaluations.minimal_pairs.levels import level_columns, levels, template_column
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.tables import item_table
from tests.support.minimal_results import from_margins

LEVELS = ("field", "linguistics_term", "UID")
# Paradigms with the accuracy of GPT-2, in thousandths: 1,000 pairs each. After each phenomenon its field, as in
# data/*.jsonl, and the average over its paradigms that the authors print. From github.com/alexwarstadt/blimp,
# raw_results/summary/models_summary.jsonl.
BLIMP: dict[str, tuple[str, float, dict[str, int]]] = {
    "anaphor_agreement": ("morphology", 0.993, {"anaphor_gender_agreement": 994, "anaphor_number_agreement": 992}),
    "argument_structure": (
        "syntax",
        0.8177777778,
        {
            "animate_subject_passive": 766,
            "animate_subject_trans": 849,
            "causative": 782,
            "drop_argument": 807,
            "inchoative": 659,
            "intransitive": 842,
            "passive_1": 893,
            "passive_2": 902,
            "transitive": 860,
        },
    ),
    "binding": (
        "syntax_semantics",
        0.8094285714,
        {
            "principle_A_c_command": 737,
            "principle_A_case_1": 1000,
            "principle_A_case_2": 948,
            "principle_A_domain_1": 984,
            "principle_A_domain_2": 775,
            "principle_A_domain_3": 754,
            "principle_A_reconstruction": 468,
        },
    ),
    "control_raising": (
        "syntax_semantics",
        0.8192,
        {
            "existential_there_object_raising": 784,
            "existential_there_subject_raising": 911,
            "expletive_it_object_raising": 792,
            "tough_vs_raising_1": 720,
            "tough_vs_raising_2": 889,
        },
    ),
    "determiner_noun_agreement": (
        "morphology",
        0.95825,
        {
            "determiner_noun_agreement_1": 988,
            "determiner_noun_agreement_2": 977,
            "determiner_noun_agreement_irregular_1": 957,
            "determiner_noun_agreement_irregular_2": 953,
            "determiner_noun_agreement_with_adj_2": 949,
            "determiner_noun_agreement_with_adj_irregular_1": 927,
            "determiner_noun_agreement_with_adj_irregular_2": 940,
            "determiner_noun_agreement_with_adjective_1": 975,
        },
    ),
    "ellipsis": ("syntax", 0.8935, {"ellipsis_n_bar_1": 915, "ellipsis_n_bar_2": 872}),
    "filler_gap_dependency": (
        "syntax",
        0.8127142857,
        {
            "wh_questions_object_gap": 842,
            "wh_questions_subject_gap": 956,
            "wh_questions_subject_gap_long_distance": 871,
            "wh_vs_that_no_gap": 968,
            "wh_vs_that_no_gap_long_distance": 938,
            "wh_vs_that_with_gap": 551,
            "wh_vs_that_with_gap_long_distance": 563,
        },
    ),
    "irregular_forms": (
        "morphology",
        0.919,
        {"irregular_past_participle_adjectives": 977, "irregular_past_participle_verbs": 861},
    ),
    "island_effects": (
        "syntax",
        0.72725,
        {
            "adjunct_island": 894,
            "complex_NP_island": 722,
            "coordinate_structure_constraint_complex_left_branch": 810,
            "coordinate_structure_constraint_object_extraction": 854,
            "left_branch_island_echo_question": 523,
            "left_branch_island_simple_question": 871,
            "sentential_subject_island": 355,
            "wh_island": 789,
        },
    ),
    "npi_licensing": (
        "semantics",
        0.7682857143,
        {
            "matrix_question_npi_licensor_present": 654,
            "npi_present_1": 648,
            "npi_present_2": 643,
            "only_npi_licensor_present": 945,
            "only_npi_scope": 785,
            "sentential_negation_npi_licensor_present": 971,
            "sentential_negation_npi_scope": 732,
        },
    ),
    "quantifiers": (
        "semantics",
        0.79025,
        {
            "existential_there_quantifiers_1": 995,
            "existential_there_quantifiers_2": 424,
            "superlative_quantifiers_1": 870,
            "superlative_quantifiers_2": 872,
        },
    ),
    "subject_verb_agreement": (
        "morphology",
        0.8635,
        {
            "distractor_agreement_relational_noun": 795,
            "distractor_agreement_relative_clause": 657,
            "irregular_plural_subject_verb_agreement_1": 928,
            "irregular_plural_subject_verb_agreement_2": 924,
            "regular_plural_subject_verb_agreement_1": 967,
            "regular_plural_subject_verb_agreement_2": 910,
        },
    ),
}
OVERALL = 0.830238806
# In the data the two paradigms of animate subjects have a term of their own; paper and summary count them to the first.
ARGUMENT_STRUCTURE, SELECTION = "argument_structure", "s-selection"
PARADIGMS = [
    (field, term, paradigm, n_right)
    for term, (field, _, paradigms) in BLIMP.items()
    for paradigm, n_right in paradigms.items()
]


def result_of(right: Sequence[bool], items: pd.DataFrame) -> Result:
    made = from_margins({"m": np.where(right, 1.0, -1.0).tolist()}, [(5, 5)] * len(right))
    return replace(made, items=items)


def test_the_averages_of_gpt_2_are_those_of_the_authors() -> None:
    right = [i < n_right for _, _, _, n_right in PARADIGMS for i in range(1000)]
    columns = {
        f"field:{name}": np.repeat([paradigm[place] for paradigm in PARADIGMS], 1000)
        for place, name in enumerate(LEVELS)
    }
    items = pd.DataFrame({"row": range(1, len(right) + 1), "source": "blimp", "category": "", **columns})
    table = levels(result_of(right, items), "LP", LEVELS)
    assert table.groupby("level", sort=False)["n"].agg(["size", "sum"]).to_numpy().tolist() == [
        [1, 67_000],
        [4, 67_000],
        [12, 67_000],
        [67, 67_000],
    ]
    by_value = table.set_index("value")
    assert by_value.loc["all", "macro_accuracy"] == pytest.approx(OVERALL, abs=1e-9)
    for term, (field, average, paradigms) in BLIMP.items():
        row = by_value.loc[f"{field} / {term}"]
        assert (row["macro_accuracy"], row["n_groups"]) == (pytest.approx(average, abs=1e-9), len(paradigms))
        for paradigm, n_right in paradigms.items():
            assert by_value.loc[f"{field} / {term} / {paradigm}", "accuracy"] == n_right / 1000
    # A field's average is over its paradigms, not over its phenomena.
    semantics = [n_right for field, _, _, n_right in PARADIGMS if field == "semantics"]
    assert by_value.loc["semantics", "macro_accuracy"] == pytest.approx(sum(semantics) / len(semantics) / 1000)


def test_a_file_with_the_published_columns_has_13_terms(tmp_path: Path) -> None:
    """A few rows of each paradigm, of different numbers: the micro average counts rows, the macro average paradigms."""
    rows, right = [], []
    for place, (field, term, paradigm, _) in enumerate(PARADIGMS):
        published = SELECTION if paradigm.startswith("animate_subject") else term
        for i in range(2 + place % 3):
            rows.append(
                {
                    "sentence_good": f"{paradigm} {i}",
                    "sentence_bad": f"{paradigm} not {i}",
                    "field": field,
                    "linguistics_term": published,
                    "UID": paradigm,
                    "simple_LM_method": True,
                    "one_prefix_method": False,
                    "two_prefix_method": False,
                    "lexically_identical": False,
                    "pairID": str(i),
                }
            )
            right.append(i == 0)
    file = tmp_path / "blimp.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    dataset = read_pairs([(file.name, file)])
    assert dataset.format == "BLiMP" and len({*BLIMP, SELECTION}) == len(set(dataset.categories)) == 13
    assert level_columns(tuple(dataset.fields)) == LEVELS and template_column(tuple(dataset.fields)) == "UID"
    table = levels(result_of(right, item_table(dataset)), "LP", LEVELS, clustered_by="UID")
    assert table.groupby("level", sort=False)["n"].agg(["size", "sum"]).to_numpy().tolist() == [
        [1, len(rows)],
        [4, len(rows)],
        [13, len(rows)],
        [67, len(rows)],
    ]
    overall = table.iloc[0]
    assert (overall["accuracy"], overall["n_groups"], overall["n_clusters"]) == (67 / len(rows), 67, 67)
    assert overall["macro_accuracy"] == pytest.approx(np.mean([1 / (2 + place % 3) for place in range(67)]))
    assert table["value"].str.contains(f"syntax / {SELECTION} / animate").sum() == 2
    assert table["value"].str.contains(f"syntax / {ARGUMENT_STRUCTURE} / animate").sum() == 0
