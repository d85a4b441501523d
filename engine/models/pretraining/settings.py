"""All that determines a pretraining run; read by the command line too, so nothing here imports torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import InputError
from engine.messages.message import Message, together
from engine.options import check, option

ARCHITECTURES = ("bert", "gpt2")
LANGUAGES = ("ja", "en")
TOKENIZERS = ("wordpiece", "basic-wordpiece", "character", "unigram")
# The best learning rate found for each architecture, which the command takes where none is given.
LEARNING_RATES: Mapping[str, float] = {"bert": 5e-4, "gpt2": 1.5e-3}
# The tokenizer of each language and architecture where none is given.
USUAL_TOKENIZERS: Mapping[str, Mapping[str, str]] = {
    "ja": {"bert": "wordpiece", "gpt2": "unigram"},
    "en": {"bert": "basic-wordpiece", "gpt2": "unigram"},
}


@dataclass(frozen=True)
class Settings:
    """All that determines a pretraining run, in tokens, steps and shares; `architecture` is one of ARCHITECTURES."""

    architecture: str
    language: str = option(
        "ja",
        "The language of the corpus: where its sentences end, and whether spaces stand between them.",
        choices=LANGUAGES,
    )
    tokenizer: str | None = option(
        None,
        "The pieces of the vocabulary: WordPiece or single characters inside MeCab's "
        "words (BERT), lower-cased WordPiece inside words between spaces and punctuation (BERT), or Unigram over the "
        "running text.",
        choices=TOKENIZERS,
        unset="wordpiece for bert, basic-wordpiece for bert of English, unigram for gpt2",
    )
    documents: str = option(
        "file",
        "What a document of --corpus is.",
        choices={
            "file": "a file",
            "blank-line": "what stands between blank lines of a file",
            "page-break": "what stands between page breaks of a file: form feeds, or Aozora Bunko's ［＃改ページ］",
        },
    )
    start: str | None = option(
        None,
        "A model to start from, of the same layers; its vocabulary may be another.",
        metavar="DIR",
        unset="none: new weights",
    )
    keep_vocabulary: bool = option(False, "Keep the vocabulary of the model to start from.")
    vocab_size: int = option(8000, "Pieces in the vocabulary.", least=300, most=65_000, unit="pieces")
    layers: int = option(4, "Transformer layers.", least=1)
    hidden: int = option(256, "Width of the hidden states, a multiple of the heads.", least=1)
    heads: int = option(4, "Attention heads of a layer.", least=1)
    max_length: int = option(256, "Tokens in a row.", least=1, unit="tokens")
    tokens_per_step: int = option(4096, "Size of a batch.", least=1, unit="tokens")
    steps: int = option(5000, "Steps of the optimiser.", least=1, unit="steps")
    learning_rate: float = option(
        6e-4,
        "Peak of the learning rate.",
        least=0,
        exclusive=True,
        unset=", ".join(f"{rate:g} for {name}" for name, rate in LEARNING_RATES.items()),
    )
    warmup_steps: int = option(300, "Steps until the peak of the learning rate.", least=0, unit="steps")
    weight_decay: float = option(0.01, "Weight decay of the optimiser.", least=0)
    optimizer: str = option(
        "muon",
        "Optimiser: Muon for the matrices of the layers and AdamW for the rest, or AdamW for all.",
        choices=("muon", "adamw"),
    )
    whole_word_masking: bool = option(False, "Mask all pieces of a word together (BERT).")
    short_share: float = option(
        0.5,
        "Share of the steps, the first ones, with rows of whole sentences instead of running text.",
        least=0,
        most=1,
    )
    vocabulary_every: int = option(4, "The vocabulary is learnt from every n-th sentence.", least=1)
    held_out_share: float = option(
        0.02, "Share of the documents that is kept out of training.", least=0, most=1, exclusive=True
    )
    held_out_tokens: int = option(
        200_000, "Held-out tokens that the final numbers are measured on.", least=1, unit="tokens"
    )
    precision: str = option("bf16", "Precision of the training.", choices=("bf16", "fp32"))
    seed: int = option(0, "Seed of every random step.", least=0)

    def check(self) -> None:
        """Raise InputError for a setting outside its bounds."""
        if self.architecture not in ARCHITECTURES:
            raise InputError(
                Message(
                    "The architecture is {ARCHITECTURES}; got {architecture!r}.",
                    ARCHITECTURES=together(" or ", map(repr, ARCHITECTURES)),
                    architecture=self.architecture,
                )
            )
        check(self)
        if self.whole_word_masking and self.architecture != "bert":
            raise InputError(Message("Whole-word masking is for BERT; GPT-2 masks nothing."))
        if self.architecture == "gpt2" and self.tokenizer not in (None, "unigram"):
            raise InputError(
                Message("A GPT-2 is trained with a unigram tokenizer; got {tokenizer!r}.", tokenizer=self.tokenizer)
            )
        if self.keep_vocabulary and self.start is None:
            raise InputError(Message("--keep-vocabulary needs --start: the model whose vocabulary is kept."))
        if self.hidden % self.heads:
            raise InputError(
                Message(
                    "hidden ({hidden}) must be a multiple of heads ({heads}).", hidden=self.hidden, heads=self.heads
                )
            )


def tokenizer_of(settings: Settings) -> str:
    """The tokenizer of a run: the one that is set, else the usual one of its language and architecture."""
    return settings.tokenizer or USUAL_TOKENIZERS[settings.language][settings.architecture]


@dataclass(frozen=True)
class Running:
    """Where a pretraining run runs and how often it keeps and measures itself; the model does not depend on it."""

    device: str = option(
        "auto", "Device of the training; auto takes a GPU where there is one.", choices=("auto", "cpu", "cuda")
    )
    save_every: int = option(200, "Steps between two checkpoints.", least=1, unit="steps", metavar="STEPS")
    evaluate_every: int = option(
        500, "Steps between two losses on held-out documents.", least=1, unit="steps", metavar="STEPS"
    )
