"""Labels of Plotly, a little HTML, as lines of runs that have one look each. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser

from engine.errors import InputError
from engine.messages.message import Message

SIZE = re.compile(r"font-size:\s*([\d.]+)px")
COLOR = re.compile(r"(?<![-\w])color:\s*([^;]+)")


@dataclass(frozen=True)
class Run:
    """Some letters of one look. size: pixels of Plotly; 0 for the size of the label."""

    text: str
    bold: bool = False
    size: float = 0.0
    color: str = ""


Line = tuple[Run, ...]


class _Label(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[list[Run]] = [[]]
        self._looks = [Run("")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A line break, or a look that lasts until the end of the element."""
        if tag == "br":
            self.lines.append([])
            return
        look = self._looks[-1]
        style = dict(attrs).get("style") or ""
        if tag in ("b", "strong"):
            look = replace(look, bold=True)
        elif tag == "span":
            size, color = SIZE.search(style), COLOR.search(style)
            look = replace(look, size=float(size[1]) if size else look.size, color=color[1] if color else look.color)
        else:
            raise InputError(Message("A label of a figure has the element '{tag}', which cannot be printed.", tag=tag))
        self._looks.append(look)

    def handle_endtag(self, tag: str) -> None:
        """Back to the look around the element."""
        if tag != "br" and len(self._looks) > 1:
            self._looks.pop()

    def handle_data(self, data: str) -> None:
        """Letters of the present look."""
        if data:
            self.lines[-1].append(replace(self._looks[-1], text=data))


def lines_of(label: str) -> list[Line]:
    """The lines of a label; an empty label has none.

    >>> lines_of("a &lt;<br><b>b</b>")
    [(Run(text='a <', bold=False, size=0.0, color=''),), (Run(text='b', bold=True, size=0.0, color=''),)]
    """
    parser = _Label()
    parser.feed(str(label))
    parser.close()
    return [tuple(line) for line in parser.lines] if label else []


def plain_text(label: str) -> str:
    """The letters of a label alone, its lines separated by line feeds.

    >>> plain_text("<span style='color:red'>1</span> <b>x</b>")
    '1 x'
    """
    return "\n".join("".join(run.text for run in line) for line in lines_of(label))


def is_bold(label: str) -> bool:
    """Whether any letters of a label are bold: what is drawn in one look is bold then."""
    return any(run.bold for line in lines_of(label) for run in line)
