"""The scores of a file with the sentences of a dataset: by exact text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.datasets.formats.columns import scores_notice
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.minimal_pairs.scores import UNKNOWN, OutsideScores, SideScores
from engine.datasets.outside_names import PREFIX, printable
from engine.datasets.rows import left_out_notice, row_notice
from engine.datasets.scores.files import ScoreFile
from engine.datasets.scores.lines import SAME, SAME_SHARE, Lines
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message, list_of

_CONTROL = re.compile(r"<s>|</s>|<unk>|\[CLS\]|\[SEP\]|\[UNK\]|<\|[^|]*\|>")
MISSING_ONE = Message("{name}: {rows} of the data has a sentence that {file} has no score of: {listed}.")
MISSING = Message("{name}: {rows} of the data have a sentence that {file} has no score of: {listed}.")
REPEATED = Message(
    "{name}: {file} has several log-likelihoods of {n}, which differ by less than {same:g} nats; the first of each is "
    "counted."
)


def key(text: str) -> str:
    """What two spellings of one sentence share: in Unicode's NFC, without white space at the ends.

    >>> key(" The cat sleeps. "), key("か\\u3099") == key("が")
    ('The cat sleeps.', True)
    """
    return unicodedata.normalize("NFC", text).strip()


def joined_key(text: str) -> str:
    """What a sentence and its joined tokens share: no white space, no marks of words, no control tokens.

    >>> joined_key("<s>The cat"), joined_key("Thecat")
    ('Thecat', 'Thecat')
    """
    return "".join(unicodedata.normalize("NFC", _CONTROL.sub("", text)).split()).replace("##", "")


def attached(
    dataset: MinimalPairs, files: Sequence[ScoreFile], labels: Sequence[str] = (), *, skip_bad_rows: bool = False
) -> MinimalPairs:
    """The dataset with the scores of the files as further models, and notices of what did not match.

    labels: of each file the label that its model gets, "" for the name that the file says, or that of the file. Raises
    InputError: a file of several models with a label, two models of one name, sentences with two scores (with
    `skip_bad_rows` the later ones are left out), and a file that has no score of any pair.
    """
    scores: list[OutsideScores] = list(dataset.scores)
    notices: list[str] = []
    labels = labels or ("",) * len(files)
    _refuse_shared_labels(files, labels)
    notices += dict.fromkeys(
        scores_notice(given, label)
        for file, label in zip(files, labels, strict=True)
        for given in file.given or (file.name,)
    )
    for file, label in zip(files, labels, strict=True):
        notices += [Message("In {label}: {notice}", label=file.name, notice=notice) for notice in file.notices]
        notices += [
            Message("In {label}: {notice}", label=file.name, notice=notice) for notice in left_out_notice(file.left_out)
        ]
        for lines, name in zip(file.models, _names(file, label), strict=True):
            of_model, about = _matched(dataset, file, lines, name, skip_bad_rows)
            scores.append(of_model)
            notices += about
    names = [of_model.name for of_model in scores]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            Message(
                "The scores of two models are called {twice}. Give each file a label of its own: --scores LABEL=FILE.",
                twice=list_of(twice),
            )
        )
    return replace(dataset, scores=tuple(scores), notices=(*dataset.notices, *notices))


def _refuse_shared_labels(files: Sequence[ScoreFile], labels: Sequence[str]) -> None:
    """Raise InputError where a label stands for several models: those of one file, folder or archive that was given."""
    models: dict[tuple[str, str], list[str]] = {}
    for file, label in zip(files, labels, strict=True):
        names = [lines.model or file.model or "?" for lines in file.models]
        for given in file.given or (file.name,):
            models.setdefault((label, given), []).extend(names)
    for (label, given), names in models.items():
        if label and len(names) > 1 and len(set(names)) == len(names):
            raise InputError(
                Message(
                    "{name} holds scores of {n} models ({models}), and a label names one. Leave the label out: they keep "
                    "their own names.",
                    name=given,
                    n=len(names),
                    models=list_of(names),
                )
            )


def _names(file: ScoreFile, label: str) -> list[str]:
    """What settings call each model of a file."""
    if label:
        return [f"{label}={PREFIX}{label}"]
    base = file.name.rpartition("/")[2]
    stem = base.rpartition(".")[0] or base
    return [PREFIX + printable(lines.model or file.model or stem) for lines in file.models]


def _matched(
    dataset: MinimalPairs, file: ScoreFile, lines: Lines, name: str, skip_bad_rows: bool
) -> tuple[OutsideScores, list[str]]:
    make = joined_key if lines.is_joined else key
    place_by_text, notices = _places(file, lines, name, skip_bad_rows)
    places = [
        np.array([place_by_text.get(make(text), -1) for text in texts], dtype=np.int64)
        for texts in (dataset.acceptable, dataset.unacceptable)
    ]
    missing = np.flatnonzero((places[0] < 0) | (places[1] < 0))
    if len(missing) == dataset.n:
        raise InputError(
            Message(
                "{file} has no score of a whole pair of {data}: its sentences are matched by their exact text. Its "
                "first is {first!r}, that of the data {own!r}.",
                file=file.name,
                data=dataset.name,
                first=lines.texts[0],
                own=dataset.acceptable[0] if dataset.n else "",
            )
        )
    notices += row_notice([dataset.rows[i] for i in missing], MISSING_ONE, MISSING, name=name, file=file.name)
    used = set(np.concatenate(places).tolist())
    n_unused = sum(place not in used for place in place_by_text.values())
    if n_unused:
        notices.append(
            Message(
                "{name}: {file} has {n} that the data lack.", name=name, n=count(n_unused, "sentence"), file=file.name
            )
        )
    sums, numbers = np.array(lines.log_likelihoods), np.array(lines.n_tokens, dtype=np.int64)
    has_tokens = any(lines.tokens)
    sides = [
        SideScores(
            np.where(of_side < 0, np.nan, sums[of_side]),
            np.where(of_side < 0, UNKNOWN, numbers[of_side]),
            tuple("" if place < 0 else lines.tokens[place] for place in of_side.tolist()) if has_tokens else (),
        )
        for of_side in places
    ]
    scores = OutsideScores(name, file.name, file.digest, file.form, (sides[0], sides[1]), file.published)
    return scores, notices


def _places(file: ScoreFile, lines: Lines, name: str, skip_bad_rows: bool) -> tuple[dict[str, int], list[str]]:
    """Where each sentence stands first, and notices of small differences.

    Raises InputError for large ones; with `skip_bad_rows` a notice says which rows they were.
    """
    make = joined_key if lines.is_joined else key
    first: dict[str, int] = {}
    differing: dict[str, None] = {}
    bad: list[BadRow] = []
    for place, text in enumerate(lines.texts):
        made = make(text)
        known = first.setdefault(made, place)
        if known == place:
            continue
        difference = abs(lines.log_likelihoods[known] - lines.log_likelihoods[place])
        if difference >= SAME + SAME_SHARE * abs(lines.log_likelihoods[known]):
            bad.append(
                BadRow(
                    lines.rows[place],
                    Message(
                        "{text!r} has the log-likelihood {value:g}, and in row {row} {other:g}",
                        text=text,
                        value=lines.log_likelihoods[place],
                        row=lines.rows[known],
                        other=lines.log_likelihoods[known],
                    ),
                )
            )
        elif difference > 0:
            differing[made] = None
    if bad and not skip_bad_rows:
        raise InputError(Message("{file} has two scores of one sentence under {name}.", file=file.name, name=name), bad)
    notices: list[str] = [
        Message("In {label}: {notice}", label=file.name, notice=notice) for notice in left_out_notice(bad)
    ]
    if differing:
        notices.append(REPEATED.format(name=name, n=count(len(differing), "sentence"), file=file.name, same=SAME))
    return first, notices
