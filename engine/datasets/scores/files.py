"""Files of scores that were computed elsewhere, of any layout that is known: what they say of which sentence."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from engine.datasets.formats.archives import is_archive, read_members
from engine.datasets.formats.bounds import current_meter, metered
from engine.datasets.formats.encodings import DETECT
from engine.datasets.formats.files import SUFFIXES, Table, max_file_bytes, read_table
from engine.datasets.formats.grid import MAX_COLUMNS
from engine.datasets.scores import lm_eval, prompt_logprobs, tables
from engine.datasets.scores.lines import Collector, Lines, published_accuracy
from engine.datasets.several import read_all
from engine.errors import BadRow, InputError, reason_of
from engine.messages.message import Message, named, together

PARQUET, LINES = ".parquet", ".jsonl"
Source = TypeVar("Source")
SAMPLES, OUTPUTS = (
    named("samples of lm-evaluation-harness"),
    named("prompt_logprobs of vLLM"),
)
# The layouts, and what each wants, as refusals and the documents say it.
FORMS: Mapping[str, Message] = {
    named("long form"): Message(
        "a row for each sentence, with the columns sentence and log_likelihood (the sum, in nats), maybe model, n_tokens "
        'and tokens, a JSON list such as [["The", -2.5], ["cat", -1.25]]'
    ),
    named("wide form"): Message(
        "a row for each pair, with its two sentences as in the data, and for each model the columns "
        "MODEL:acceptable_log_likelihood and MODEL:unacceptable_log_likelihood, maybe MODEL:acceptable_n_tokens and "
        "MODEL:acceptable_token_log_likelihoods; without MODEL: where there is one model, or a column model"
    ),
    named("rows of tokens"): Message(
        "a row for each token, as minicons prints them: sentence_id (or sentence), token and logprob"
    ),
    SAMPLES: Message("samples_TASK_DATE.jsonl, one file or the folder of them with results_DATE.json"),
    OUTPUTS: Message("JSON or JSON lines with prompt and prompt_logprobs"),
}
_TABLES = dict(zip(tuple(FORMS)[:3], (tables.LONG, tables.WIDE, tables.BY_TOKEN), strict=True))
_ORDER = ("wide form", "rows of tokens", "long form")


@dataclass(frozen=True)
class ScoreFile:
    """What a file, or a folder of files that belong together, says.

    digest: SHA-256 of the content; of several files, of their digests. form: a key of FORMS. models: their lines.
    model: the name of a single model that the files do not name line by line, "" where they do not. published: what the
    file says of its own accuracy. given: what the files, folder or archive were called where they were given.
    """

    name: str
    digest: str
    form: str
    models: tuple[Lines, ...]
    model: str = ""
    published: Mapping[str, float] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    left_out: tuple[BadRow, ...] = ()
    given: tuple[str, ...] = ()


def read_scores(
    sources: Sequence[tuple[str, bytes | Path]],
    *,
    skip_bad_rows: bool = False,
    encoding: str = DETECT,
    sheet: str = "",
) -> tuple[ScoreFile, ...]:
    """The scores in files (name, content): a table each, or samples of lm-evaluation-harness, which belong together.

    A folder or an archive is read as the files in it. Samples of one folder are of the model that the results of their
    date name, which lie beside a file on the disk; uploads without results belong together where their dates agree.
    Raises InputError: a file that cannot be read, a layout that is not known, and rows with values that are no
    log-likelihoods, all of them listed; with `skip_bad_rows` these are left out.
    """
    found: list[ScoreFile] = []
    samples: list[tuple[Table, str, str, str]] = []  # with the digest, the folder and what was given
    results: list[tuple[Table, str]] = []

    def judge(others: Table) -> None:
        if not (lm_eval.is_results(others) or lm_eval.fits(others)):
            _read(others, "", False)

    def of(source: tuple[str, tuple[bytes | Path, str, str]]) -> None:
        name, (content, folder, given) = source
        table = any_table(content, name, skip_bad_rows=skip_bad_rows, encoding=encoding, sheet=sheet, judge=judge)
        if lm_eval.is_results(table):
            results.append((table, folder))
        elif lm_eval.fits(table):
            samples.append((table, digest_of(content), folder, given))
        else:
            found.append(replace(_read(table, digest_of(content), skip_bad_rows), given=(given,)))

    with metered():
        read_all([(name, (content, folder, given)) for name, content, folder, given in _members(sources)], of)
    runs: dict[tuple[str, str], list[tuple[Table, str, str, str]]] = {}
    for sample in samples:
        runs.setdefault(_run_of(sample[0], sample[2], results), []).append(sample)
    for (folder, model), own in runs.items():
        of_run = [of for of, within in results if within == folder and lm_eval.model_of_results(of) == model]
        file = _of_samples([(table, digest) for table, digest, *_ in own], of_run, folder, skip_bad_rows)
        found.append(replace(file, given=tuple(dict.fromkeys(given for *_, given in own))))
    if not found:
        names = ", ".join(name for name, _ in sources)
        raise InputError(
            Message(
                "{names} holds no scores of sentences. Needed is one of these: {listed}.", names=names, listed=_wants()
            )
        )
    return tuple(found)


def read_together(sources: Sequence[tuple[str, Source]]) -> list[list[tuple[str, Source]]]:
    """The files (name, content) that one `read_scores` is to read: samples and results together, any other by itself.

    >>> read_together([("samples_x.jsonl", 1), ("mine.csv", 2), ("samples_y.jsonl", 3)])
    [[('samples_x.jsonl', 1), ('samples_y.jsonl', 3)], [('mine.csv', 2)]]
    """
    together: dict[str, list[tuple[str, Source]]] = {}
    results = [source for source in sources if source[0].startswith(lm_eval.RESULTS)]
    for number, source in enumerate(sources):
        if source not in results:
            key = lm_eval.SAMPLES if source[0].startswith(lm_eval.SAMPLES) else str(number)
            together.setdefault(key, []).append(source)
    return [[*files, *results] for files in together.values()] or ([results] if results else [])


def _run_of(table: Table, folder: str, results: Sequence[tuple[Table, str]]) -> tuple[str, str]:
    """What samples of one model share: the folder, and the model of the results of their date; without these the date."""
    date = lm_eval.date_of(table.name)
    models = {
        lm_eval.date_of(of_run.name): lm_eval.model_of_results(of_run) for of_run, within in results if within == folder
    }
    if len(set(models.values())) == 1 and (folder or not date):
        models.setdefault(date, next(iter(models.values())))
    return folder, models.get(date) or ("" if folder else date)


def _wants() -> Message:
    return together(
        "; ",
        [Message("{layout}: {columns}", layout=Message(layout), columns=wants) for layout, wants in FORMS.items()],
    )


def _members(sources: Sequence[tuple[str, bytes | Path]]) -> list[tuple[str, bytes | Path, str, str]]:
    """Each file with its folder and what was given; with a file of samples the results beside it."""
    members: list[tuple[str, bytes | Path, str, str]] = []
    given = {content.resolve() for _, content in sources if isinstance(content, Path)}
    for name, content in sources:
        if is_archive(name) or (isinstance(content, Path) and content.is_dir()):
            for member, raw in read_members(content, name, suffixes=(*SUFFIXES, PARQUET)):
                members.append((member, raw, f"{name}/{PurePosixPath(member).parent}", name))
            continue
        folder = str(content.parent) if isinstance(content, Path) else ""
        members.append((name, content, folder, name))
        if isinstance(content, Path) and name.startswith(lm_eval.SAMPLES):
            beside = sorted(
                path for path in content.parent.glob(f"{lm_eval.RESULTS}*.json") if path.resolve() not in given
            )
            members += [(path.name, path, folder, name) for path in beside[-1:]]
            given |= {path.resolve() for path in beside[-1:]}
    return members


def any_table(
    content: bytes | Path,
    name: str,
    *,
    skip_bad_rows: bool = False,
    encoding: str = DETECT,
    sheet: str = "",
    judge: Callable[[Table], object] | None = None,
) -> Table:
    """A table as `read_table` reads it, of Parquet and of JSON lines with lists too. Raises InputError."""
    if not name.lower().endswith(PARQUET):
        lines = _json_lines(content, name) if name.lower().endswith(LINES) and encoding == DETECT else None
        if lines is not None:
            return lines
        return read_table(content, name, skip_bad_rows=skip_bad_rows, encoding=encoding, sheet=sheet, judge=judge)
    return frame_table(parquet_frame(content, name), name)


def parquet_frame(content: bytes | Path, name: str) -> pd.DataFrame:
    """The frame in a Parquet file. Raises InputError."""
    try:
        return pd.read_parquet(io.BytesIO(content) if isinstance(content, bytes) else content)
    except OSError as error:
        raise InputError(Message("{name} cannot be read: {error}.", name=name, error=reason_of(error))) from error
    except Exception as error:  # pyarrow has an error class of its own for each fault
        raise InputError(Message("{name} is no Parquet file: {error}.", name=name, error=str(error))) from error


def _json_lines(content: bytes | Path, name: str) -> Table | None:
    """Sound JSON lines in UTF-8, as `read_table` reads them, in a tenth of its time; None for anything else.

    Lists of tokens are large, and the number of a sum need not keep its spelling. No more is held than the cells.
    """
    columns: dict[str, list[str]] = {}
    numbers: list[int] = []
    try:
        if (len(content) if isinstance(content, bytes) else content.stat().st_size) > max_file_bytes():
            return None
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                row = json.loads(line.decode("utf-8"), object_pairs_hook=_unique)
                if not isinstance(row, dict):
                    return None
                for column in row:
                    if column not in columns:
                        columns[column] = [""] * len(numbers)
                for column, cells in columns.items():
                    cells.append(_text(row.get(column)))
                numbers.append(number)
    except (OSError, ValueError, RecursionError):
        return None
    if not numbers or len(columns) > MAX_COLUMNS:
        return None
    current_meter().count_cells(len(columns) * len(numbers), name)
    frame = pd.DataFrame({column: pd.Series(cells, dtype=object) for column, cells in columns.items()})
    return Table(name, frame.set_axis(pd.Index(numbers, name="row")), "jsonl", "utf-8")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; ValueError where it names a key twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError
    return made


def frame_table(frame: pd.DataFrame, name: str) -> Table:
    """A table of a frame of pandas; lists become JSON, missing values ""."""
    texts = {str(column): pd.Series(list(map(_text, values)), dtype="str") for column, values in frame.items()}
    index = pd.RangeIndex(1, len(frame) + 1, name="row")
    return Table(name, pd.DataFrame(texts).set_axis(index), "csv", None)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple | dict | np.ndarray):
        return json.dumps(value, ensure_ascii=False, default=_plain)
    return "" if value is None or value is pd.NA or value != value else str(value)


def _plain(value: Any) -> Any:
    """An array or a number of numpy, as a cell of Parquet holds them."""
    return value.tolist()


def _read(table: Table, digest: str, skip_bad_rows: bool) -> ScoreFile:
    into = Collector()
    if prompt_logprobs.fits(table):
        form, read = OUTPUTS, prompt_logprobs.read(table, into)
    else:
        form = next((name for name in _ORDER if _TABLES[name].fits(table)), "")
        if not form:
            raise tables.refusal(table, FORMS)
        read = _TABLES[form].read(table, into)
    notices = [*table.notices, *into.notices]
    if form != OUTPUTS:
        notices += tables.unread_notices(table, read)
    return _finished(
        ScoreFile(table.name, digest, form, (), "", {}, tuple(notices)), into, skip_bad_rows, table.left_out
    )


def read_frame(frame: pd.DataFrame, name: str, *, skip_bad_rows: bool = False) -> tuple[ScoreFile, ...]:
    """The scores in a frame of pandas, laid out as a file is."""
    table = frame_table(frame, name)
    digest = hashlib.sha256(pd.util.hash_pandas_object(table.frame, index=True).to_numpy().tobytes()).hexdigest()
    if lm_eval.fits(table):
        return (_of_samples([(table, digest)], [], "", skip_bad_rows),)
    return (_read(table, digest, skip_bad_rows),)


def _of_samples(
    samples: Sequence[tuple[Table, str]], results: Sequence[Table], folder: str, skip_bad_rows: bool
) -> ScoreFile:
    """All samples of one folder, which are of one model; with the results beside them."""
    into = Collector()
    for table, _ in samples:
        before = len(into.bad)
        lm_eval.read(table, into)
        if len(samples) > 1:  # rows are numbered in each file
            into.bad[before:] = [
                BadRow(bad.row, Message("{reason} ({name})", reason=bad.reason, name=table.name))
                for bad in into.bad[before:]
            ]
    names = [table.name for table, _ in samples]
    digest = samples[0][1] if len(samples) == 1 else hashlib.sha256("".join(d for _, d in samples).encode()).hexdigest()
    name = names[0] if len(names) == 1 else (PurePosixPath(folder).name or Message("{n} files", n=len(names)))
    model = next((found for table in results if (found := lm_eval.model_of_results(table))), "")
    notices = [notice for table, _ in samples for notice in table.notices] + into.notices
    stated = {task: value for table in results for task, value in lm_eval.accuracies_of_results(table).items()}
    for table, _ in samples:
        if (task := lm_eval.task_of(table.name)) in stated and "acc" in table.frame.columns:
            own = pd.to_numeric(
                table.frame["acc"].replace({"True": 1, "False": 0, "true": 1, "false": 0}), errors="coerce"
            ).mean()
            if abs(own - stated[task]) > 5e-4:
                notices.append(
                    Message(
                        "{task}: the results say an accuracy of {stated:.4f}, and the samples one of {own:.4f}: they are "
                        "not of one run.",
                        task=task,
                        stated=stated[task],
                        own=own,
                    )
                )
    left_out = [bad for table, _ in samples for bad in table.left_out]
    file = ScoreFile(str(name), digest, SAMPLES, (), model, {}, tuple(notices))
    return _finished(file, into, skip_bad_rows, left_out)


def _finished(file: ScoreFile, into: Collector, skip_bad_rows: bool, left_out: Sequence[BadRow]) -> ScoreFile:
    models = tuple(lines for lines in into.models.values() if lines.texts)
    if into.bad and not (skip_bad_rows and models):
        raise InputError(
            Message(
                "{name} ({form}) has rows whose values are no log-likelihoods of sentences.",
                name=file.name,
                form=Message(file.form),
            ),
            sorted(into.bad, key=lambda bad: bad.row),
        )
    published = published_accuracy(models[0]) if len(models) == 1 else {}
    return replace(file, models=models, published=published, left_out=(*left_out, *into.bad))


def digest_of(content: bytes | Path) -> str:
    """The SHA-256 of a file. Raises InputError where it cannot be read."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    try:
        with content.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            Message("{name} cannot be read: {error}.", name=content.name, error=reason_of(error))
        ) from error
