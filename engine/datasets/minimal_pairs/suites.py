"""SyntaxGym's suites as they are published: the JSON object of a suite, and rows of the Hugging Face Hub's dataset."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import InputError
from engine.messages.message import Message

METRIC = "sum"
MOST_REGIONS = 999
# The columns of a row that is a suite, and of one that is an item of a suite; and what else is read of them.
_SUITE, _ITEM = {"items", "predictions"}, {"item_number", "conditions", "predictions"}
_READ = {*_SUITE, *_ITEM, "suite_name", "meta", "region_meta"}


@dataclass(frozen=True)
class Sentence:
    """The sentence of an item in a condition; `regions` by number, "" where one is empty."""

    suite: str
    item: str
    condition: str
    regions: Mapping[int, str]


@dataclass(frozen=True)
class Suite:
    """What a row of a file says of a suite: all of it, or one item."""

    name: str
    sentences: tuple[Sentence, ...]
    formulas: tuple[str, ...]
    region_names: Mapping[int, str]


def is_suite(columns: Collection[str]) -> bool:
    """Whether each row of a file with these columns (normalised names) is a suite, or an item of one."""
    return set(columns) >= _SUITE or set(columns) >= _ITEM


def is_number(text: str) -> bool:
    """Whether a text is a number that a region can have, as digits."""
    return text.isdecimal() and len(text) <= len(str(MOST_REGIONS)) and int(text) > 0


def read(where: str, row: Mapping[str, str]) -> Suite:
    """The suite of a row, whose cells are JSON. where: the file, and the row where it has several, for errors.

    Raises InputError for another metric than the sum, predictions that are no formulas, and what is not as published.
    """
    cells = {name: _value(where, name, text) for name, text in row.items() if name in _READ and text}
    name, meta = str(cells.get("suite_name", "")), cells.get("meta")
    if isinstance(meta, Mapping):
        name = name or _text(meta.get("name"))
        if meta.get("metric", METRIC) not in (METRIC, [METRIC], "all"):
            raise InputError(
                Message(
                    "{where}: the metric is {meta!r}. A region's surprisal is the sum over its "
                    "tokens; only the metric {METRIC!r} is computed.",
                    where=where,
                    meta=meta["metric"],
                    METRIC=METRIC,
                )
            )
    items = _list(where, "items", cells.get("items", [cells] if "conditions" in cells else None))
    name, names = name.strip(), cells.get("region_meta")
    return Suite(
        name,
        tuple(sentence for place, item in enumerate(items, start=1) for sentence in _of_item(where, name, item, place)),
        tuple(map(_formula, _list(where, "predictions", cells.get("predictions")))),
        {int(number): _text(called) for number, called in names.items() if is_number(number)}
        if isinstance(names, Mapping)
        else {},
    )


def _of_item(where: str, suite: str, item: Any, place: int) -> Iterator[Sentence]:
    if not isinstance(item, Mapping):
        raise InputError(
            Message("{where}: item {place} is no object with item_number and conditions.", where=where, place=place)
        )
    number = _text(item.get("item_number", str(place))).strip()
    conditions = _list(where, Message("the conditions of item {number}", number=number), item.get("conditions"))
    if not conditions:
        raise InputError(
            Message(
                "{where}: item {number} has no conditions. Remove it, or give it a sentence in each.",
                where=where,
                number=number,
            )
        )
    for condition in conditions:
        name = _text(condition.get("condition_name")) if isinstance(condition, Mapping) else ""
        regions = _list(
            where,
            Message("the regions of item {number}, condition {name!r}", number=number, name=name),
            condition.get("regions") if isinstance(condition, Mapping) else None,
        )
        contents: dict[int, str] = {}
        for index, region in enumerate(regions, start=1):
            if not isinstance(region, Mapping) or not isinstance(region.get("content"), str):
                raise InputError(
                    Message(
                        "{where}: region {index} of item {number}, condition {name!r}, has no text as its content.",
                        where=where,
                        index=index,
                        number=number,
                        name=name,
                    )
                )
            given = str(region.get("region_number", index))
            if not is_number(given) or int(given) in contents:
                raise InputError(
                    Message(
                        "{where}: {given!r} cannot be the number of region {index} of item {number}, "
                        "condition {name!r}. Regions are numbered from 1, each once.",
                        where=where,
                        given=given,
                        index=index,
                        number=number,
                        name=name,
                    )
                )
            contents[int(given)] = region["content"].strip()
        yield Sentence(suite, number, name.strip(), contents)


def _value(where: str, name: str, text: str) -> Any:
    if name == "suite_name" or name == "item_number":
        return text
    try:
        return json.loads(text, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise InputError(
            Message("{where}: {name} is not JSON ({error}).", where=where, name=name, error=error)
        ) from error


def _text(value: Any) -> str:
    """A name or a number as text; "" for anything else, which no name can be."""
    return str(value) if isinstance(value, str | float) else ""  # whole numbers are read as texts


def _list(where: str, what: str, value: Any) -> list[Any]:
    """A list, also as Hugging Face datasets write one of objects: an object of lists."""
    if isinstance(value, Mapping) and value and all(isinstance(column, list) for column in value.values()):
        lengths = {len(column) for column in value.values()}
        if len(lengths) == 1:
            return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    if not isinstance(value, list):
        raise InputError(
            Message(
                "{where}: {what} are no list. Needed: a suite as SyntaxGym publishes it, with items, "
                "their conditions, and the regions of each.",
                where=where,
                what=what,
            )
        )
    return value


def _formula(prediction: Any) -> str:
    if isinstance(prediction, Mapping) and prediction.get("type", "formula") != "formula":
        raise InputError(
            Message(
                "A prediction is of the type {prediction!r}; only formulas are computed.", prediction=prediction["type"]
            )
        )
    return str(prediction.get("formula", "") if isinstance(prediction, Mapping) else prediction).replace("\n", " ")
