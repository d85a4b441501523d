"""The finding of a result: one message made of tests, which every page, list and export shows as it is.

Which model is better, by how much, whether chance explains it. An evaluation makes a `Contest` of its tables, and adds
what would change the finding; nobody else words it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engine.language.quantities import count
from engine.measures.cards.card import Better
from engine.messages.message import Message, list_of, together
from engine.models.sources.names import shown_name

# Below, no exact test of paired decisions can be significant: five that all differ alike have p = 2 / 2⁵ = 0.0625.
FEWEST = 6
MOST_NAMED = 2
BUILT_IN = "builtin/"
MOST_LISTED = 3  # numbers
MOST_DIGITS = 6
SMALLEST_P, SIGNIFICANT = 0.001, 0.05


@dataclass(frozen=True)
class Standing:
    """The number of one model, with its interval; NaN where it is undefined."""

    model: str
    value: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class Contrast:
    """The difference of two models: the first less the second, with its interval and, where there is one, its p-value.

    p: corrected for `n_tests`. is_separable: whether chance is unlikely to explain it. A difference with neither interval
    nor p-value was not tested.
    """

    difference: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    n_tests: int = 1
    is_separable: bool = False

    @property
    def is_tested(self) -> bool:
        """Whether there is a test at all."""
        return not (math.isnan(self.p) and math.isnan(self.low))

    def turned(self) -> Contrast:
        """The second less the first."""
        return Contrast(-self.difference, -self.high, -self.low, self.p, self.n_tests, self.is_separable)


@dataclass(frozen=True)
class Contest:
    """What a finding is made of.

    label: the measure in a sentence. better: its better end. n, noun: how many items it is over (`count`). standings:
    of all models, in any order. contrasts: by two models, in one order or the other. is_share: whether values are shown
    in per cent, and differences in points. digits: decimals of what is shown. reason: why values are undefined, as a sentence.
    n_left_out: rows of the data that count for no model, or not for all. names: what the sentence calls the models,
    `spoken` by default. are_sides: whether the standings are a left and a right side, whose difference is told as left
    less right, as beside it, whichever is better.
    """

    label: str
    better: Better
    n: int
    noun: str
    standings: Sequence[Standing]
    contrasts: Mapping[tuple[str, str], Contrast]
    is_share: bool = True
    digits: int = 1
    reason: str = ""
    n_left_out: int = 0
    names: Mapping[str, str] | None = None
    are_sides: bool = False

    def contrast(self, model: str, other: str) -> Contrast:
        """The difference of the two models, the first less the second."""
        if (model, other) in self.contrasts:
            return self.contrasts[model, other]
        if (other, model) in self.contrasts:
            return self.contrasts[other, model].turned()
        by_model = {each.model: each.value for each in self.standings}
        return Contrast(by_model[model] - by_model[other])

    @property
    def ranked(self) -> list[Standing]:
        """The models with a value, the best first; where no end is better, the greatest."""
        defined = [each for each in self.standings if not math.isnan(each.value)]
        return sorted(defined, key=lambda each: each.value, reverse=self.better != "lower")

    def number(self, value: float) -> str:
        """A value as sentences show it."""
        return f"{value:.{self.digits}%}" if self.is_share else _plain(f"{value:,.{self.digits}f}")


def finding_of(contest: Contest, further: Iterable[str] = ()) -> Message:
    """The sentence of a contest; then what `further` says, and what was left out."""
    ranked = contest.ranked
    names = contest.names or spoken(each.model for each in contest.standings)
    undefined = [names[each.model] for each in contest.standings if math.isnan(each.value)]
    sentences: list[str] = [_sentence(contest, ranked, names), *further]
    if ranked and undefined:
        sentences.append(Message("Undefined for {models}.", models=listed(undefined)))
    return finding_parts(sentences, contest.n_left_out)


def finding_parts(sentences: Sequence[str], n_left_out: int = 0) -> Message:
    """Sentences as one finding; then how many rows of the data were left out, if any."""
    left_out = [Message("Left out: {rows}.", rows=count(n_left_out, "row"))] if n_left_out else []
    return together(" ", [*sentences, *left_out])


def spoken(models: Iterable[str]) -> dict[str, str]:
    """What sentences call models, by name: the label; of a built-in one the name; of a path its last part, if no other
    has the same.

    >>> spoken(["builtin/bert-mini-ja", "/srv/models/ours", "Base=/srv/models/base", "owner/name"])
    {'builtin/bert-mini-ja': 'bert-mini-ja', '/srv/models/ours': 'ours', 'Base=/srv/models/base': 'Base', \
'owner/name': 'owner/name'}
    >>> list(spoken(["builtin/bert-mini-ja", "bert-mini-ja=/srv/models/ours"]).values())
    ['builtin/bert-mini-ja', 'bert-mini-ja']
    """
    full = {model: shown_name(model) for model in models}
    whole = {model: name.removeprefix(BUILT_IN) for model, name in full.items()}
    short = {model: _last_part(name) for model, name in whole.items()}
    taken = [Counter(names.values()) for names in (short, whole)]
    return {
        model: next(
            (names[model] for names, n_each in zip((short, whole), taken, strict=True) if n_each[names[model]] == 1),
            name,
        )
        for model, name in full.items()
    }


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; many are counted."""
    if len(names) > MOST_NAMED:
        return Message("{n:,} models", n=len(names))
    return list_of(names) if len(names) > 1 else names[0]


