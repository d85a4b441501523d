"""Errors, measures, times and signatures in words."""

from __future__ import annotations

import doctest
import importlib
import json
import re
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared import wording
from dashboard.shared.exports import signing
from dashboard.shared.theme import DIRECTIONS, axis_title, measure_name
from engine.errors import BadRow, InputError, ModelError
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import in_language
from tests.waiting import seconds

SIGNATURE = {
    "models": [{"name": "builtin/bert-mini-ja", "revision": None, "fingerprint": "0123456789ab"}],
    "settings": {"layer": None, "pooling": "cls", "normalize": [], "seed": 0, "scoring": {"idf": "none", "bos": True}},
    "layers": {"builtin/bert-mini-ja": 4},
    "dataset": "fedcba987654",
    "versions": {"hakari": "0.1.0"},
}


@pytest.mark.parametrize(
    "module", ["theme", "wording", "exports.signing", "exports.standalone", "dictionaries", "headlines"]
)
def test_the_examples_in_docstrings_hold(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"dashboard.shared.{module}"))
    assert result.attempted and not result.failed


@pytest.mark.parametrize(
    "text",
    [
        "*a* _b_ `c`",
        "[x](http://y)",
        "<script>alert(1)</script>",
        "# head",
        "$x^2$",
        "~~a~~",
        "| a |",
        "1. one",
        "- one",
        "a -> b",
        "===",
        "&lt;",
        ":red[x]",
        ":material/home:",
        ":smile:",
        "www.example.org",
        "https://example.org",
    ],
)
def test_markup_characters_in_typed_text_are_escaped(text: str) -> None:
    escaped = wording.verbatim(text)
    assert escaped.replace("\\", "").replace("\u2060", "") == text
    for position, character in enumerate(escaped):
        if character in "*_`[]<>#$~|=&:":
            assert escaped[position - 1] == "\\"
    # What is put together from several signs is broken up, for a backslash alone does not stop it.
    assert not re.search(r"://|:[a-z]|www\.| -> |^\d\.|^-", escaped.replace("\\", "")) or escaped.startswith("\\-")


def test_text_of_line_breaks_is_escaped_at_once() -> None:
    """A page is drawn while all others wait."""
    assert seconds(lambda: wording.verbatim("\n" * 30_000 + "x")) < 1
    assert wording.verbatim("a\n\n  - b") == "a  \n  \n  \\- b"


def test_japanese_text_passes_unchanged() -> None:
    assert wording.verbatim("斉藤さんは、今「最高」の環境にいる。") == "斉藤さんは、今「最高」の環境にいる。"


def _shown(rows: int) -> AppTest:
    def script(rows: int) -> None:
        from dashboard.shared.wording import show_error
        from engine.errors import BadRow, InputError

        show_error(InputError("Some *rows* are bad.", [BadRow(n, f"reason {n}") for n in range(1, rows + 1)]))

    return AppTest.from_function(script, args=(rows,)).run()


def test_a_few_bad_rows_are_listed_in_the_message() -> None:
    app = _shown(4)
    assert all(f"row {n}: reason {n}" in app.error[0].value for n in range(1, 5))
    assert not app.expander
    assert "\\*rows\\*" in app.error[0].value


def test_many_bad_rows_are_all_listed_in_an_expander() -> None:
    app = _shown(4000)
    assert "row 5: reason 5" in app.error[0].value and "row 6:" not in app.error[0].value
    assert app.expander[0].label == "All 4,000 rows"
    assert list(app.dataframe[0].value["row"]) == list(range(1, 4001))


def test_an_error_without_rows_is_its_message() -> None:
    assert wording.error_parts(ModelError("No such model.")) == ("No such model.", ())
    assert wording.error_parts(InputError("Bad.", [BadRow(3, "empty")])) == ("Bad.", (BadRow(3, "empty"),))


