"""Words with their reading times, a row for each word or for each word and reader, made into texts to be scored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.columns import JOIN, Role, normalize_name
from engine.datasets.formats.files import Table
from engine.datasets.formats.grid import unquoted
from engine.datasets.minimal_pairs import layouts
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.language.words import uses_spaces
from engine.messages.message import Message, list_of

Span = tuple[int, int]
# The columns of a text.
ITEM, TEXT, WORDS, LAYOUT = "item", "text", "words", "layout"
# A text of more words is scored in windows, each half again as long as what is counted of it.
WINDOW, STEP = 300, 150
MISSING = ("", "na", "nan", "none", "null", ".", "-")
ROLES = (
    Role("word", True, Message("the word")),
    Role("time", True, Message("its reading time, or another measure; several columns are joined by ' + '")),
    Role("item", False, Message("the text or sentence whose words stand one after the other")),
    Role("position", False, Message("the number of the word in it; else its words are taken as they come")),
    Role("context", False, Message("in place of an item: the text before the word")),
    Role("frequency", False, Message("how frequent the word is, as a logarithm")),
    Role("length", False, Message("its length; else the number of its characters")),
)
NAMES: Mapping[str, tuple[str, ...]] = {
    "word": ("word", "words", "token", "surface", "単語", "語"),
    "time": layouts.TIMES,
    "item": (
        *("item", "item_id", "text_id", "sent_nr", "sentence_id", "sentence_number", "story", "passage", "article"),
        *("文番号", "文章番号"),
    ),
    "position": (
        *("zone", "word_pos", "position", "word_number", "word_index", "word_position", "context_length"),
        *("位置", "単語番号"),
    ),
    "context": ("context", "prefix", "preceding_context", "left_context"),
    "frequency": ("subtlex_log10", "log_frequency", "log_freq", "frequency", "freq", "頻度"),
    "length": ("length", "word_length", "wlen"),
}
_PREVIOUS_CONTEXT, _PREVIOUS_LENGTH = "prev_item", "prev_length"
UNUSABLE = Message(
    "{name}: {bad} of {rows} lack a word or its text, or have a number that is none. Correct or remove these rows."
)
NO_WORD = Message("'{column}' is empty")
NO_NUMBER = Message("'{column}' holds {text!r}, which is no number")
OTHER_WORD = Message("position {position} of {item} has the word {word!r}, and {other!r} in an earlier row")
NO_TEXT = Message(
    "{name}: which words stand in one text is told by a column for 'item', or by one for 'context', the text before the "
    "word. Found: {columns}. Say which column it is."
)
READ = Message("{words} with {times} in {texts}.")
READERS = Message("{rows} of several readers are read as means over readers.")
IN_WINDOWS = Message(
    "{items} of more than {most} words are scored in windows of {most} words, of which the last {step} are counted."
)
SCATTERED = Message(
    "Most words do not go on with the row before them, so that intervals take each for a text of its own: sort the rows, "
    "or name a column for 'item'."
)
NO_FREQUENCY = Message(
    "There is no column of frequencies: what surprisal explains may be that frequent words are read faster."
)


@dataclass
class Words:
    """The words of a text in order, measured or not; each list has an element for each word.

    spans: characters in the text. rows: of the file, 0 for a word without one. times: by column. A number that is not
    known is None.
    """

    spans: list[Span] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    position: list[float | None] = field(default_factory=list)
    frequency: list[float | None] = field(default_factory=list)
    length: list[float | None] = field(default_factory=list)
    previous_length: list[float | None] = field(default_factory=list)
    has_previous: list[bool] = field(default_factory=list)
    times: dict[str, list[float | None]] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Words:
        """The words that `as_texts` wrote into WORDS."""
        found = cls(**json.loads(text))
        found.spans = [(start, end) for start, end in found.spans]
        return found


def guessed_columns(spelled: Mapping[str, str]) -> dict[str, str | None]:
    """The column of each role by its name, spelled by normalised name; the times are all that are known, joined."""
    layout = layouts.reading_format(spelled)
    guessed: dict[str, str | None] = {}
    for role in ROLES:
        own = layout.columns.get(role.name)
        known = (own,) if own else () if layout.columns and role.name in ("item", "context") else NAMES[role.name]
        taken = [name for name in known if name in spelled and spelled[name] not in guessed.values()]
        guessed[role.name] = spelled[taken[0]] if taken else None
    guessed["time"] = JOIN.join(name for normalized, name in spelled.items() if normalized in layouts.TIMES) or None
    return guessed


def regions_of(originals: Sequence[str]) -> list[list[tuple[int, Span]]]:
    """The words of each text by number, from 1, with their characters; originals: rows of `as_texts`."""
    return [
        list(enumerate(Words.read(json.loads(original)[WORDS]).spans, start=1)) if original else []
        for original in originals
    ]


def as_texts(table: Table, columns: Mapping[str, str], *, skip_bad_rows: bool) -> Table:
    """Such a file with a row for each text: ITEM, TEXT, and in WORDS its words as JSON, in LAYOUT how it was published.

    Of several rows of one position (readers) the means are taken. A text of more than WINDOW words is cut into windows,
    which overlap so that each word that is counted has STEP words before it, or the whole beginning. Words are joined by
    a space where they are written with spaces. Of a column of contexts, rows belong to one text while each goes on with
    the row before.

    Raises InputError without a column of items or contexts, and for rows without a word or item, with a number that is
    none, or with another word at a position (with `skip_bad_rows` left out).
    """
    if "item" not in columns and "context" not in columns:
        names = unquoted(table.frame.columns)
        raise InputError(NO_TEXT.format(name=table.name, columns=names))
    table, numbers = _usable(table, columns, skip_bad_rows)
    frame = table.frame
    spelled = {normalize_name(str(name)): str(name) for name in frame.columns}
    words = frame[columns["word"]].str.strip()
    notices: list[Message] = []
    n_rows = len(frame)
    if "context" in columns:
        texts = list(_of_contexts(frame, columns, words, numbers, spelled))
        n_starts = sum(len([row for row in of_text.rows if row]) == 1 for _, _, of_text in texts)
        if "item" not in columns and 2 * n_starts > n_rows:
            notices.append(SCATTERED)
    else:
        frame, words, numbers = _over_readers(frame, columns, words, numbers)
        if len(frame) < n_rows:
            notices.append(READERS.format(rows=count(n_rows, "row")))
        texts = list(_of_items(frame, columns, words, numbers, spelled))
        cut = [item for item, _, of_text in texts if len(of_text.words) > WINDOW]
        if cut:
            notices.append(IN_WINDOWS.format(items=count(len(cut), "text"), most=WINDOW, step=STEP))
            texts = [window for text in texts for window in _windows(*text)]
    if "frequency" not in columns:
        notices.append(NO_FREQUENCY)
    read = READ.format(
        words=count(len(frame), "word"),
        times=list_of(columns["time"].split(JOIN)),
        texts=count(len({item for item, _, _ in texts}), "text"),
    )
    said = rows.left_out_notice(table.left_out)  # with the numbers of the file
    made = pd.DataFrame(
        {
            ITEM: [item for item, _, _ in texts],
            TEXT: [text for _, text, _ in texts],
            WORDS: [json.dumps(vars(of_text), ensure_ascii=False) for _, _, of_text in texts],
            LAYOUT: layouts.reading_format(spelled).name,
        },
        index=pd.Index(range(1, len(texts) + 1), name="row"),
        dtype="str",
    )
    return replace(table, frame=made, left_out=(), notices=(*table.notices, *said, read, *notices), json_text="")


def _usable(table: Table, columns: Mapping[str, str], skip_bad_rows: bool) -> tuple[Table, dict[str, np.ndarray]]:
    """The table without unusable rows, and its numbers by column, nan where there is none."""
    frame = table.frame
    bad: dict[int, Message] = {}
    for role in ("word", "item"):
        if role in columns:
            texts = frame[columns[role]].str.strip()
            bad |= {int(number): NO_WORD.format(column=columns[role]) for number in frame.index[texts == ""]}
    names = [
        *columns["time"].split(JOIN),
        *(columns[role] for role in ("position", "frequency", "length") if role in columns),
    ]
    names += [name for name in map(str, frame.columns) if normalize_name(name) == _PREVIOUS_LENGTH]
    numbers: dict[str, np.ndarray] = {}
    for name in dict.fromkeys(names):
        texts = frame[name].str.strip()
        missing = texts.str.casefold().isin(MISSING).to_numpy()
        values = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
        wrong = ~missing & ~np.isfinite(values)
        if name == columns.get("position"):
            wrong |= ~np.isfinite(values) & ("context" not in columns)
        for number, text in zip(frame.index[wrong], texts[wrong], strict=True):
            bad.setdefault(int(number), NO_NUMBER.format(column=name, text=text))
        numbers[name] = np.where(missing, np.nan, values)
    if "context" not in columns and "position" in columns:
        bad |= {number: reason for number, reason in _other_words(frame, columns, numbers).items() if number not in bad}
    kept = rows.without_rows(
        table, [BadRow(number, bad[number]) for number in sorted(bad)], UNUSABLE, skip_bad_rows=skip_bad_rows
    )
    there = frame.index.isin(kept.frame.index)
    return kept, {name: values[there] for name, values in numbers.items()}


def _other_words(
    frame: pd.DataFrame, columns: Mapping[str, str], numbers: Mapping[str, np.ndarray]
) -> dict[int, Message]:
    """The rows whose word is another than that of the first row of their position, with what is wrong."""
    words = frame[columns["word"]].str.strip()
    places = [frame[columns["item"]].str.strip(), pd.Series(numbers[columns["position"]], index=frame.index)]
    firsts = words.groupby(places, sort=False).transform("first")
    return {
        int(number): OTHER_WORD.format(
            position=f"{places[1][number]:g}", item=places[0][number], word=words[number], other=firsts[number]
        )
        for number in frame.index[(words != firsts) & places[1].notna()]
    }


def _over_readers(
    frame: pd.DataFrame, columns: Mapping[str, str], words: pd.Series, numbers: Mapping[str, np.ndarray]
) -> tuple[pd.DataFrame, pd.Series, dict[str, np.ndarray]]:
    """One row for each position of each item, in order, with the means of its numbers; as they come without positions."""
    if "position" not in columns:
        return frame, words, dict(numbers)
    items, _ = pd.factorize(frame[columns["item"]].str.strip())
    keyed = pd.DataFrame({"item": items, "position": numbers[columns["position"]]}, index=frame.index)
    groups = [keyed["item"], keyed["position"]]
    firsts = (~keyed.duplicated()).to_numpy()
    order = keyed[firsts].sort_values(["item", "position"], kind="stable").index
    means = {
        name: pd.Series(values, index=frame.index).groupby(groups, sort=True).mean().to_numpy()
        for name, values in numbers.items()
    }
    return frame.loc[order], words.loc[order], means


def _of_items(
    frame: pd.DataFrame,
    columns: Mapping[str, str],
    words: pd.Series,
    numbers: Mapping[str, np.ndarray],
    spelled: Mapping[str, str],
) -> Iterator[tuple[str, str, Words]]:
    """Each item with its text and words, in the order in which items come."""
    items = frame[columns["item"]].str.strip().to_numpy()
    codes, names = pd.factorize(items)
    number_of_row = frame.index.to_numpy()
    order = np.argsort(codes, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        own = words.iloc[places].tolist()
        between = " " if uses_spaces("".join(own)) else ""
        found, start = Words(), 0
        for place, word in zip(places.tolist(), own, strict=True):
            _add(found, word, (start, start + len(word)), int(number_of_row[place]), place, columns, numbers)
            start += len(word) + len(between)
        _complete(found, [_value(numbers, spelled.get(_PREVIOUS_LENGTH), place) for place in places.tolist()])
        yield str(names[codes[places[0]]]), between.join(own), found


def _of_contexts(
    frame: pd.DataFrame,
    columns: Mapping[str, str],
    words: pd.Series,
    numbers: Mapping[str, np.ndarray],
    spelled: Mapping[str, str],
) -> Iterator[tuple[str, str, Words]]:
    """Each run of rows of which each goes on with the one before, as one text; the others' words are between theirs."""
    contexts = frame[columns["context"]].tolist()
    items = frame[columns["item"]].str.strip().tolist() if "item" in columns else [""] * len(frame)
    before = frame[spelled[_PREVIOUS_CONTEXT]].str.strip().tolist() if _PREVIOUS_CONTEXT in spelled else None
    text, item, found, given, n_texts = "", "", Words(), list[float | None](), 0
    for place, (context, word, number) in enumerate(zip(contexts, words.tolist(), frame.index.tolist(), strict=True)):
        context = "" if context.strip().casefold() in MISSING else context.strip()
        goes_on = text and items[place] == item and context.startswith(text) and len(context) >= len(text)
        if not goes_on or (len(context) > len(text) and uses_spaces(context) and not context[len(text)].isspace()):
            if text:
                _complete(found, given)
                n_texts += 1
                yield item or str(n_texts), text, found
            text, item, found, given = "", items[place], Words(), []
        for start, end in _pieces(context, len(text)):
            _add(found, context[start:end], (start, end), 0, None, columns, numbers)
            given.append(None)
        start = len(context) + bool(context and uses_spaces(context + word))
        text = context + " " * (start - len(context)) + word
        _add(found, word, (start, len(text)), int(number), place, columns, numbers)
        given.append(_value(numbers, spelled.get(_PREVIOUS_LENGTH), place))
        found.has_previous[-1] = len(found.words) > 1 and (before is None or before[place].casefold() not in MISSING)
    if text:
        _complete(found, given)
        yield item or str(n_texts + 1), text, found


