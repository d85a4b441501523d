"""Model cards: the built-in models with their training records, and the fields of a paper's card."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.sources.recipes import Recipe

BUILT_IN_PREFIX = "builtin/"
PAPER_PREFIX = "paper/"
PLACEHOLDER = "DIRECTORY"
FOLDER = Path(__file__).parents[2] / "builtin"
RECORD = "pretraining.json"


@dataclass(frozen=True)
class ModelCard:
    """The description of a built-in model. `kind`: "masked" scores by filling masks, "causal" from left to right."""

    name: str
    label: str
    kind: Literal["masked", "causal"]
    description: str
    language: str = "ja"

    @property
    def directory(self) -> Path:
        """Its Hugging Face directory; missing before the model was trained."""
        return FOLDER / self.name.removeprefix(BUILT_IN_PREFIX)


@dataclass(frozen=True)
class PaperCard:
    """A model as papers name it: `labels` are pairs of a paper and the model's name in it.

    `hub`: its Hugging Face id, without a revision, because the papers state none. A model without an id `needs` a local
    directory, and is named NAME=DIRECTORY. `recipe`: its publisher's tokenization where the files alone do not
    determine it; it is applied to the hub's files as well. Sizes and lengths as printed; None where not stated.
    """

    name: str
    labels: tuple[tuple[str, str], ...]
    kind: Literal["masked", "causal"]
    language: str
    publisher: str
    url: str
    tokenizer: str
    vocabulary_size: str | None
    corpus: str | None = None
    model_size: str | None = None
    whole_word_masking: str | None = None
    max_seq_length: str | None = None
    hub: str | None = None
    needs: str | None = None
    recipe: Recipe | None = None
    note: str = ""

    @property
    def model_name(self) -> str:
        """The name to enter for this model; DIRECTORY stands for the user's own directory."""
        return self.name if self.hub else f"{self.name}={PLACEHOLDER}"


@dataclass(frozen=True)
class HeldOutFigure:
    """One number measured on documents that were kept out of training, e.g. "accuracy, masked as trained", 0.36.

    `key`: its name in the record, which models that were measured alike share.
    """

    key: str
    name: str
    value: float
    unit: str
    better: Literal["higher", "lower"]

    @property
    def is_share(self) -> bool:
        """Whether it is a share, which is shown in per cent."""
        return self.key.endswith("accuracy")


BUILT_IN: dict[str, ModelCard] = {
    card.name: card
    for card in (
        ModelCard(
            "builtin/bert-mini-ja",
            Message("BERT mini (Japanese novels)"),
            "masked",
            Message(
                "A small BERT with MeCab words and WordPiece, trained on out-of-copyright Japanese novels. For "
                "clusters, alignment and pseudo-log-likelihoods."
            ),
        ),
        ModelCard(
            "builtin/bert-mini-ja-32k",
            Message("BERT mini, 32,000 pieces (novels, modern Japanese)"),
            "masked",
            Message(
                "The same layers with a vocabulary of 32,000 pieces, in which most names are whole, trained on the "
                "novels and on sentences of modern Japanese. For names in alignments, and to compare with the small "
                "vocabulary."
            ),
        ),
        ModelCard(
            "builtin/bert-mini-ja-char",
            Message("BERT mini, single characters (novels, modern Japanese)"),
            "masked",
            Message(
                "The same layers over single characters inside MeCab's words, trained on the novels and on sentences "
                "of modern Japanese. To compare with vocabularies of words and their pieces."
            ),
        ),
        ModelCard(
            "builtin/bert-mini-ja-unigram",
            Message("BERT mini, Unigram of 8,000 pieces (novels, modern Japanese)"),
            "masked",
            Message(
                "The same layers over a Unigram (SentencePiece) vocabulary of running text, without MeCab, trained on "
                "the novels and on sentences of modern Japanese. To compare with vocabularies inside MeCab's words."
            ),
        ),
        ModelCard(
            "builtin/gpt2-mini-ja",
            Message("GPT-2 mini (Japanese novels)"),
            "causal",
            Message(
                "A small GPT-2 with a Unigram vocabulary, trained on the same novels. For log-likelihoods of minimal "
                "pairs."
            ),
        ),
        ModelCard(
            "builtin/bert-mini-en",
            Message("BERT mini (English novels)"),
            "masked",
            Message(
                "A small BERT with lower-cased WordPiece, trained on English novels in the public domain. For clusters, "
                "alignment and pseudo-log-likelihoods of English."
            ),
            "en",
        ),
        ModelCard(
            "builtin/gpt2-mini-en",
            Message("GPT-2 mini (English novels)"),
            "causal",
            Message(
                "A small GPT-2 with a Unigram vocabulary, trained on the same English novels. For log-likelihoods of "
                "minimal pairs in English."
            ),
            "en",
        ),
    )
}

