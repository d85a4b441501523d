"""`python -m docs.name_curves DIR`: draws the ROC curves of names by reading from the curves.csv of a study of names."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

FIGURE = Path(__file__).parent / "images" / "names-roc.svg"
PARTS = {"written_last": "written last", "written_afterwards": "written afterwards"}
INCHES = (11, 5)


def draw(curves: pd.DataFrame) -> Figure:
    """A panel for each part that was written without a look at scores, a curve with its interval for each kind."""
    figure = Figure(figsize=INCHES, layout="constrained")
    for axes, (part, title) in zip(figure.subplots(1, len(PARTS), sharey=True), PARTS.items(), strict=True):
        for kind, points in curves[curves["part"] == part].groupby("kind", sort=False):
            rates = points["false_positive_rate"]
            (line,) = axes.plot(
                rates, points["true_positive_rate"], label=kind, linewidth=2.5 if kind == "all" else 1.2
            )
            axes.fill_between(
                rates, points["ci_low"], points["ci_high"], color=line.get_color(), alpha=0.1, linewidth=0
            )
        axes.plot([0, 1], [0, 1], color="grey", linestyle=":", linewidth=1)
        axes.set(title=title, xlabel="another name above the threshold (share)", xlim=(0, 1), ylim=(0, 1.02))
        axes.legend(loc="lower right", frameon=False, fontsize=8)
        axes.set_ylabel("the same name above it (share)")
    return figure


if __name__ == "__main__":
    draw(pd.read_csv(Path(sys.argv[1]) / "curves.csv", comment="#")).savefig(FIGURE, metadata={"Date": None})