def _pieces(context: str, start: int) -> Iterator[Span]:
    """The words of a context from a character on: what white space parts, or all of it where none does."""
    while start < len(context):
        rest = context[start:]
        begin = start + len(rest) - len(rest.lstrip())
        word = context[begin:].split(maxsplit=1)[0] if uses_spaces(context) else context[begin:]
        yield begin, begin + len(word)
        start = begin + len(word)


def _add(
    found: Words,
    word: str,
    span: Span,
    row: int,
    place: int | None,
    columns: Mapping[str, str],
    numbers: Mapping[str, np.ndarray],
) -> None:
    """Append a word; place: its line in `numbers`, None for one that is no row of the file."""

    def of(role: str) -> float | None:
        return None if place is None else _value(numbers, columns.get(role), place)

    position, length = of("position"), of("length")
    found.spans.append(span)
    found.words.append(word)
    found.rows.append(row)
    found.position.append(float(len(found.words)) if position is None and "position" not in columns else position)
    found.frequency.append(of("frequency"))
    found.length.append(float(len(word)) if length is None and ("length" not in columns or place is None) else length)
    found.has_previous.append(len(found.words) > 1)
    for name in columns["time"].split(JOIN):
        found.times.setdefault(name, []).append(None if place is None else _value(numbers, name, place))


