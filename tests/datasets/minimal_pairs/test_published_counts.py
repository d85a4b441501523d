"""Benchmarks of minimal pairs as published: their real headers, and as many pairs as their papers count.

The sentences are of our own making; of each header and count the source is named.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pytest
from openpyxl import Workbook

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.layouts import DESIGN
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from tests.datasets.minimal_pairs.test_published_layouts import BLIMP_NL, JBLIMP, TURBLIMP, ZHOBLIMP

# Paper of all counts of CrowS-Pairs, COMPS, JBLiMP and Arabic MP: Ueda et al. 2024, table 2 (sums of its strata).
CROWS = (
    "",
    "sent_more",
    "sent_less",
    "stereo_antistereo",
    "bias_type",
    "annotations",
    "anon_writer",
    "anon_annotators",
)
# What the script of github.com/jerryspan/Dutch-CrowS-Pairs reads (code/mlm_metric.py); its data could not be found.
DUTCH_CROWS = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")
COMPS_BASE = (
    "id",
    "property",
    "acceptable_concept",
    "unacceptable_concept",
    "prefix_acceptable",
    "prefix_unacceptable",
    "property_phrase",
    "negative_sample_type",
    "similarity",
)
COMPS_WUGS = (*COMPS_BASE, "base_id", "nonsense_words", "distraction_type")
# Written by github.com/jumelet/multiblimp (src/multiblimp/filters/nsubj.py, pipeline.py and downsample.py), with the
# last columns that its notebooks/lm_eval_example.ipynb shows. That has 36 columns; the name of one was not to be found.
MULTIBLIMP = (
    "sen",
    "verb",
    "verb_idx",
    "cop",
    "cop_idx",
    "child",
    "child_idx",
    "child_features",
    "child_upos",
    "head",
    "head_idx",
    "head_features",
    "head_upos",
    "distance",
    "attractors",
    "metadata",
    "swap_head",
    "feature_vals",
    "prefix",
    "wrong_sen",
    "congruent_attractors",
    "incongruent_attractors",
    "num_attractors",
    "num_congruent_attractors",
    "num_incongruent_attractors",
    "has_attractors",
    "only_has_congruent_attractors",
    "only_has_incongruent_attractors",
    "sample_weight",
    "phenomenon",
    "grammatical_feature",
    "ungrammatical_feature",
    "wo",
    "inflect_item",
    "agreement_certainty",
)
# The file names of github.com/cpllab/syntactic-generalization, test_suites/json.
SUITES = (
    "center_embed",
    "center_embed_mod",
    "cleft",
    "cleft_modifier",
    "fgd-embed3",
    "fgd-embed4",
    "fgd_hierarchy",
    "fgd_object",
    "fgd_pp",
    "fgd_subject",
    "mvrr",
    "mvrr_mod",
    "nn-nv-rpl",
    "npi_orc_any",
    "npi_orc_ever",
    "npi_src_any",
    "npi_src_ever",
    "npz_ambig",
    "npz_ambig_mod",
    "npz_obj",
    "npz_obj_mod",
    "number_orc",
    "number_prep",
    "number_src",
    "reflexive_orc_fem",
    "reflexive_orc_masc",
    "reflexive_prep_fem",
    "reflexive_prep_masc",
    "reflexive_src_fem",
    "reflexive_src_masc",
    "subordination",
    "subordination_orc-orc",
    "subordination_pp-pp",
    "subordination_src-src",
)


def cells(header: Sequence[str], n: int, groups: Mapping[str, int]) -> Iterable[list[str]]:
    """n rows: a column of `groups` has so many values, equally often; any other cell is its column and row."""
    return (
        [f"{name} {i * groups[name] // n}" if name in groups else f"{name or 'row'} {i}" for name in header]
        for i in range(n)
    )


def delimited(header: Sequence[str], n: int, groups: Mapping[str, int], delimiter: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([header, *cells(header, n, groups)])
    return text.getvalue().encode()


def json_lines(header: Sequence[str], n: int, groups: Mapping[str, int]) -> bytes:
    return "\n".join(json.dumps(dict(zip(header, row, strict=True))) for row in cells(header, n, groups)).encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    with zipfile.ZipFile(sink := io.BytesIO(), "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("name", "file", "raw", "n", "n_categories", "fields"),
    [
        # 331 pairs: Someya and Oseki 2023, and 147 + 65 + 119.
        (
            "JBLiMP",
            "jblimp.jsonl",
            json_lines(JBLIMP, 331, {"type": 4, "phenomenon": 11, "phenomenon-2": 39, "paradigm": 73}),
            331,
            11,
            {"type", "phenomenon", "phenomenon-2", "paradigm"},
        ),
        # 997 + 282 + 229
        (
            "CrowS-Pairs",
            "crows.csv",
            delimited(CROWS, 1508, {"stereo_antistereo": 2, "bias_type": 9}),
            1508,
            9,
            {"stereo_antistereo", "bias_type"},
        ),
        # arXiv 2507.16442
        (
            "CrowS-Pairs",
            "crows_nl.csv",
            delimited(DUTCH_CROWS, 1463, {"stereo_antistereo": 2, "bias_type": 9}),
            1463,
            9,
            {"stereo_antistereo", "bias_type"},
        ),
        # Dutch alone, as its notebook prints it; 101 languages have more than 128,000 pairs (arXiv 2504.02768).
        (
            "MultiBLiMP",
            "nld.tsv",
            delimited(
                MULTIBLIMP,
                2331,
                {
                    "phenomenon": 2,
                    "grammatical_feature": 5,
                    "ungrammatical_feature": 5,
                    "wo": 2,
                    "inflect_item": 2,
                    "feature_vals": 8,
                    "verb_idx": 30,
                    "cop_idx": 30,
                    "child_idx": 30,
                    "head_idx": 30,
                },
                "\t",
            ),
            2331,
            2,
            {"phenomenon", "grammatical_feature", "ungrammatical_feature", "wo", "inflect_item", "feature_vals"},
        ),
        # 84 paradigms of 100 pairs in 22 phenomena: Suijkerbuijk, Prins et al., 10.1162/coli_a_00559.
        (
            "BLiMP-NL",
            "blimp_nl.csv",
            delimited(BLIMP_NL, 8400, {"linguistic_phenomenon": 22, "paradigm": 84}),
            8400,
            22,
            {"linguistic_phenomenon", "paradigm"},
        ),
    ],
)
def test_a_file_has_the_pairs_of_its_paper(
    name: str, file: str, raw: bytes, n: int, n_categories: int, fields: set[str]
) -> None:
    pairs = from_table(read_table(raw, file))
    assert (pairs.format, pairs.n, len(set(pairs.categories)), set(pairs.fields)) == (name, n, n_categories, fields)
    assert pairs.acceptable[0] != pairs.unacceptable[0] and not pairs.notices


def test_comps_has_its_base_and_its_wugs() -> None:
    """49,340 and 13,896 pairs (Misra et al. 2023): the 29,592 + 16,727 + 16,917 of Ueda et al. 2024."""
    groups = {"property": 3592, "acceptable_concept": 521, "unacceptable_concept": 521, "negative_sample_type": 4}
    pairs = read_pairs(
        [
            ("comps_base.jsonl", json_lines(COMPS_BASE, 49_340, groups)),
            ("comps_wugs.jsonl", json_lines(COMPS_WUGS, 13_896, groups | {"distraction_type": 1})),
        ]
    )
    assert pairs.format == "COMPS" and pairs.n == 29_592 + 16_727 + 16_917
    assert Counter(pairs.sources) == {"comps_base.jsonl": 49_340, "comps_wugs.jsonl": 13_896}
    assert len(set(pairs.categories)) == 4 and pairs.acceptable[0] == "prefix_acceptable 0 property_phrase 0"
    assert set(pairs.fields) == {
        "property",
        "acceptable_concept",
        "unacceptable_concept",
        "negative_sample_type",
        "distraction_type",
    }


def test_zhoblimp_has_118_paradigms_in_15_phenomena() -> None:
    """35k pairs (its README), a file for each paradigm with the columns of data_gen/__main__.py: so 300 of each."""
    files = {
        f"ZhoBLiMP/p{i}.jsonl": json_lines(ZHOBLIMP, 300, {"UID": 1, "phenomenon": 1})
        .replace(b"UID 0", b"p%d" % i)
        .replace(b"phenomenon 0", b"phenomenon %d" % (i * 15 // 118))
        .replace(b"sentence_good ", b"sentence_good %d " % i)
        for i in range(118)
    }
    pairs = read_pairs([("ZhoBLiMP.zip", zipped(files))])
    assert (pairs.format, pairs.n) == ("ZhoBLiMP", 35_400)
    assert set(Counter(pairs.fields["UID"]).values()) == {300} and len(set(pairs.fields["UID"])) == 118
    assert len(set(pairs.categories)) == 15 and set(pairs.fields) == {"UID", "phenomenon"}


def test_turblimp_has_16_phenomena_of_1000_pairs() -> None:
    """README of its repository; the cells are separated by semicolons."""
    files = {
        f"data/augmented/augmented_{i}.csv": delimited(TURBLIMP, 1000, {"phenomenon": 1}, ";")
        .replace(b"phenomenon 0", b"phenomenon %d" % i)
        .replace(b"good_sentence ", b"good %d " % i)
        for i in range(16)
    }
    pairs = read_pairs([("turblimp.zip", zipped(files))])
    assert (pairs.format, pairs.n) == ("TurBLiMP", 16_000)
    assert Counter(pairs.categories) == {f"phenomenon {i}": 1000 for i in range(16)}


def test_syntaxgym_has_34_suites() -> None:
    """34 suites (Hu et al. 2020), each a JSON object as docs/sample_suite.json of syntaxgym-core."""

    def suite(name: str) -> bytes:
        return json.dumps(
            {
                "meta": {"name": name, "metric": "sum"},
                "predictions": [{"type": "formula", "formula": "(2;%mismatch%) > (2;%match%)"}],
                "region_meta": {"1": "Subject NP", "2": "Verb"},
                "items": [
                    {
                        "item_number": number,
                        "conditions": [
                            {
                                "condition_name": condition,
                                "regions": [
                                    {"region_number": 1, "content": f"The scale of {name}"},
                                    {"region_number": 2, "content": verb},
                                ],
                            }
                            for condition, verb in (("match", "tips"), ("mismatch", "tip"))
                        ],
                    }
                    for number in (1, 2)
                ],
            }
        ).encode()

    pairs = read_pairs([("suites.zip", zipped({f"test_suites/json/{name}.json": suite(name) for name in SUITES}))])
    assert len(SUITES) == 34 and pairs.format == DESIGN
    assert Counter(pairs.fields["suite"]) == dict.fromkeys(SUITES, 4)


# Arabic minimal pairs (Alrajhi et al. 2022): the header is not in any place that could be found, so these are the names
# that a file of such pairs naturally has. 702 + 251 + 547 pairs under Arabic GPT2.
ARABIC = [
    ("Grammatical", "Ungrammatical"),
    *((f"قرأ الولد الكتاب {i}", f"قرأت الولد الكتاب {i}") for i in range(702 + 251 + 547)),
]


def arabic_csv(encoding: str, delimiter: str = ",") -> bytes:
    csv.writer(text := io.StringIO(), delimiter=delimiter).writerows(ARABIC)
    return text.getvalue().encode(encoding)


def arabic_workbook() -> bytes:
    book = Workbook()
    book.active.sheet_view.rightToLeft = True
    for row in ARABIC:
        book.active.append(row)
    book.save(sink := io.BytesIO())
    return sink.getvalue()


@pytest.mark.parametrize(
    ("file", "raw"),
    [
        ("arabic.csv", arabic_csv("utf-8")),
        ("arabic.csv", arabic_csv("utf-8-sig")),
        ("arabic.txt", arabic_csv("utf-16")),
        ("arabic.tsv", arabic_csv("utf-8-sig", "\t")),
        ("arabic.xlsx", arabic_workbook()),
    ],
)
def test_arabic_minimal_pairs_are_read_from_right_to_left(file: str, raw: bytes) -> None:
    pairs: MinimalPairs = from_table(read_table(raw, file))
    assert pairs.n == 1500 and pairs.right_to_left and not pairs.notices
    assert (pairs.acceptable[-1], pairs.unacceptable[-1]) == ARABIC[-1] and pairs.acceptable[0] == ARABIC[1][0]
