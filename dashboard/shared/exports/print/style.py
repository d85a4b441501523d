"""How figures are printed: width, size of the letters; the formats of the files. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.messages.languages import mark
from engine.options import option

# The columns and the text of the ACL's style files (acl-style-files 2024, A4): 7.7 cm and 16 cm.
WIDTH_CM: Mapping[str, float] = {"one": 7.7, "two": 16.0}
POINTS_PER_CM = 72 / 2.54
DOTS_PER_INCH = 300  # of a PNG

FORMATS: Mapping[str, str] = {"pdf": "PDF", "svg": "SVG", "png": "PNG"}
MIME_BY_FORMAT: Mapping[str, str] = {"pdf": "application/pdf", "svg": "image/svg+xml", "png": "image/png"}


@dataclass(frozen=True)
class PrintStyle:
    """The look of every printed figure of a session."""

    columns: str = option(
        "one",
        mark("Width of a printed figure: that of one column of a two-column page, or of both."),
        choices={"one": "7.7 cm", "two": "16 cm"},
    )
    font_size: int = option(
        8,
        mark(
            "Size of the letters in a printed figure; titles and names of points are up to a sixth larger or smaller."
        ),
        least=5,
        most=14,
        unit="pt",
    )
    caption: bool = option(
        True,
        mark("Whether a printed figure says below itself what it is; a document with captions of its own needs none."),
    )

    @property
    def width(self) -> float:
        """The width in points of 1/72 inch."""
        return WIDTH_CM[self.columns] * POINTS_PER_CM
