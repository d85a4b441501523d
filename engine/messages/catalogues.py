"""The catalogues of translated texts: the files beside the code, read when a language other than English is wanted."""

from __future__ import annotations

import io
from functools import cache
from gettext import GNUTranslations
from pathlib import Path
from string import Formatter
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "dashboard")
ENGLISH, JAPANESE = "en", "ja"

# Templates that were worded otherwise when runs were stored with them: the present one by the former.
FORMER = {
    "The vote is of {n} predictions, an even number: where as many are for either sentence, the pair is a tie. Leave a "
    "template out, or add one.": (
        "The vote is of {n} predictions, an even number: where as many are for either sentence, the pair is a tie and not "
        "correct, so that predictions at random are correct in fewer than 50%. Leave a template out, or add one."
    ),
    "The models are no checkpoints of one training, at least {fewest} of them, by their names.": (
        "When a word is learned shows in a training alone: at least {fewest} of the models have to be checkpoints of one, "
        "with their steps in their names (…@step1000, …/checkpoint-500, …_10M)."
    ),
    "The scores under permuted labels have no upper end: in more than 2.5 % of the permutations all classes have one "
    "centroid.": (
        "The scores under permuted labels have no upper end: in more than 2.5% of the permutations all classes have one "
        "centroid."
    ),
    "fewer than 6 independent items cannot show a difference at the 5 % level": (
        "fewer than 6 independent items cannot show a difference at the 5% level"
    ),
    "Not significantly better than always the largest class ({baseline:.1%}): {models}.": (
        "Not significantly better than always predicting the largest class ({baseline:.1%}): {models}."
    ),
    "{setting} follows the human scores best: Pearson's r {value} over {over}.": (
        "Of the settings of BERTScore {setting} follows the human scores best: Pearson's r {value} over {over}."
    ),
    "The best method beside BERTScore is above it with {value}.": (
        "The best method besides BERTScore has a higher one, {value}."
    ),
    "Length misleads {model}: right in {shorter:.1%} where the acceptable sentence has fewer tokens, in {longer:.1%} where "
    "it has more.": (
        "Length misleads {model} strongly: right in {shorter:.1%} where the acceptable sentence has fewer tokens, in "
        "{longer:.1%} where it has more."
    ),
    "Length misleads {models}, {model} for example: right in {shorter:.1%} where the acceptable sentence has fewer tokens, "
    "in {longer:.1%} where it has more.": (
        "Length misleads {models} strongly, {model} for example: right in {shorter:.1%} where the acceptable sentence has "
        "fewer tokens, in {longer:.1%} where it has more."
    ),
    "{rows} whose 'sentence' is not its regions behind each other; the regions are read: {listed}.": (
        "{rows} whose 'sentence' is not the concatenation of its regions; the regions are read: {listed}."
    ),
    "fewer than two values stand in more than one sentence": "fewer than two values occur in more than one sentence",
    **dict.fromkeys(
        (
            "{models}: the method {region} is of causal models; a masked model also reads what stands behind the word.",
            "{models}: the method {region} is of causal models; a masked model also reads what follows the word.",
        ),
        "{models}: the method {region} is of models that read a sentence from its beginning; these also read what follows "
        "the word.",
    ),
    "{models}: a masked model reads the words on both sides of a word; who read the texts had not seen what follows.": (
        "{models}: a word is predicted from both sides of it; who read the texts had not seen what follows."
    ),
    "{rows} has a region marked that does not stand in both sentences, and has none: {listed}.": (
        "{rows} marks a region that is not in both sentences, so that it has no region: {listed}."
    ),
    "{rows} have a region marked that does not stand in both sentences, and have none: {listed}.": (
        "{rows} mark a region that is not in both sentences, so that they have no region: {listed}."
    ),
    "{rows} has a region marked that is not in both sentences, and has none: {listed}.": (
        "{rows} marks a region that is not in both sentences, so that it has no region: {listed}."
    ),
    "{rows} have a region marked that is not in both sentences, and have none: {listed}.": (
        "{rows} mark a region that is not in both sentences, so that they have no region: {listed}."
    ),
    "{rows} has a region marked that a sentence has several times; the last one is counted: {listed}.": (
        "{rows} marks a region that a sentence has several times; the last one is counted: {listed}."
    ),
    "{rows} have a region marked that a sentence has several times; the last one is counted: {listed}.": (
        "{rows} mark a region that a sentence has several times; the last one is counted: {listed}."
    ),
    "{name}: its file says no numbers of tokens, so that there are no strata by length, no slope, no fair subsets, and none of "
    "{scores}. A column n_tokens or tokens, or the tokenizer (--tokenizer), gives them; the tokens also the cuts of words and, "
    "with their log-likelihoods, regions.": (
        "{name}: its file has no numbers of tokens, so that there are no strata by length, no slope, no fair subsets, and "
        "none of {scores}. A column n_tokens or tokens, or the tokenizer (--tokenizer), gives them; the tokens also the "
        "cuts of words and, with their log-likelihoods, regions."
    ),
    "{name}: its file says no tokens, so that there is no SLOR, no cut of words and no region of a sentence. A column tokens "
    "gives them.": (
        "{name}: its file has no tokens, so that there is no SLOR, no cut of words and no region of a sentence. A column "
        "tokens gives them."
    ),
    "The tokenizer {given} is not used: it counts the tokens of scores from a file that says none, and there are none here "
    "without.": (
        "The tokenizer {given} is not used: it counts the tokens of scores from a file that has none, and all scores here "
        "have theirs."
    ),
    "And {n} more models.": "Further models: {n}.",
    "{name}: column {column!r} names {names} system; ranking needs at least 2.": (
        "{name}: column {column!r} names fewer than 2 systems ({names}); ranking needs at least 2."
    ),
    "Lower is better in {others}, which is none of the columns with scores of other metrics: {named}. "
    "Name it there, too.": (
        "Lower is better in {others}, which is not one of the columns with scores of other metrics: {named}. "
        "Name it there, too."
    ),
    "Of {n_test} test sentences {mean:.3g} stand among the training sentences as well, in the mean of the runs: they "
    "are easier than the rest.": (
        "Of {n_test} test sentences {mean:.3g} are also among the training sentences, in the mean of the runs: they "
        "are easier than the rest."
    ),
    "Of {n_test} test sentences {mean:.3g} stand among the training sentences as well: they are easier than the rest.": (
        "Of {n_test} test sentences {mean:.3g} are also among the training sentences: they are easier than the rest."
    ),
    "{name} can align none of the {alignments}; the first: row {row}, {reason}.": (
        "{name} can align none of the {alignments}. The first, row {row}: {reason}"
    ),
    "{model} can score none of the {rows}; the first: row {row}, {reason}.": (
        "{model} can score none of the {rows}. The first, row {row}: {reason}"
    ),
    "{model} can fill none of the {n}; the first: row {row}, {reason}": (
        "{model} can fill none of the {n}. The first, row {row}: {reason}"
    ),
    "config.json in {directory} holds a number that is none (NaN). {ADVICE}": (
        "config.json in {directory} holds a value that is not a number (NaN). {ADVICE}"
    ),
    "config.json in {directory} names no architecture that this version of transformers knows, or states what no model "
    "has: {error}": (
        "config.json in {directory} names no architecture that this version of transformers knows, or has values that "
        "are not valid: {error}"
    ),
    "{path} names the card {card!r}, and there is none. There are {PAPER_CARDS}.": (
        "{path} names the card {card!r}, which does not exist. There are {PAPER_CARDS}."
    ),
    "{name} has its weights as pytorch_model.bin only, and this instance reads safetensors. Choose a model that has "
    "them, or ask whoever runs this instance to list it in {ALLOWED_VARIABLE}.": (
        "{name} has its weights as pytorch_model.bin only, and this instance reads safetensors. Choose a model that has "
        "them, or ask the operator of this instance to list it in {ALLOWED_VARIABLE}."
    ),
    "{model}: {rows} exceed the {longest} tokens that it reads as published, and its sentence was cut there: {listed}.": (
        "{model}: {rows} exceed the {longest} tokens that it reads as published, and their sentences were cut there: "
        "{listed}."
    ),
    "{n_lone} are the only one of their class; without them {n_classes} classes remain, and clustering needs at least "
    "2. Add sentences to those classes, or keep classes of one sentence.": (
        "those that are the only one of their class ({n_lone}) are left out; the number of classes is then {n_classes}, "
        "and clustering needs at least 2. Add sentences to those classes, or keep classes of one sentence."
    ),
    "Choose none, or build one with: python -m engine idf --model {model} --corpus FILE --out FILE, or on the corpora "
    "page, and choose it as the idf dictionary.": (
        "Choose none, or build one with: python -m engine idf --model {model} --corpus FILE --out FILE, or on the page "
        "Dictionaries, and choose it as the idf dictionary."
    ),
    "The vocabulary in {directory} holds neither {SPECIAL}, so nothing can stand for a word that it does not know. Take "
    "the file that was published with the model.": (
        "The vocabulary in {directory} holds none of {SPECIAL}, so nothing can stand for a word that it does not know. "
        "Take the file that was published with the model."
    ),
    "{title} is {other}, no table. Give the table itself, as CSV, TSV, JSON lines or Excel.": (
        "{title} is {other}, no table. Give the table itself, as CSV, TSV, JSON lines, Parquet or Excel."
    ),
}


