"""The few numbers and the names that the home page and lists of runs show. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engine.evaluations.catalog import EVALUATIONS
from engine.measures.cards.catalog import CARDS
from engine.messages.earlier_texts import read_message
from engine.messages.languages import LANGUAGES, mark, tr, translated
from engine.messages.message import Message, as_text, list_of, of_text
from engine.models.sources.names import shown_name
from engine.runs.access.browsers import default_name
from engine.runs.computing import SAMPLES_ID
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import BROWSER_PREFIX

BUILT_IN_PREFIX = "builtin/"
STORED_FORMAT = 3  # raised when stored headlines are to be made anew
N_STORED, N_LISTED = 6, 2
TYPED_PAIR = mark("typed pair")  # the name of its dataset
NAMES_OF_OURS = (
    TYPED_PAIR,
    mark("sample labelled sentences"),
    mark("sample sentence pairs"),
    mark("sample scored pairs"),
    mark("sample minimal pairs"),
    mark("sample masked sentences"),
    mark("sample running text"),
    mark("sample sentences"),
)


# Labels that are no model's or category's, as they are stored.
LABELS_OF_OURS = (mark("all pairs"), mark("documents"), mark("different tokens"))
N = mark("n = {n}")
INTERVAL = mark("{low}-{high}, n = {n}")


@dataclass(frozen=True)
class Headline:
    """One number: its label, its value, a note beside it, and the measure whose card explains it; "" for a count.

    The texts are English; `shown` has Hakari's own in the reader's language, and a user's label as it is.
    """

    label: str
    value: str
    note: str
    measure: str

    @property
    def shown(self) -> Headline:
        """The headline in the reader's language."""
        label = translated(self.label) if isinstance(self.label, Message) else self.label
        return Headline(label, translated(self.value), translated(self.note), self.measure)


def to_store(headlines: Sequence[Headline], finding: str = "") -> dict[str, Any]:
    """The first headlines and the finding as a JSON value that is stored with a run."""
    return {
        "format": STORED_FORMAT,
        "finding": as_text(finding),
        "numbers": [
            [as_text(headline.label), as_text(headline.value), as_text(headline.note), headline.measure]
            for headline in headlines[:N_STORED]
        ],
    }


def stored(value: Mapping[str, Any] | None) -> list[Headline] | None:
    """The headlines that `to_store` wrote; None where there are none, or those of another format.

    >>> stored(to_store([Headline("a", "1.5", "n = 3", "f1")]))
    [Headline(label='a', value='1.5', note='n = 3', measure='f1')]
    >>> stored({"format": 0}) is None
    True
    """
    if value is None or value.get("format") != STORED_FORMAT:
        return None
    return [
        Headline(
            read_message(label) if label in LABELS_OF_OURS else of_text(label),
            read_message(shown),
            read_message(note),
            measure,
        )
        for label, shown, note, measure in value["numbers"]
    ]


def stored_finding(value: Mapping[str, Any] | None) -> str:
    """The finding that `to_store` wrote, "" where there is none; a message.

    >>> stored_finding(to_store([], "Both are alike.")), stored_finding({"format": 2})
    ('Both are alike.', '')
    """
    return of_text(value.get("finding", "")) if value is not None else ""


def in_a_line(headlines: Sequence[Headline], under: str = "") -> str:
    """Headlines as one cell of a table: the first with the symbol of its measure, the rest counted.

    under: the model that all are of and that stands before them; then each has its note in place of the model's name.

    >>> in_a_line([Headline("a", "1.50", "", "dispersion_score"), Headline("b", "2.10", "", "dispersion_score"),
    ...            Headline("c", "3.00", "", "dispersion_score")])
    'M_m 1.50 a, 2.10 b, 1 more'
    >>> in_a_line([Headline("a", "60.0%", "31.3-83.2, n = 10", "accuracy")], under="a")
    'accuracy 60.0% (31.3-83.2, n = 10)'
    """
    first = [headline.shown for headline in headlines[:N_LISTED]]
    shown = [f"{headline.value} {headline.label}" for headline in first]
    if under:
        shown = [
            " ".join(
                filter(
                    None,
                    (
                        headline.value,
                        headline.label if headline.label != short(under) else "",
                        f"({headline.note})" if headline.note else "",
                    ),
                )
            )
            for headline in first
        ]
    if shown and headlines[0].measure:
        shown[0] = f"{CARDS[headlines[0].measure].symbol} {shown[0]}"
    n_more = len(headlines) - N_LISTED
    return translated(list_of(shown + ([tr("{n} more", n=n_more)] if n_more > 0 else [])))


def short(model: str) -> str:
    """A model's label; of one without, the name, a built-in model's without its prefix.

    >>> short("builtin/bert-mini-ja"), short("owner/name"), short("Ours=builtin/bert-mini-ja")
    ('bert-mini-ja', 'owner/name', 'Ours')
    """
    return shown_name(model).removeprefix(BUILT_IN_PREFIX)


def run_title(run: RunRecord) -> str:
    """A run's name; a default one, evaluation and dataset, and that of a sample, in the reader's language."""
    title = EVALUATIONS[run.kind].title if run.kind in EVALUATIONS else run.kind
    if run.owner == SAMPLES_ID:
        return tr("Sample: {evaluation}", evaluation=translated(title))
    return default_title(run) if run.name == f"{title}: {run.dataset_name}" else run.name


def default_title(run: RunRecord) -> str:
    """What a run is called in the reader's language where nobody gave it a name: evaluation and dataset."""
    title = EVALUATIONS[run.kind].title if run.kind in EVALUATIONS else run.kind
    return f"{translated(title)}: {dataset_title(run)}"


def dataset_title(run: RunRecord) -> str:
    """The name of a run's dataset, in the reader's language where it is ours."""
    return shown_dataset(run.dataset_name)


def shown_dataset(name: str) -> str:
    """The name of a dataset, in the reader's language where it is that of a sample or of a typed pair."""
    head, comma, end = name.rpartition(", ")
    if comma and head in NAMES_OF_OURS and end in LANGUAGES:
        return tr("{name} ({language})", name=tr(head), language=LANGUAGES[end])
    return tr(name) if name in NAMES_OF_OURS else name


def owner_word(owner: str, name: str) -> str:
    """What an owner of runs is called, for a reader; a name that was chosen stays as it is."""
    if name != default_name(owner):
        return name
    if owner.startswith(BROWSER_PREFIX):
        return tr("Browser {digits}", digits=name.removeprefix("Browser "))
    return tr("Everybody") if name == "Everybody" else name


def of_models(
    ranked: pd.DataFrame, measure: str, value: Callable[[Any], str], note: Callable[[Any], str]
) -> list[Headline]:
    """A headline for each row of a table of models, in its order: what value and note make of a row."""
    return [Headline(short(row["model"]), value(row), note(row), measure) for row in ranked.to_dict("records")]


def n_note(row: Any) -> str:
    """The note that says how many items a number is over."""
    return N.format(n=row["n"])


def interval_note(row: Any) -> str:
    """The note that says the interval of a share, and how many items it is over."""
    return INTERVAL.format(low=_points(row["ci_low"]), high=_points(row["ci_high"]), n=row["n"])


def number_text(value: float, digits: int) -> str:
    """A number with so many decimals, in English."""
    return mark("undefined") if pd.isna(value) else f"{value:,.{digits}f}"


def percent(value: float) -> str:
    """A share in per cent, in English."""
    return mark("undefined") if pd.isna(value) else f"{value:.1%}"


def _points(value: float) -> str:
    return f"{100 * value:.1f}"