def left_out_rows(excluded: pd.DataFrame) -> int:
    """How many rows of the data a table of what was left out names."""
    return int(excluded["row"].nunique()) if len(excluded) else 0


def contrasts_of(table: pd.DataFrame, p_column: str = "") -> dict[tuple[str, str], Contrast]:
    """The contrasts of a table with columns model, other, difference, ci_low, ci_high and separable."""
    tested = int(table[p_column].notna().sum()) if p_column else 1
    return {
        (str(row["model"]), str(row["other"])): Contrast(
            float(row["difference"]),
            float(row["ci_low"]),
            float(row["ci_high"]),
            float(row[p_column]) if p_column else math.nan,
            tested,
            bool(row["separable"]),
        )
        for row in table.to_dict("records")
    }


def _sentence(contest: Contest, ranked: Sequence[Standing], names: Mapping[str, str]) -> Message:
    common: dict[str, Any] = {"measure": contest.label, "over": count(contest.n, contest.noun)}
    if not ranked:
        nothing = Message("No model has a value: {measure} is undefined.", measure=contest.label)
        return together(" ", [nothing, contest.reason]) if contest.reason else nothing
    best = ranked[0]
    common |= {"best": names[best.model], "value": with_interval(contest, best)}
    if len(ranked) == 1:
        return Message("{best}: {measure} {value} over {over}.", **common)
    if contest.n < FEWEST:
        return Message(
            "{over}: too few to tell models apart, at least {fewest} are needed. {standings}.",
            over=common["over"],
            fewest=FEWEST,
            standings=_standings(contest, ranked, names),
        )
    if all(each.value == best.value for each in ranked):
        return Message(
            "{models} tie: {measure} {value} each, over {over}.",
            models=listed([names[each.model] for each in ranked]),
            **{name: common[name] for name in ("measure", "over")},
            value=contest.number(best.value),
        )
    return _compared(contest, ranked, names, common)


def _compared(
    contest: Contest, ranked: Sequence[Standing], names: Mapping[str, str], common: Mapping[str, Any]
) -> Message:
    """Two models or more that differ, over enough items."""
    best, others = ranked[0], ranked[1:]
    if others[0].value == best.value:
        return _tied_ahead(contest, ranked, names, common)
    contrasts = {each.model: contest.contrast(best.model, each.model) for each in others}
    alike = [each for each in others if not contrasts[each.model].is_separable]
    nearest = others[0]
    named = {
        **common,
        "other": names[nearest.model],
        "other_value": contest.number(nearest.value),
        "difference": _of_sides(contest, contrasts[nearest.model], best)
        if contest.are_sides
        else _difference(contest, contrasts[nearest.model]),
    }
    if not any(contrast.is_tested for contrast in contrasts.values()):
        return Message(
            "{best} has the {most} {measure}, {value}, before {other} with {other_value}, over {over}; the difference "
            "was not tested.",
            most=MOST[contest.better],
            **{name: named[name] for name in ("best", "measure", "value", "other", "other_value", "over")},
        )
    if len(ranked) == 2:
        return TWO[contest.better if not alike else ""].format(**named)
    if not alike:
        return EACH[contest.better].format(n=len(others), **named)
    return Message(
        "{best} leads, but is not distinguishable from {alike}: {measure} {value} over {over}, difference from {other} "
        "{difference}.",
        alike=listed([names[each.model] for each in alike]),
        **{name: named[name] for name in ("best", "measure", "value", "over")},
        other=names[alike[0].model],
        difference=_difference(contest, contrasts[alike[0].model]),
    )


def _tied_ahead(
    contest: Contest, ranked: Sequence[Standing], names: Mapping[str, str], common: Mapping[str, Any]
) -> Message:
    """Some models with the same best value, before the others."""
    tied = [each for each in ranked if each.value == ranked[0].value]
    following = ranked[len(tied)]
    contrast = contest.contrast(tied[0].model, following.model)
    sentence = TIED[contrast.is_separable] if contrast.is_tested else TIED_UNTESTED
    return sentence.format(
        models=listed([names[each.model] for each in tied]),
        measure=common["measure"],
        value=contest.number(tied[0].value),
        over=common["over"],
        best=names[tied[0].model],
        other=names[following.model],
        other_value=contest.number(following.value),
        difference=_difference(contest, contrast),
    )


