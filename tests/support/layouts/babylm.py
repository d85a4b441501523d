"""Files in the layouts of BabyLM's evaluation data, in its folders; the sentences are of our own writing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PREFIX = "Box 0 holds the cup. Box 0 contains"
ENTITIES = [
    {"input_prefix": PREFIX, "options": [" the cup.", " nothing.", " the hat."], "numops": 0},
    {"input_prefix": f"The cup is moved to Box 1. {PREFIX}", "options": [" nothing.", " the cup."], "numops": 1},
]
FORMS = [
    {"sentences": "A flib one. Its flibness\tA flib one. Its flibity", "ratio": 0.75},
    {"sentences": "A dask one. Its daskness\tA dask one. Its daskity", "ratio": 0.2},
    {"sentences": "A mool one. Its moolness\tA mool one. Its moolity", "ratio": 0.5},
]
EWOK = [
    {
        "Domain": "social-relations",
        "TargetDiff": "swap",
        "ContextDiff": "antonym",
        "ContextType": "direct",
        "Context1": first,
        "Context2": second,
        "Target1": target,
        "Target2": other,
    }
    for first, second, target, other in (
        ("Ann likes Bo.", "Ann hates Bo.", "Ann smiles.", "Ann frowns."),
        ("Ann hates Bo.", "Ann likes Bo.", "Ann frowns.", "Ann smiles."),
    )
]
BLIMP = [
    {
        "sentence_good": f"The {noun} is good.",
        "sentence_bad": f"The {noun} are good.",
        "UID": uid,
        "field": "morphology",
        "linguistics_term": "agreement",
    }
    for noun, uid in (("cup", "one"), ("old hat", "one"), ("cat in the box", "two"))
]
BLIMP.append({**BLIMP[0], "sentence_bad": BLIMP[0]["sentence_good"]})  # a tie
SUPPLEMENT = [{"sentence_good": "Is he here? He is.", "sentence_bad": "Is he here? He are."}]
COMPS = [
    {"prefix_acceptable": f"A {good}", "prefix_unacceptable": f"A {bad}", "property_phrase": "can be worn."}
    for good, bad in (("hat", "long box"), ("red coat", "cup"))
]
MOVED = [{**row, "input_prefix": f"Mary waits. {row['input_prefix']}"} for row in ENTITIES]
FILES: dict[str, dict[str, list[dict[str, Any]]]] = {
    "blimp/blimp_filtered": {"one": BLIMP[:2], "two": BLIMP[2:3], "ties": BLIMP[3:]},
    "blimp/supplement_filtered": {"turn_taking": SUPPLEMENT},
    "comps/comps": {"comps_base": COMPS, "comps_wugs_dist-in-between": COMPS[:1]},
    "entity_tracking/entity_tracking": {"ambiref": MOVED, "regular": ENTITIES},
    "ewok/ewok_filtered": {"social-relations": EWOK},
    "wug_adj/wug_adj_nominalization": {"wug_adj_nominalization": FORMS},
    "wug_past/wug_past_tense": {"wug_past_tense": [*FORMS, {**FORMS[0], "ratio": 0.1}]},
}


def written(root: Path, files: Mapping[str, Mapping[str, list[dict[str, Any]]]] = FILES) -> Path:
    """The files below a folder, in the challenge's own; returns the folder."""
    for name, of_folder in files.items():
        for stem, rows in of_folder.items():
            path = root / name.split("/")[1] / f"{stem}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return root
