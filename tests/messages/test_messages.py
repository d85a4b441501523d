"""A message is its English text, keeps what it is made of on every way, and is shown in Japanese from that."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from engine.datasets.rows import EMPTY, left_out_notice
from engine.errors import BadRow, InputError, ModelError
from engine.inference.piece_bytes import from_bytes, to_bytes
from engine.language.quantities import count
from engine.messages import languages
from engine.messages.catalogues import ROOT
from engine.messages.languages import in_language, translated
from engine.messages.message import Message, as_text, list_of, of_text, restored, together
from engine.runs.storage.json_codec import record_from_json, restore_value, to_json_value
from engine.runs.storage.packing import from_parquet, to_parquet

NESTED = Message(
    "{left_out} left out: {parts}.",
    left_out=count(1200, "row"),
    parts=together("; ", [EMPTY.format(column="行"), Message("other reasons ({n_others})", n_others=count(2, "row"))]),
)
ENGLISH = "1,200 rows left out: '行' is empty; other reasons (2 rows)."
JAPANESE = "1,200行を除きました: 「行」が空です、その他の理由（2行）。"


@pytest.fixture
def japanese(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with in_language("ja"):
        yield


def test_a_message_is_its_english_text() -> None:
    assert NESTED == ENGLISH and str(NESTED) == ENGLISH and f"{NESTED}" == ENGLISH and {ENGLISH: 1}[NESTED] == 1
    assert json.dumps([NESTED]) == json.dumps([ENGLISH]) and translated(NESTED) == ENGLISH
    assert Message("{braces} and 100%") == "{braces} and 100%"  # without values the template is the text
    with pytest.raises(KeyError):
        Message("{n} of {m}", n=1)


def test_values_are_shown_as_python_formats_them() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "an odd thing"

    assert (
        Message(
            "{a:,} {b:.2f} {c!r} {d} {e!r} {f:.1%} {g}",
            a=np.int64(1200),
            b=np.float32(0.125),
            c="x",
            d=Odd(),
            e=("a", 1),
            f=float("nan"),
            g=None,
        )
        == "1,200 0.12 'x' an odd thing ('a', 1) nan% None"
    )
    for value in (np.int64(1200), 1.5, float("inf"), True, None, ("a", "b"), Odd(), np.str_("text")):
        message = Message("{value}", value=value)
        assert message == f"{value}" and of_text(as_text(message)) == message
        json.dumps(message.stored(), allow_nan=False)


@pytest.mark.parametrize(
    "way",
    [
        lambda message: pickle.loads(pickle.dumps(message)),
        copy.deepcopy,
        lambda message: of_text(as_text(message)),
        lambda message: str(ModelError(message)),
        lambda message: pickle.loads(pickle.dumps(ModelError(message))).args[0],
        lambda message: pickle.loads(pickle.dumps(InputError("x", [BadRow(1, message)]))).rows[0].reason,
        lambda message: from_bytes(to_bytes({"excluded": message, "vector": np.zeros(3)}))["excluded"],
        lambda message: record_from_json(BadRow, to_json_value(BadRow(1, message))).reason,
        lambda message: from_parquet(
            to_parquet(pd.DataFrame({"reason": pd.Series([message, "", "plain"], [4, 9, 2], dtype=object)}))
        )["reason"][4],
    ],
    ids=["pickle", "copy", "text", "error", "pickled error", "row", "piece", "record", "table"],
)
def test_a_message_keeps_what_it_is_made_of_on_every_way(way, japanese: None) -> None:  # type: ignore[no-untyped-def]
    assert way(NESTED) == ENGLISH and translated(way(NESTED)) == JAPANESE


def test_no_text_is_none_in_japanese(japanese: None) -> None:
    """gettext has the header of a catalogue under ""."""
    assert translated(Message("")) == translated("") == languages.tr("") == ""
    assert languages.in_all_languages("") == ("", "")
    assert translated(Message("{model}: {reason}", model="a", reason=Message(""))) == "a: "
    assert translated(together(" ", [Message("Clusters"), Message("")])) == "クラスタ "


def test_a_label_is_never_translated(japanese: None) -> None:
    """A model or a file that is called like a text of ours keeps its name."""
    for label in ("nouns", "pairs", "corpus", "rows", "行", "no token", "none", "'text' is empty", "{n}", "3 rows"):
        said = Message("{model}: It has no token.", model=label)
        assert translated(said).startswith(f"{label}: ")
        assert translated(together("; ", [label, label])) == f"{label}; {label}"
    assert translated(Message("{model} can read {n} of {m}", model="a", n=1, m=2)) == "a can read 1 of 2"  # not ours


def test_what_a_place_is_in_is_left_off_where_rows_are_counted(japanese: None) -> None:
    bad = BadRow(
        5, Message("line {number} has {fields} instead of {n_fields}", number=6, fields=count(1, "field"), n_fields=2)
    )
    assert translated(bad.reason) == "6行目の欄の数が2ではありません（1欄）"
    assert translated(left_out_notice([bad])[0]) == "1行を除きました: 欄の数が2ではありません（1欄）（5行目）。"


def test_plain_english_is_not_read(japanese: None) -> None:
    for text in ("a.csv is empty.", "3 rows left out: x.", "Row 3: the text is empty"):
        assert translated(text) == text
    assert languages.translated("Clusters") == "クラスタ"


@pytest.mark.parametrize(
    "text",
    [
        '{"$template": ',
        '{"$template": "{n} rows", "$values": {"n": 2}}',
        '{"$between": "", "$parts": ["x"]}',
        '{"template": "x"}',
    ],
)
def test_a_readers_text_that_looks_like_a_stored_message_comes_back(text: str) -> None:
    assert of_text(as_text(text)) == text
    assert of_text(text[:14]) == text[:14]  # cut, or of an earlier version


def test_settings_by_models_with_the_names_of_parts_of_messages_are_no_messages() -> None:
    named = {"template": [1], "values": [2]}
    assert restore_value(dict[str, list[int]], to_json_value(named), "layers") == named


def test_words_between_the_items_of_a_list_are_the_readers(japanese: None) -> None:
    """Names are no messages, and "and" between them is English all the same; a comma between names stays."""
    assert together(" and ", ["a", "b"]) == "a and b" and translated(together(" and ", ["a", "b"])) == "a、b"
    assert translated(Message("{x}", x=together(" or ", ["a", "b"]))) == "aまたはb"
    assert translated(together(", ", ["a", "b"])) == "a, b"


def test_a_list_of_names_is_joined_as_the_readers_language_joins_it() -> None:
    said = Message("Not scored: {models}.", models=list_of(["owner/a", "b, c", Message("none")]))
    assert said == "Not scored: owner/a, b, c, none."
    assert said.in_language("ja").endswith("owner/a、b, c、なし.")
    assert restored(json.loads(json.dumps(said.stored()))).in_language("ja") == said.in_language("ja")
    assert list_of([]) == "" and list_of(["a"]).in_language("ja") == "a"


def test_no_names_are_joined_with_commas_before_a_text_is_made_of_them() -> None:
    """`list_of` joins them where a reader's language is known."""
    joined = []
    for path in (*(ROOT / "engine").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("Message", "tr", "tr_n", "format"):
                joined += [
                    f"{path.relative_to(ROOT)}:{keyword.value.lineno}"
                    for keyword in node.keywords
                    if isinstance(keyword.value, ast.Call)
                    and isinstance(keyword.value.func, ast.Attribute)
                    and keyword.value.func.attr == "join"
                    and getattr(keyword.value.func.value, "value", "") == ", "
                ]
    assert not joined
