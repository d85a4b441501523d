"""The alignment of a pair for print, which the page shows as a component. matplotlib is imported when it is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.alignment.printed.links import number_of
from dashboard.alignment.view_texts import printed_texts
from dashboard.shared.exports.print.style import PrintStyle
from engine.evaluations.alignment.token_table import SIDES


@dataclass(frozen=True, eq=False)
class AlignmentDrawing:
    """The picture of `view.view_data`: reference above, candidate below, best matches as links.

    words: in the language of the page that offers the picture; the file is written later, where no page is drawn.
    """

    data: Mapping[str, Any]
    words: Mapping[str, str] = field(default_factory=printed_texts)

    def drawn(self, style: PrintStyle, caption: str = "") -> Any:
        """The matplotlib figure, with a caption below it where there is one."""
        from dashboard.alignment.printed.chips import draw_alignment

        return draw_alignment(self.data, self.words, style, caption)

    def texts(self, style: PrintStyle) -> tuple[str, ...]:
        """Every text in it but the sentences of the legend, of which a pair has those that it needs."""
        tokens = [token for side in SIDES for token in self.data[side]]
        return (
            *(self.words[side] for side in SIDES),
            *(part for token in tokens for part in (token["text"], token["ruby"], number_of(self.data, token))),
        )