def _complete(found: Words, given: Sequence[float | None]) -> None:
    """Fill in the lengths of the words before: as given, or those of the words."""
    found.previous_length = [
        None if not has else own if own is not None else found.length[place - 1]
        for place, (own, has) in enumerate(zip(given, found.has_previous, strict=True))
    ]


def _value(numbers: Mapping[str, np.ndarray], name: str | None, place: int) -> float | None:
    if name is None:
        return None
    value = float(numbers[name][place])
    return None if np.isnan(value) else value


def _windows(item: str, text: str, words: Words) -> Iterator[tuple[str, str, Words]]:
    """The windows of a text of many words; of the words that another window counts there are no times."""
    n = len(words.words)
    if n <= WINDOW:
        yield item, text, words
        return
    for counted in [0, *range(WINDOW, n, STEP)]:
        first, last = max(0, counted - STEP), min(n, counted + (STEP if counted else WINDOW))
        start, end = words.spans[first][0], words.spans[last - 1][1]
        cut: dict[str, Any] = {
            name: values[first:last] for name, values in vars(words).items() if name not in ("times", "spans")
        }
        spans = [(begin - start, after - start) for begin, after in words.spans[first:last]]
        times = {
            name: [value if place >= counted else None for place, value in enumerate(values[first:last], start=first)]
            for name, values in words.times.items()
        }
        rows_of_file = [row if place >= counted else 0 for place, row in enumerate(cut["rows"], start=first)]
        yield item, text[start:end], Words(**cut | {"spans": spans, "times": times, "rows": rows_of_file})