def catalogue_files(wanted: str = JAPANESE) -> list[Path]:
    """The files that hold the texts of a language, in a fixed order."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob(f"{wanted}.po"))


def read_catalogue(path: Path, wanted: str = JAPANESE) -> Any:
    """One of `catalogue_files`, as Babel's `Catalog`."""
    from babel.messages.pofile import read_po  # a command in English has no use for it, and it takes its time

    with path.open("rb") as file:
        return read_po(file, locale=wanted)


@cache
def messages(wanted: str) -> list[tuple[Path, Any]]:
    """The translated entries of all catalogues, each with its file, and those of FORMER templates."""
    entries = [
        (path, message)
        for path in catalogue_files(wanted)
        for message in read_catalogue(path, wanted)
        if message.id and any(message.string) and not message.fuzzy
    ]
    present = {message.id: (path, message) for path, message in entries}
    for former, now in FORMER.items():
        if now in present:
            path, message = present[now]
            entries.append((path, type(message)(former, message.string)))
    return entries


class _Texts(GNUTranslations):
    """Translations that leave "" as it is, for which gettext has the header of the catalogue."""

    def gettext(self, message: str) -> str:
        return super().gettext(message) if message else message


@cache
def compiled(wanted: str) -> GNUTranslations:
    """The entries of all catalogues, as gettext has them; of no text there is none, so that it stays empty."""
    from babel.messages.catalog import Catalog
    from babel.messages.mofile import write_mo

    whole = Catalog(locale=wanted)
    for _, message in messages(wanted):
        whole.add(message.id, message.string)
    file = io.BytesIO()
    write_mo(file, whole)
    file.seek(0)
    return _Texts(file)


def places(text: str) -> list[str]:
    """The names of the values in a text, in their order.

    >>> places("{n:,} of {total} in {{braces}}")
    ['n', 'total']
    """
    return [name for _, name, _, _ in Formatter().parse(text) if name]
