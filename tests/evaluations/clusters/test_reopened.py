"""Clusters of earlier versions: classes of one sentence mean what they meant, and other sentences have no ranks."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from engine.evaluations.clusters.records import RANKS, UNRANKED, Result, Settings
from engine.evaluations.presets import preset
from engine.runs.storage.json_codec import record_from_json, to_json_value
from engine.runs.storage.packing import pack, unpack
from tests.support.cluster_results import result_of


def reopened(result: Result) -> Result:
    files = pack(result)
    return unpack(Result, files.__getitem__, "The result")


def test_stored_settings_without_a_word_of_lone_classes_kept_them() -> None:
    stored = to_json_value(Settings(("m",)))
    assert record_from_json(Settings, stored).lone_classes == "exclude"
    del stored["lone_classes"]
    assert record_from_json(Settings, stored).lone_classes == "keep"
    assert record_from_json(Settings, {**stored, "lone_classes": "keep"}).lone_classes == "keep"


def test_the_papers_preset_keeps_what_the_paper_printed() -> None:
    assert preset("clusters", "shibayama-2020").settings.lone_classes == "keep"


def test_a_stored_result_over_different_sentences_opens_without_ranks() -> None:
    result = result_of(models=("owner/first", "owner/second"))
    same = reopened(result)
    pd.testing.assert_frame_equal(same.models[list(result.models)], result.models)
    assert UNRANKED not in same.notices
    points = result.points[~((result.points["model"] == "owner/first") & (result.points["row"] > 9))]
    other = reopened(replace(result, points=points.reset_index(drop=True)))
    assert other.models[list(RANKS)].isna().all(axis=None) and other.models["score"].notna().all()
    assert UNRANKED in other.notices