# Keys of the record's "held_out" -> (name, unit, better end) of the number.
_FIGURES: dict[str, tuple[str, str, Literal["higher", "lower"]]] = {
    "masked_accuracy": (
        Message("accuracy, masked as trained"),
        Message(
            "share of masked tokens whose most probable token is "
            "right, of the chosen 80% [MASK], 10% another token, "
            "10% left"
        ),
        "higher",
    ),
    "mask_only_accuracy": (
        Message("accuracy, all [MASK]"),
        Message("share of masked tokens whose most probable token is right, every chosen token [MASK]"),
        "higher",
    ),
    "mask_only_nats": (Message("loss, all [MASK]"), Message("nats per masked token"), "lower"),
    "nats_per_token": (Message("loss per token"), Message("nats per token"), "lower"),
    "nats_per_character": (Message("loss per character"), Message("nats per character"), "lower"),
}


def built_in_models(*kinds: str, language: str | None = None) -> tuple[str, ...]:
    """The names of the built-in models of these kinds and this language, of all where none is named, in their order."""
    return tuple(
        name
        for name, card in BUILT_IN.items()
        if (not kinds or card.kind in kinds) and language in (None, card.language)
    )


def first_built_in(*kinds: str, language: str = "ja") -> tuple[str, ...]:
    """The first built-in model of each of these kinds in a language."""
    return tuple(built_in_models(kind, language=language)[0] for kind in kinds)


def language_of(model: str) -> str:
    """The language of the samples that a model is evaluated on: that of a built-in model, Japanese for any other."""
    return BUILT_IN[model].language if model in BUILT_IN else "ja"


def built_in_directory(name: str) -> Path:
    """The directory of a built-in model. Raises ModelError for an unknown name, or a model that is not installed."""
    if name not in BUILT_IN:
        raise ModelError(
            Message(
                "There is no built-in model {name!r}. The built-in models are {BUILT_IN}.",
                name=name,
                BUILT_IN=list_of(BUILT_IN),
            )
        )
    directory = BUILT_IN[name].directory
    if not (directory / "config.json").is_file():
        raise ModelError(
            Message(
                "The built-in model {name} is missing from this installation: {directory} is no "
                "model directory. Fetch the repository again, or train it with `make pretrain`.",
                name=name,
                directory=directory,
            )
        )
    return directory


def training_record(name: str) -> dict[str, Any]:
    """The record that `python -m engine pretrain` wrote of a built-in model: settings, corpus, steps, numbers.

    Raises ModelError for an unknown or missing model, or when its record is missing or unreadable.
    """
    path = built_in_directory(name) / RECORD
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            Message(
                "The training record {path} cannot be read: {error}. Fetch the repository again.",
                path=path,
                error=error,
            )
        ) from error
    return record


def held_out_figures(name: str) -> tuple[HeldOutFigure, ...]:
    """The numbers measured on held-out documents, as the training record has them. Raises as `training_record`."""
    held_out = training_record(name).get("held_out", {})
    return tuple(
        HeldOutFigure(key, title, float(held_out[key]), unit, better)
        for key, (title, unit, better) in _FIGURES.items()
        if key in held_out
    )
