"""Scores in tables: a row for each sentence (long form), for each pair (wide form), or for each token."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.datasets.formats.columns import NAMES, normalize_name, values
from engine.datasets.formats.files import Table
from engine.datasets.formats.grid import quoted
from engine.datasets.minimal_pairs.pairs import guess_columns
from engine.datasets.minimal_pairs.scores import SIDES
from engine.datasets.scores.lines import Collector
from engine.errors import InputError
from engine.messages.message import Message, together

SENTENCE = ("sentence", "text", "文", "本文", "テキスト")
LOG_LIKELIHOOD = (
    "log_likelihood",
    "loglikelihood",
    "sum_log_likelihood",
    "log_prob",
    "logprob",
    "sum_logprob",
    "log_probability",
    "対数尤度",
)
N_TOKENS = ("n_tokens", "num_tokens", "token_count", "トークン数")
TOKENS = ("tokens", "token_log_likelihoods")
MODEL = ("model", "model_name", "モデル")
# Of token rows: the sentence by its number, the token and its score, by minicons' own numbers of columns too.
SENTENCE_NUMBER = ("sentence_number", "sentence_id", "sentence_ind", "sentence_idx", "0")
TOKEN = ("token", "2")
TOKEN_SCORE = (*LOG_LIKELIHOOD, "score", "3")
TOKEN_PLACE = ("token_number", "token_id", "token_ind", "token_idx", "position", "1")
NEVER = ("surprisal", "surprisals", "score", "perplexity", "ppl", "nll", "loss")
IS_NONE = Message(
    "'{column}' is not read: it may be a mean, a surprisal or a perplexity. If it holds the sum of log-likelihoods, in "
    "nats, call it log_likelihood."
)
REPEATED = Message(
    "its tokens stand there several times: number the sentences (sentence_id), or the tokens within each (token_id)"
)
_MARKS_OF_WORDS = re.compile("[\u0120\u2581]|##")  # of byte-level and of SentencePiece tokenizers, and of WordPiece
# Between the name of a model and what a column holds of it.
BETWEEN = ":"


class WideColumn(NamedTuple):
    """A column of the wide form: of which model ("" for that of the row), which side, and what it holds."""

    model: str
    side: str
    what: str


@dataclass(frozen=True)
class Form:
    """A layout: its name, whether a table has it, and what reads it."""

    name: str
    fits: Callable[[Table], bool]
    read: Callable[[Table, Collector], list[str]]


def column_of(columns: Iterable[str], names: Sequence[str]) -> str | None:
    """The first column that has one of the names, in their order."""
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(normalize_name(column), column)
    return next((by_name[name] for name in names if name in by_name), None)


def wide_columns(columns: Iterable[str]) -> dict[str, WideColumn]:
    """The columns of the wide form that are understood, by name.

    >>> wide_columns(["gpt2:acceptable", "unacceptable_log_likelihood", "acceptable", "UID"])
    {'gpt2:acceptable': WideColumn(model='gpt2', side='acceptable', what='log_likelihood'), \
'unacceptable_log_likelihood': WideColumn(model='', side='unacceptable', what='log_likelihood')}
    """
    found = {}
    for column in map(str, columns):
        head, between, tail = column.rpartition(BETWEEN)
        for model, rest in ((head, tail), (tail, head)) if between else (("", column),):
            understood = _PARTS.get(normalize_name(rest))
            if understood and (model.strip() or understood[2]):
                found[column] = WideColumn(model.strip(), *understood[:2])
                break
    return found


def _parts() -> dict[str, tuple[str, str, bool]]:
    """What follows the name of a model: side, what, and whether it may stand without such a name."""
    parts: dict[str, tuple[str, str, bool]] = {}
    for side in SIDES:
        for word in (name for name in NAMES[side] if " " not in name):
            parts[word] = (side, "log_likelihood", False)  # alone it is the sentence
            for what, names in (
                ("log_likelihood", LOG_LIKELIHOOD),
                ("n_tokens", (*N_TOKENS, "tokens")),
                ("tokens", ("token_log_likelihoods",)),
            ):
                for name in names:
                    parts[f"{word}_{name}"] = parts[f"{name}_{word}"] = (side, what, True)
    return parts


_PARTS = _parts()


def _is_wide(table: Table) -> bool:
    columns = [str(name) for name in table.frame.columns]
    holds = {(column.side, column.what) for column in wide_columns(columns).values()}
    return all((side, "log_likelihood") in holds for side in SIDES) and _sentences(table) is not None


def _sentences(table: Table) -> tuple[str, str] | None:
    guessed = guess_columns(table)
    first, second = (guessed[side] for side in SIDES)
    return (first, second) if first and second and first != second else None


def _read_wide(table: Table, into: Collector) -> list[str]:
    frame = table.frame
    columns = wide_columns(map(str, frame.columns))
    of_pair = _sentences(table)
    if of_pair is None:
        return []
    texts = dict(zip(SIDES, (values(frame, column) for column in of_pair), strict=True))
    model_column = column_of(map(str, frame.columns), MODEL)
    models = list(dict.fromkeys(column.model for column in columns.values()))
    by_place = {place: name for name, place in columns.items()}
    of_rows = frame[model_column].tolist() if model_column else [""] * len(frame)
    numbers = [int(number) for number in frame.index]
    for model in models:
        for side in SIDES:
            name = by_place.get(WideColumn(model, side, "log_likelihood"))
            if name is None:
                raise _one_sided(table.name, model, side)
            counts, tokens = (
                frame[by_place[place]].tolist()
                if (place := WideColumn(model, side, what)) in by_place
                else [""] * len(frame)
                for what in ("n_tokens", "tokens")
            )
            for row, of_row, text, value, count, listed in zip(
                numbers, of_rows, texts[side], frame[name].tolist(), counts, tokens, strict=True
            ):
                into.add(model or of_row.strip(), row, text, value, count, listed, name)
    return [*columns, *of_pair, *([model_column] if model_column and "" in models else [])]


def _one_sided(name: str, model: str, side: str) -> InputError:
    return InputError(
        Message(
            "{name} has no column of log-likelihoods of the {side} sentences of {model}. Name it {column}.",
            name=name,
            side=side,
            model=model or Message("the model"),
            column=f"{model}{BETWEEN}{side}_log_likelihood" if model else f"{side}_log_likelihood",
        )
    )


def _is_long(table: Table) -> bool:
    columns = [str(name) for name in table.frame.columns]
    return column_of(columns, SENTENCE) is not None and (
        column_of(columns, LOG_LIKELIHOOD) is not None or column_of(columns, TOKENS[:1]) is not None
    )


def _read_long(table: Table, into: Collector) -> list[str]:
    frame = table.frame
    names = [column_of(map(str, frame.columns), known) for known in (MODEL, SENTENCE, LOG_LIKELIHOOD, N_TOKENS, TOKENS)]
    models, texts, sums, counts, tokens = (
        frame[name].tolist() if name is not None else [""] * len(frame) for name in names
    )
    for row, model, text, value, count, listed in zip(frame.index, models, texts, sums, counts, tokens, strict=True):
        if listed.strip().isdecimal() and not count:  # a number of tokens
            count, listed = listed, ""
        into.add(model.strip(), int(row), text, value, count, listed, names[2] or names[4] or "")
    return [name for name in names if name is not None]


def _is_by_token(table: Table) -> bool:
    columns = [str(name) for name in table.frame.columns]
    return (
        column_of(columns, TOKEN) is not None
        and column_of(columns, TOKEN_SCORE) is not None
        and (column_of(columns, SENTENCE_NUMBER) is not None or column_of(columns, SENTENCE) is not None)
    )


def _read_by_token(table: Table, into: Collector) -> list[str]:
    """A row for each token, as minicons' command prints them: sentence, token, its log-probability, maybe its rank.

    A first token of exactly 0 was not scored: minicons writes that of a causal model so. Where no column names the
    sentence, its tokens are joined.
    """
    frame = table.frame
    columns = [str(name) for name in frame.columns]
    names = {
        "model": column_of(columns, MODEL),
        "sentence": column_of(columns, SENTENCE),
        "number": column_of(columns, SENTENCE_NUMBER),
        "token": column_of(columns, TOKEN),
        "score": column_of(columns, TOKEN_SCORE),
        "place": column_of(columns, TOKEN_PLACE),
    }
    used = {key: frame[name].tolist() if name is not None else [""] * len(frame) for key, name in names.items()}
    groups: dict[tuple[str, str, str, int], list[int]] = {}
    n_times: Counter[tuple[str, str, str, str]] = Counter()
    for i, key in enumerate(zip(used["model"], used["number"], used["sentence"], strict=True)):
        # The number of a token that the sentence has already is of the next time that the sentence stands there.
        time = n_times[*key, used["place"][i]] if used["place"][i] else 0
        n_times[*key, used["place"][i]] += 1
        groups.setdefault((*key, time), []).append(i)
    for (model, _, sentence, _), places in groups.items():
        tokens = [[used["token"][i], used["score"][i] or None] for i in places]
        if sentence and _is_repeated([str(token) for token, _ in tokens], sentence):
            into.refuse(int(frame.index[places[0]]), REPEATED)
            continue
        first = tokens[0][1]
        if len(tokens) > 1 and first is not None and _is_zero(first):
            tokens[0][1] = None
        text = sentence or "".join(str(token) for token, _ in tokens)
        into.add(model.strip(), int(frame.index[places[0]]), text, "", "", tokens, str(names["score"]))
        into.lines(model.strip()).is_joined = not sentence
    return [name for name in names.values() if name is not None]


def _is_repeated(tokens: Sequence[str], sentence: str) -> bool:
    """Whether the tokens are the same ones several times over, and not those of a sentence that is."""
    n = len(tokens)
    if _letters("".join(tokens)) == _letters(sentence):
        return False
    return any(n % part == 0 and list(tokens) == list(tokens[:part]) * (n // part) for part in range(1, n // 2 + 1))


def _letters(text: str) -> str:
    """A text without white space, also as tokens mark it."""
    return "".join(_MARKS_OF_WORDS.sub("", text).split())


def _is_zero(text: str) -> bool:
    try:
        return float(text) == 0
    except ValueError:
        return False


WIDE = Form("wide", _is_wide, _read_wide)
LONG = Form("long", _is_long, _read_long)
BY_TOKEN = Form("by token", _is_by_token, _read_by_token)


def unread_notices(table: Table, read: Sequence[str]) -> list[Message]:
    """Which columns are not read: those that could be taken for scores each with the reason, then the others."""
    unread = [name for name in map(str, table.frame.columns) if name not in read]
    doubtful = [name for name in unread if normalize_name(name) in NEVER]
    others = [name for name in unread if name not in doubtful]
    notices = [IS_NONE.format(column=name) for name in doubtful]
    if others:
        notices.append(
            Message(
                "Columns of {name} that are not read as scores: {columns}.", name=table.name, columns=quoted(others)
            )
        )
    return notices


def refusal(table: Table, layouts: Mapping[str, Message]) -> InputError:
    """The error for a table that no layout fits: what each wants, and the columns that there are."""
    columns = [str(name) for name in table.frame.columns]
    doubtful = [name for name in columns if normalize_name(name) in NEVER]
    listed = [
        Message("{layout}: {columns}", layout=Message(layout), columns=wants) for layout, wants in layouts.items()
    ]
    hint = IS_NONE.format(column=doubtful[0]) if doubtful else Message("")
    return InputError(
        Message(
            "{name} holds no scores of sentences that are recognised. Found: {columns}. Needed is one of these: {listed}. "
            "{hint}",
            name=table.name,
            columns=quoted(columns),
            listed=together("; ", listed),
            hint=hint,
        )
    )
