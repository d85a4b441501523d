"""Rows with several sentences in a cell, and EWoK: BabyLM's files, with sentences of our own writing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.datasets.formats.files import Table, read_table
from engine.datasets.minimal_pairs.files import joined, read_pairs
from engine.datasets.minimal_pairs.pairs import from_table, guess_columns
from engine.errors import InputError
from engine.evaluations.minimal_pairs.records import MARKED
from engine.evaluations.minimal_pairs.regions import marked_notices, regions_in
from tests.support.layouts.babylm import ENTITIES, EWOK, FORMS, PREFIX


def table_of(rows: Sequence[dict[str, Any]], name: str = "regular.jsonl") -> Table:
    return read_table("\n".join(map(json.dumps, rows)).encode(), name)


def test_each_other_option_is_a_pair_with_the_right_one() -> None:
    pairs = from_table(table_of(ENTITIES))
    assert pairs.format == "Entity tracking" and pairs.data_kind.name == "pairs" and pairs.rows == (1, 2, 3)
    assert pairs.acceptable[:2] == (f"{PREFIX} the cup.",) * 2
    assert pairs.unacceptable == (
        f"{PREFIX} nothing.",
        f"{PREFIX} the hat.",
        f"The cup is moved to Box 1. {PREFIX} the cup.",
    )
    assert pairs.fields["item"] == ("1", "1", "2") and pairs.fields["numops"] == ("0", "0", "1")
    assert "2 items of several sentences are read as 3 pairs" in pairs.notices[0]
    assert MARKED in regions_in(pairs) and not marked_notices(pairs)
    assert from_table(table_of(ENTITIES), {"category": None}) == pairs


def test_the_form_that_more_people_choose_is_acceptable() -> None:
    pairs = from_table(table_of(FORMS, "wug_adj_nominalization.jsonl"))
    assert pairs.format == "WUG" and [text.split()[-1] for text in pairs.acceptable] == [
        "flibness",
        "daskity",
        "moolness",
    ]
    assert pairs.notices[0].endswith("1 of 3 rows are even, and their first sentence is.")
    guess = guess_columns(table_of(FORMS))
    assert guess["acceptable"] == guess["unacceptable"] == "sentences"


def test_ewok_is_the_targets_after_the_first_context() -> None:
    pairs = from_table(table_of(EWOK, "social-relations.jsonl"))
    assert pairs.format == "EWoK" and set(pairs.fields) == {"Domain", "TargetDiff", "ContextDiff", "ContextType"}
    assert pairs.acceptable == ("Ann likes Bo. Ann smiles.", "Ann hates Bo. Ann frowns.")
    assert pairs.unacceptable == ("Ann likes Bo. Ann frowns.", "Ann hates Bo. Ann smiles.")
    assert MARKED in regions_in(pairs)


def test_all_tasks_are_one_data_set_from_one_folder(tmp_path: Path) -> None:
    blimp = [{"sentence_good": f"The {noun} tips.", "sentence_bad": f"The {noun} tip."} for noun in ("cup", "hat")]
    comps = [{"prefix_acceptable": "A hat", "prefix_unacceptable": "A cup", "property_phrase": "can be worn."}]
    files = {
        "supplement_filtered/hypernym": blimp,
        "comps/comps_base": comps,
        "entity_tracking/regular": ENTITIES,
        "ewok_filtered/social-relations": EWOK,
        "wug_adj_nominalization/wug_adj_nominalization": FORMS,
    }
    for name, rows in files.items():
        path = tmp_path / "full_eval" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    pairs = read_pairs([("full_eval", tmp_path / "full_eval")])
    assert pairs.n == 2 + 1 + 3 + 2 + 3 and pairs.data_kind.name == "pairs"
    assert list(dict.fromkeys(pairs.sources)) == [f"{name}.jsonl" for name in sorted(files)]
    assert joined([from_table(table_of(FORMS, "a.jsonl")), from_table(table_of(EWOK, "b.jsonl"))]).n == 5


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{**ENTITIES[0], "options": "the cup"}], "'options' is no list of texts"),
        ([{**ENTITIES[0], "options": [" the cup."]}], "'options' has 1 of them, not two or more"),
        ([{**ENTITIES[0], "options": [" the cup.", " "]}], "the beginning or an option is empty"),
        ([{**FORMS[0], "sentences": "Its flibness"}], "is not two sentences with a tab"),
        ([{**FORMS[0], "ratio": 75}], "'ratio' holds '75', not a share"),
        ([{**FORMS[0], "ratio": "nan"}], "'ratio' holds 'nan', not a share"),
    ],
)
def test_bad_rows_are_listed_or_left_out(rows: list[dict[str, Any]], words: str) -> None:
    sound = ENTITIES[1] if "options" in rows[0] else FORMS[1]
    with pytest.raises(InputError) as error:
        from_table(table_of([sound, *rows]))
    (bad,) = error.value.rows
    assert bad.row == 2 and words in str(bad.reason)
    kept = from_table(table_of([sound, *rows]), skip_bad_rows=True)
    assert kept.n == 1 and any(words in notice for notice in kept.notices)