MOST = {"lower": Message("smallest"), "higher": Message("highest"), "neither": Message("highest")}
_BETTER = Message(
    "{best} is better than {other}: {measure} {value} against {other_value} over {over}, difference {difference}."
)
_EACH_BETTER = Message(
    "{best} is better than each of the other {n} models: {measure} {value} over {over}; next is {other} with "
    "{other_value}, difference {difference}."
)
# By the better end; "" where chance may explain the difference.
TWO = {
    "lower": _BETTER,
    "higher": _BETTER,
    "neither": Message(
        "{best} is above {other}: {measure} {value} against {other_value} over {over}, difference {difference}."
    ),
    "": Message(
        "{best} and {other} are not distinguishable: {measure} {value} against {other_value} over {over}, difference "
        "{difference}."
    ),
}
EACH = {
    "lower": _EACH_BETTER,
    "higher": _EACH_BETTER,
    "neither": Message(
        "{best} is above each of the other {n} models: {measure} {value} over {over}; next is {other} with "
        "{other_value}, difference {difference}."
    ),
}


# By whether the next model is separable from the first of those that tie.
TIED = {
    True: Message(
        "{models} tie for the first place: {measure} {value} each, over {over}; next is {other} with {other_value}, "
        "significantly different from {best} (difference {difference})."
    ),
    False: Message(
        "{models} tie for the first place: {measure} {value} each, over {over}; next is {other} with {other_value}, not "
        "distinguishable from {best} (difference {difference})."
    ),
}
TIED_UNTESTED = Message(
    "{models} tie for the first place: {measure} {value} each, over {over}; next is {other} with {other_value}, a "
    "difference from {best} that was not tested ({difference})."
)


def bound_of_p(p: float) -> float | None:
    """What a p-value is said to be below, where its three decimals would say 0 or that it is not significant; else None.

    >>> bound_of_p(0.0004), bound_of_p(0.0497), bound_of_p(0.0312)
    (0.001, 0.05, None)
    """
    if p < SMALLEST_P:
        return SMALLEST_P
    return SIGNIFICANT if p < SIGNIFICANT <= round(p, 3) else None


def p_value(p: float, n_tests: int = 1) -> Message:
    """A p-value, and of how many tests it was corrected for.

    >>> p_value(0.0004), p_value(0.0312, 3), p_value(0.0497)
    ('p < 0.001', 'p = 0.031, Holm over 3 tests', 'p < 0.05')
    """
    bound = bound_of_p(p)
    sign, shown = ("=", f"{p:.3f}") if bound is None else ("<", f"{bound}")
    if n_tests > 1:
        return Message("p {sign} {p}, Holm over {n} tests", sign=sign, p=shown, n=n_tests)
    return Message("p {sign} {p}", sign=sign, p=shown)


def _difference(contest: Contest, contrast: Contrast) -> Message:
    """A difference with its interval and its p-value, as far as there are any.

    The interval of a single difference may leave 0 out where the test, or its correction for many, does not reject, and
    the other way round: then the p-value, which decides, stands alone.
    """
    scale = 100 if contest.is_share else 1
    numbers = [scale * number for number in (contrast.difference, contrast.low, contrast.high)]
    digits = contest.digits
    while (
        contrast.is_separable
        and digits < MOST_DIGITS
        and any(number and not round(number, digits) for number in numbers)
    ):
        digits += 1  # a significant difference, or an end of its interval, is not shown as 0
    value, low, high = (_signed(f"{number:+z,.{digits}f}") for number in numbers)
    parts: list[str] = [Message("{n} points", n=value) if contest.is_share else value]
    leaves_0_out = contrast.low > 0 or contrast.high < 0
    if not math.isnan(contrast.low) and (math.isnan(contrast.p) or leaves_0_out == contrast.is_separable):
        parts = [Message("{difference} [{low}, {high}]", difference=parts[0], low=low, high=high)]
    if not math.isnan(contrast.p):
        parts.append(p_value(contrast.p, contrast.n_tests))
    return together(", ", parts)


def _of_sides(contest: Contest, contrast: Contrast, best: Standing) -> Message:
    """The difference of the best side and the other, told as left less right."""
    is_left = best is contest.standings[0]
    return Message(
        "(left − right) {difference}", difference=_difference(contest, contrast if is_left else contrast.turned())
    )


def with_interval(contest: Contest, standing: Standing) -> str:
    """The number of a model, with its interval where there is one."""
    if math.isnan(standing.low) or math.isnan(standing.high):
        return contest.number(standing.value)
    scale = 100 if contest.is_share else 1
    low, high = (_plain(f"{scale * end:z,.{contest.digits}f}") for end in (standing.low, standing.high))
    return f"{contest.number(standing.value)} [{low}, {high}]"


def _standings(contest: Contest, ranked: Sequence[Standing], names: Mapping[str, str]) -> Message:
    parts = [
        Message("{model} {value}", model=names[each.model], value=contest.number(each.value))
        for each in ranked[:MOST_LISTED]
    ]
    return together(", ", parts)


def _plain(text: str) -> str:
    return text.replace("-", "−").replace("inf", "∞")


def _signed(text: str) -> str:
    """A number with its sign, 0 without one."""
    return _plain(text if text.strip("+-0.,") else text.lstrip("+-"))


def _last_part(name: str) -> str:
    if not name.startswith(("/", ".", "~")):
        return name
    return name.rstrip("/").rpartition("/")[2] or name
