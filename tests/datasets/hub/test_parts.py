"""Names of data of the hub, and which files of a repository they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from engine.datasets.hub.names import HubName, parsed, require_allowed
from engine.datasets.hub.parts import chosen, parts_of
from engine.errors import AccessError, InputError

# As the hub shows such repositories: a configuration for each folder; a split for each file; a card that says both.
BLIMP = ["README.md", "causative/train-00000-of-00001.parquet", "drop_argument/train-00000-of-00001.parquet"]
SCORED = ["data/train.jsonl", "data/test.jsonl", "dev.jsonl", "dataset_infos.json"]
CARD: Mapping[str, Any] = {
    "configs": [
        {"config_name": "jsts", "data_files": [{"split": "validation", "path": "jsts/valid*.json"}]},
        {"config_name": "eng", "data_files": "eng/*.tsv"},
        {"config_name": "two", "data_dir": "two", "data_files": [{"split": "a", "path": ["x.csv", "y.csv"]}]},
    ]
}
DESCRIBED = ["jsts/valid-v1.3.json", "eng/data.tsv", "two/x.csv", "two/y.csv", "other.csv"]


def files(name: str, listed: list[str], card: Mapping[str, Any] | None = None) -> list[str]:
    return [part.file for part in chosen(parsed(name), parts_of(listed, card or {}))]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hub:a-b/c.d", HubName("a-b/c.d")),
        ("hub:a/b:x_1", HubName("a/b", "x_1")),
        ("hub:a/b/test", HubName("a/b", split="test")),
        ("hub:a/b:x/test@refs/convert/parquet", HubName("a/b", "x", "test", "refs/convert/parquet")),
        ("hub:a/b:*", HubName("a/b", "*")),
    ],
)
def test_a_name_has_its_parts_and_is_written_again(text: str, name: HubName) -> None:
    assert parsed(text) == name and str(name) == text


@pytest.mark.parametrize("text", ["hub:", "hub:a", "hub:a/b/c/d", "hub:a/b:x/../y", "hub:../b", "a/b", "hub:a/b@"])
def test_another_text_is_no_name(text: str) -> None:
    with pytest.raises(InputError, match="names no data set of the Hugging Face Hub"):
        parsed(text)


def test_files_are_found_by_their_paths() -> None:
    assert files("hub:a/b:causative", BLIMP) == [BLIMP[1]]
    assert files("hub:a/b:*/train", BLIMP) == BLIMP[1:]
    assert files("hub:a/b/test", SCORED) == ["data/test.jsonl"]
    assert files("hub:a/b/dev", SCORED) == files("hub:a/b/validation", SCORED) == ["dev.jsonl"]
    converted = ["jsts/train/0000.parquet", "jsts/validation/0000.parquet", "jsts/validation/0001.parquet"]
    assert files("hub:a/b:jsts/validation", converted) == converted[1:]
    assert files("hub:a/b", ["jblimp.jsonl"]) == ["jblimp.jsonl"]
    assert files("hub:a/b/test", ["data/test.jsonl.gz", "data/test.gz"]) == ["data/test.jsonl.gz"]


def test_what_the_card_says_comes_first() -> None:
    assert files("hub:a/b:jsts", DESCRIBED, CARD) == ["jsts/valid-v1.3.json"]
    assert files("hub:a/b:eng/train", DESCRIBED, CARD) == ["eng/data.tsv"]
    assert files("hub:a/b:two/a", DESCRIBED, CARD) == ["two/x.csv", "two/y.csv"]


@pytest.mark.parametrize(
    ("name", "listed", "card", "message"),
    [
        ("hub:a/b", BLIMP, None, r"Name one of: 'causative', 'drop_argument'; or \* for all, as in hub:a/b:\*"),
        ("hub:a/b:causatives", BLIMP, None, "names no configuration that there is"),
        ("hub:a/b", SCORED, None, "has the splits 'test', 'train', 'validation'. Name one of them, as in hub:a/b/test"),
        ("hub:a/b:jsts/test", DESCRIBED, CARD, "has the splits 'validation'"),
        ("hub:a/b", ["README.md", "a.py", "dataset_infos.json"], None, "holds no data that can be read"),
    ],
)
def test_what_is_not_told_is_asked_for(
    name: str, listed: list[str], card: Mapping[str, Any] | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        files(name, listed, card)


def test_an_instance_may_allow_some_data_sets_alone() -> None:
    require_allowed("any/thing", {})
    environment = {"HAKARI_ALLOWED_DATASETS": "nyu-mll/*, own/pairs"}
    require_allowed("nyu-mll/blimp", environment)
    require_allowed("own/pairs", environment)
    with pytest.raises(AccessError, match=r"'other/pairs' is not among those of this instance"):
        require_allowed("other/pairs", environment)
