"""Numbers as Plotly writes them: the part of d3's format language that the figures use. Pure."""

from __future__ import annotations

import math
import re

from engine.errors import InputError
from engine.messages.message import Message

MINUS = "−"
FORMAT = re.compile(r"(?P<sign>\+?)(?P<comma>,?)(?:\.(?P<digits>\d+))?(?P<trim>~?)(?P<kind>[feg%d]?)")
FIELD = re.compile(r"%\{(?P<name>\w+)(?::(?P<format>[^}]*))?\}")


def formatted(value: float, specification: str) -> str:
    """A number in a format of d3, with the typographic minus; raises InputError for a part of d3 that is not used.

    >>> formatted(0.5, ".0%"), formatted(0.125, ".3~%"), formatted(1234.5, ",.1f"), formatted(-2, "+d")
    ('50%', '12.5%', '1,234.5', '−2')
    """
    match = FORMAT.fullmatch(specification)
    if match is None:
        raise InputError(
            Message(
                "The number format '{specification}' cannot be printed; use one such as '.2f' or ',.0%'.",
                specification=specification,
            )
        )
    kind, digits = match["kind"] or "g", match["digits"]
    scaled = 100 * value if kind == "%" else value
    if match["trim"] and kind == "%":  # with "~" the digits are significant ones that need not all be written
        text = f"{scaled:{match['sign']}{match['comma']}.{digits or 12}g}"
    else:
        python_kind = {"%": "f", "d": ".0f"}.get(kind, kind)
        precision = "" if digits is None or kind == "d" else f".{digits}"
        text = f"{scaled:{match['sign']}{match['comma']}{precision}{python_kind}}"
        if match["trim"] and "." in text:
            text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS) + ("%" if kind == "%" else "")


def template_filled(template: str, **values: object) -> str:
    """A text template of Plotly with its fields, as "%{z:.2f}", replaced.

    >>> template_filled("%{z:.2f}", z=0.5), template_filled("%{text}", text="9")
    ('0.50', '9')
    """

    def value(match: re.Match[str]) -> str:
        if match["name"] not in values:
            raise InputError(Message("The field '{match}' of a figure's text cannot be printed.", match=match["name"]))
        filled = values[match["name"]]
        return formatted(float(str(filled)), match["format"]) if match["format"] else str(filled)

    return FIELD.sub(value, template)


def tick_text(value: float, step: float) -> str:
    """The label of a tick on an axis without a format, with the decimals that the `step` between ticks needs.

    >>> tick_text(0.5, 0.25), tick_text(20000, 5000), tick_text(-1, 1)
    ('0.50', '20,000', '−1')
    """
    decimals = 0 if step <= 0 else max(0, -math.floor(math.log10(step) + 1e-9))
    while decimals < 8 and abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6:
        decimals += 1
    return f"{value:,.{decimals}f}".replace("-", MINUS)
