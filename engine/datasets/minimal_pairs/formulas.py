"""Predictions over the regions of an item's sentences: SyntaxGym's formulas, and how large what they predict is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.messages.message import Message

# SyntaxGym's "=": of surprisals in bits.
RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-5, 1e-3
MOST_CHARACTERS, MOST_DEPTH, MOST_PARTS = 10_000, 50, 400
MOST_NUMBER = 1e9  # bits; above it sums could become infinite, and lose their digits
MOST_SHOWN = 200  # characters of a formula in an error
WHOLE_SENTENCE = 0  # the region that * names
ARITHMETIC, COMPARISONS, LOGICAL = ("+", "-"), ("<", ">", "="), ("&", "|")
_TOKEN = re.compile(
    r"\s*(?:(?P<region>[(\[]\s*(?P<number>\d{1,6}|\*)\s*;\s*%(?P<condition>[^%]+)%\s*[)\]])"
    r"|(?P<literal>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<sign>[-+<>=&|()\[\]]))"
)
_CLOSING = {"(": ")", "[": "]"}
Region = tuple[int, str]
Surprisals = Mapping[Region, NDArray[np.float64]]


@dataclass(frozen=True)
class Node:
    """A part of a formula: a region, a number, or an operator between two parts; start, end: where it stands."""

    operator: str
    start: int
    end: int
    region: Region | None = None
    number: float = 0.0
    sides: tuple[Node, Node] | None = None

    @property
    def is_logical(self) -> bool:
        """Whether it is true or false, not a number."""
        return self.operator in (*COMPARISONS, *LOGICAL)


@dataclass(frozen=True)
class Prediction:
    """A formula as it was written, and what it says."""

    text: str
    node: Node

    @property
    def regions(self) -> tuple[Region, ...]:
        """The regions that it names, (number, condition), each once, in order; WHOLE_SENTENCE for *."""
        return tuple(dict.fromkeys(node.region for node in _all(self.node) if node.region is not None))

    @property
    def comparisons(self) -> tuple[Prediction, ...]:
        """The comparisons that & and | join, as predictions of their own; () for a formula that is one comparison."""
        if self.node.operator not in LOGICAL:
            return ()
        parts = [node for node in _all(self.node) if node.operator in COMPARISONS]
        return tuple(Prediction(_without_brackets(self.text[node.start : node.end]), node) for node in parts)

    def holds(self, surprisals: Surprisals) -> NDArray[np.float64]:
        """Does it hold for each item? 1 where it does, 0 where not, nan where a sentence that it names has none.

        A formula without a comparison holds where it is above 0.

        Parameters
        ----------
        surprisals : by region the surprisals in bits, float64 (n_items,), nan for none.

        Source: SyntaxGym (Gauthier et al. 2020, ACL demonstrations), its formulas; "=" up to its tolerances.

        >>> surprisals = {(2, "match"): np.array([3.0, 5.0]), (2, "mismatch"): np.array([4.0, 4.5])}
        >>> parsed("(2;%mismatch%) > (2;%match%)").holds(surprisals)
        array([1., 0.])
        """
        values = _value(self.node, surprisals)
        return values if self.node.is_logical else np.where(np.isnan(values), np.nan, (values > 0).astype(np.float64))

    def effect(self, surprisals: Surprisals) -> NDArray[np.float64] | None:
        """How far each item is on the side that is predicted, in bits, float64 (n_items,); nan as in `holds`.

        Of a comparison by < or > the greater side less the smaller one, of a formula without comparison its value;
        None of "=" and of what & or | joins.

        >>> parsed("(1;%a%) < (1;%b%)").effect({(1, "a"): np.array([3.0]), (1, "b"): np.array([5.0])})
        array([2.])
        """
        if not self.node.is_logical:
            return _value(self.node, surprisals)
        if self.node.operator not in ("<", ">") or self.node.sides is None:
            return None
        left, right = (_value(side, surprisals) for side in self.node.sides)
        return right - left if self.node.operator == "<" else left - right


@lru_cache(maxsize=1024)
def parsed(text: str) -> Prediction:
    """The prediction that a formula says.

    (2;%match%) is the surprisal of region 2 in the condition match, (*;%match%) that of the whole sentence; with
    numbers, brackets, + and -, comparisons by <, > and =, and & and |, read from left to right. Raises InputError,
    with the place, for any other text, and for a | b & c without brackets: SyntaxGym's own code (0.6.0) reads it as
    (a | b) & c, which is not what most readers would take it for.

    >>> parsed("((6;%a%) - (6;%b%)) > 0 & (7;%a%) < (7;%b%)").regions
    ((6, 'a'), (6, 'b'), (7, 'a'), (7, 'b'))
    """
    if len(text) > MOST_CHARACTERS:
        raise InputError(
            Message(
                "The prediction {text!r} … has {n:,} characters; at most {MOST_CHARACTERS:,} are read.",
                text=text[:60],
                n=len(text),
                MOST_CHARACTERS=MOST_CHARACTERS,
            )
        )
    reader = _Reader(text)
    node = reader.joined(0)
    if reader.match is not None:
        raise reader.fault(Message("an operator or the end"))
    return Prediction(text.strip(), node)


class _Reader:
    """Reads a formula from left to right, one token ahead."""

    def __init__(self, text: str) -> None:
        self.text, self.position, self.n_parts = text, 0, 0
        self.match: re.Match[str] | None = None
        self._next()

    @property
    def sign(self) -> str | None:
        return self.match["sign"] if self.match else None

    @property
    def shown(self) -> str:
        return repr(self.text) if len(self.text) <= MOST_SHOWN else f"{self.text[:MOST_SHOWN]!r} …"

    def fault(self, needed: str) -> InputError:
        place = (
            self.match.start() + len(self.match[0]) - len(self.match[0].lstrip())
            if self.match
            else len(self.text.rstrip())
        )
        return InputError(
            Message(
                "The prediction {shown} cannot be read at character {place}: {needed} is needed. "
                "Such as (2;%mismatch%) > (2;%match%), with +, -, <, >, =, &, | and brackets.",
                shown=self.shown,
                place=place + 1,
                needed=needed,
            )
        )

    def joined(self, depth: int) -> Node:
        """A comparison, or those that & and | join."""
        left, is_either = self._comparison(depth), False
        while self.sign in LOGICAL:
            operator = str(self.sign)
            if not left.is_logical:
                raise self.fault(Message("a comparison before & and |"))
            if operator == "&" and is_either:
                raise self.fault(Message("a bracket that says whether a | b & c is (a | b) & c or a | (b & c)"))
            is_either = is_either or operator == "|"
            self._next()
            right = self._comparison(depth)
            if not right.is_logical:
                raise self.fault(Message("a comparison after & and |"))
            left = Node(operator, left.start, right.end, sides=(left, right))
        return left

    def _comparison(self, depth: int) -> Node:
        left = self._sum(depth)
        if self.sign not in COMPARISONS:
            return left
        operator = str(self.sign)
        self._next()
        right = self._sum(depth)
        if left.is_logical or right.is_logical or self.sign in COMPARISONS:
            raise self.fault(Message("one comparison of two numbers"))
        return Node(operator, left.start, right.end, sides=(left, right))

    def _sum(self, depth: int) -> Node:
        left = self._atom(depth)
        while self.sign in ARITHMETIC:
            operator = str(self.sign)
            self._next()
            right = self._atom(depth)
            if left.is_logical or right.is_logical:
                raise self.fault(Message("a number on both sides of + and -"))
            left = Node(operator, left.start, right.end, sides=(left, right))
        return left

    def _atom(self, depth: int) -> Node:
        if self.match is None:
            raise self.fault(Message("a region, a number or a bracket"))
        start, match = self.match.start() + len(self.match[0]) - len(self.match[0].lstrip()), self.match
        if match["region"]:
            number = WHOLE_SENTENCE if match["number"] == "*" else int(match["number"])
            if match["number"] != "*" and number == WHOLE_SENTENCE:
                raise self.fault(Message("a region from 1, or * for the whole sentence,"))
            self._next()
            return Node("region", start, match.end(), (number, match["condition"].strip()))
        if match["literal"]:
            return self._number(start, match, 1.0)
        if self.sign == "-":  # of a number: -1.5
            self._next()
            if self.match is None or not self.match["literal"]:
                raise self.fault(Message("a number after the sign"))
            return self._number(start, self.match, -1.0)
        if self.sign not in _CLOSING:
            raise self.fault(Message("a region, a number or a bracket"))
        if depth >= MOST_DEPTH:
            raise self.fault(Message("a formula of at most {MOST_DEPTH} brackets in each other", MOST_DEPTH=MOST_DEPTH))
        closing = _CLOSING[str(self.sign)]
        self._next()
        inside = self.joined(depth + 1)
        if self.sign != closing or self.match is None:
            raise self.fault(Message("the closing {closing}", closing=closing))
        end = self.match.end()
        self._next()
        return Node(inside.operator, start, end, inside.region, inside.number, inside.sides)

    def _number(self, start: int, match: re.Match[str], sign: float) -> Node:
        number = float(match["literal"])
        if number > MOST_NUMBER:
            raise self.fault(Message("a number up to {MOST_NUMBER:,.0f}", MOST_NUMBER=MOST_NUMBER))
        self._next()
        return Node("number", start, match.end(), number=sign * number)

    def _next(self) -> None:
        self.n_parts += 1
        if self.n_parts > MOST_PARTS:
            raise self.fault(Message("a formula of at most {MOST_PARTS} parts", MOST_PARTS=MOST_PARTS))
        self.match = _TOKEN.match(self.text, self.position)
        if self.match is not None:
            self.position = self.match.end()
        elif self.text[self.position :].strip():
            place = len(self.text) - len(self.text[self.position :].lstrip())
            raise InputError(
                Message(
                    "The prediction {shown} cannot be read at character {place}. A region is written "
                    "as (2;%match%): its number, or *, and its condition.",
                    shown=self.shown,
                    place=place + 1,
                )
            )


def _all(node: Node) -> Iterator[Node]:
    yield node
    for side in node.sides or ():
        yield from _all(side)


def _without_brackets(text: str) -> str:
    """A comparison without the brackets around it. It has an operator at its top, so that they belong together."""
    while text[:1] in _CLOSING and text[-1:] == _CLOSING[text[0]] and _is_one(text):
        text = text[1:-1].strip()
    return text


def _is_one(text: str) -> bool:
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0:
            return place == len(text) - 1
    return False


def _value(node: Node, surprisals: Surprisals) -> NDArray[np.float64]:
    """float64 (n_items,): bits, or 1 and 0 for true and false; nan where a region has none."""
    if node.region is not None:
        return np.asarray(surprisals[node.region], dtype=np.float64)
    if node.sides is None:
        return np.full(len(next(iter(surprisals.values()))), node.number)
    left, right = (_value(side, surprisals) for side in node.sides)
    if node.operator in ARITHMETIC:
        return left + right if node.operator == "+" else left - right
    comparisons: dict[str, Callable[[], NDArray[np.bool_]]] = {
        "<": lambda: left < right,
        ">": lambda: left > right,
        "=": lambda: np.isclose(left, right, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE),
        "&": lambda: (left == 1) & (right == 1),
        "|": lambda: (left == 1) | (right == 1),
    }
    is_true = comparisons[node.operator]()
    return np.where(np.isnan(left) | np.isnan(right), np.nan, is_true.astype(np.float64))