@pytest.mark.parametrize("measure", sorted(CARDS))
def test_every_measure_shows_the_better_end_of_its_card(measure: str) -> None:
    card = CARDS[measure]
    for text in (axis_title(measure), wording.measure_help(measure)):
        assert all(
            (direction in text) == (better == card.better) for better, direction in DIRECTIONS.items() if direction
        )
    assert wording.column_label(measure).endswith({"lower": "↓", "higher": "↑", "neither": card.symbol}[card.better])
    assert card.name in measure_name(measure)


def test_a_symbol_that_is_a_word_is_translated() -> None:
    with in_language("ja"):
        assert [wording.column_label(measure) for measure in ("accuracy", "dispersion_score")] == ["正解率 ↑", "M_m ↓"]


def test_how_to_read_explains_each_measure() -> None:
    def script() -> None:
        from dashboard.shared.wording import how_to_read

        how_to_read(("dispersion_score", "accuracy"), "A note.")

    app = AppTest.from_function(script).run()
    texts = " ".join(element.value for element in app.markdown)
    assert "A note" in texts and "Dispersion score" in texts and "Accuracy on minimal pairs" in texts


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "under a second"),
        (59.4, "59 s"),
        (60, "1 min 0 s"),
        (3599.4, "59 min 59 s"),
        (7300, "2 h 1 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert wording.duration(seconds) == text


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=10), "10 minutes ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(days=3), "3 days ago"),
        (timedelta(seconds=-20), "just now"),
    ],
)
def test_times_ago(before: timedelta, text: str) -> None:
    now = datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert wording.ago(now - before, now) == text


def test_the_signature_line_names_what_is_set_and_leaves_out_what_is_not() -> None:
    text = signing.signature_line(SIGNATURE)
    assert text == (
        "builtin/bert-mini-ja (0123456789ab) · pooling cls · seed 0 · idf none · bos yes · "
        "layers builtin/bert-mini-ja 4 · dataset fedcba987654 · hakari 0.1.0"
    )


def test_a_value_of_several_lines_is_in_the_line_of_the_signature() -> None:
    text = signing.signature_line({**SIGNATURE, "templates": ["Right:\n\n{sentence}", "{sentence}\r\nOK?"]})
    assert "templates Right: {sentence}, {sentence} OK?" in text and len(text.splitlines()) == 1


def test_signatures_within_a_signature_are_digests_and_what_is_empty_is_left_out() -> None:
    runs = [
        {"evaluation": "clusters", "signature": SIGNATURE, "others": {}},
        {"evaluation": "fill-mask", "signature": SIGNATURE, "others": {"owner/second": "r2"}},
    ]
    digest = signing.digest(SIGNATURE)
    assert signing.signature_line({"runs": runs, "signatures": {"r1": SIGNATURE}, "ratings": "", "prefixes": []}) == (
        f"runs evaluation clusters, signature {digest}; evaluation fill-mask, signature {digest}, "
        f"others owner/second r2 · signatures r1 {digest}"
    )
    assert signing.signature_line({"runs": {"r1": {"ratings": [], "n": 0}}}) == "runs r1 n 0"


def test_the_digest_changes_with_anything_and_not_with_order() -> None:
    other = json.loads(json.dumps(SIGNATURE))
    assert signing.digest(dict(reversed(list(other.items())))) == signing.digest(SIGNATURE)
    other["settings"]["seed"] = 1
    assert signing.digest(other) != signing.digest(SIGNATURE)


def test_a_download_opens_in_excel_and_carries_its_signature() -> None:
    frame = pd.DataFrame({"text": ["斉藤,さん", "改\n行"], "score": [0.1, float("nan")]})
    raw = signing.csv_bytes(frame, SIGNATURE)
    assert raw.startswith(b"\xef\xbb\xbf")
    lines = raw.decode("utf-8-sig")
    assert lines.splitlines()[0] == "text,score,signature"
    assert lines.count(signing.digest(SIGNATURE)) == 2
    assert "signature" not in frame  # the caller's table is not written into
