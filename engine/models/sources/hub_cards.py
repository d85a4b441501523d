"""Models of the Hugging Face Hub that need more than their files, and families of today, by their ids.

A recipe here is applied whenever the id is named: the published files alone would read the text as it stands, without a
warning. A copy in a directory is named ID=DIRECTORY. Facts are those of the publishers' model cards; None: not stated.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.messages.message import Message, together
from engine.models.sources.paper_cards import PAPER_CARDS
from engine.models.sources.recipes import Recipe

_WORDS = Recipe("jumanpp", (), "own")
_JUMAN_FIRST = Message("Juman++, then SentencePiece")
_KYOTO, _WASEDA = Message("Kyoto University, Language Media Processing Lab"), Message("Waseda University, Kawahara Lab")
_IN_ADVANCE = Message(
    "Its publisher asks for texts that Juman++ has segmented into words; Hakari does so, and changes no widths."
)


@dataclass(frozen=True)
class HubCard:
    """One model, or the sizes of one family, of a publisher. `ids`: Hugging Face ids as published."""

    ids: tuple[str, ...]
    publisher: str
    tokenizer: str | None = None
    recipe: Recipe | None = None
    note: str = ""

    @property
    def description(self) -> str:
        """Publisher, tokenization and note, for readers."""
        return together(" · ", filter(None, (self.publisher, self.tokenizer, self.note)))


CARDS = (
    HubCard(
        ("ku-nlp/deberta-v2-tiny-japanese", "ku-nlp/deberta-v2-base-japanese", "ku-nlp/deberta-v2-large-japanese"),
        _KYOTO,
        _JUMAN_FIRST,
        _WORDS,
        _IN_ADVANCE,
    ),
    HubCard(
        (
            "ku-nlp/deberta-v2-base-japanese-char-wwm",
            "ku-nlp/deberta-v2-large-japanese-char-wwm",
            "ku-nlp/roberta-base-japanese-char-wwm",
            "ku-nlp/roberta-large-japanese-char-wwm",
        ),
        _KYOTO,
        "characters",
        note=Message("Masked by whole words in training, but it reads raw texts: no segmenter is needed."),
    ),
    HubCard(
        (
            "nlp-waseda/roberta-base-japanese",
            "nlp-waseda/roberta-large-japanese",
            "nlp-waseda/roberta-large-japanese-seq512",
        ),
        _WASEDA,
        _JUMAN_FIRST,
        _WORDS,
        _IN_ADVANCE,
    ),
    HubCard(
        (
            "nlp-waseda/roberta-base-japanese-with-auto-jumanpp",
            "nlp-waseda/roberta-large-japanese-with-auto-jumanpp",
            "nlp-waseda/roberta-large-japanese-seq512-with-auto-jumanpp",
        ),
        _WASEDA,
        _JUMAN_FIRST,
        note=Message("Its own tokenizer calls Juman++, which has to be installed."),
    ),
    HubCard(
        ("nlp-waseda/gpt2-small-japanese", "nlp-waseda/gpt2-small-japanese-wikipedia", "nlp-waseda/gpt2-xl-japanese"),
        _WASEDA,
        _JUMAN_FIRST,
        _WORDS,
        _IN_ADVANCE,
    ),
    HubCard(
        tuple(f"sbintuitions/modernbert-ja-{size}" for size in ("30m", "70m", "130m", "310m")),
        Message("SB Intuitions"),
        note=Message("CLS is <s>, which its tokenizer puts first."),
    ),
    HubCard(
        tuple(f"cl-nagoya/ruri-v3-{size}" for size in ("30m", "70m", "130m", "310m")),
        Message("Nagoya University"),
        note=Message("A model of sentence vectors: pool them as published, with its prompts."),
    ),
    HubCard(tuple(f"llm-jp/llm-jp-3-{size}" for size in ("150m", "440m", "980m", "1.8b", "3.7b", "13b")), "LLM-jp"),
    HubCard(
        tuple(f"sbintuitions/sarashina2.2-{size}" for size in ("0.5b", "1b", "3b")),
        Message("SB Intuitions"),
        Message("SentencePiece (Unigram)"),
    ),
    HubCard(
        tuple(f"Qwen/Qwen3-{size}-Base" for size in ("0.6B", "1.7B", "4B", "8B", "14B")),
        Message("Alibaba Cloud"),
        Message("byte-level BPE"),
    ),
    HubCard(
        ("google/gemma-3-270m", "google/gemma-3-1b-pt", "google/gemma-3-4b-pt"),
        "Google",
        note=Message("Asks for consent on Hugging Face; set HF_TOKEN. It was trained with <bos> before every text."),
    ),
    HubCard(("SakanaAI/TinySwallow-1.5B",), Message("Sakana AI and the Swallow team")),
)
_BY_ID = {name.lower(): card for card in CARDS for name in card.ids}


def hub_card(repository: str) -> HubCard | None:
    """The card of a Hugging Face id, in capitals or not; None where there is none.

    >>> hub_card("KU-NLP/deberta-v2-base-japanese").publisher
    'Kyoto University, Language Media Processing Lab'
    """
    return _BY_ID.get(repository.lower())


def is_card(name: str) -> bool:
    """Whether a name that stands before "=" is a card of the papers, or an id that has a card."""
    return name in PAPER_CARDS or hub_card(name) is not None


def card_recipe(name: str) -> Recipe | None:
    """The recipe of a card, None where the files determine the tokens. Raises KeyError for a name that is no card."""
    card = hub_card(name)
    return card.recipe if card else PAPER_CARDS[name].recipe
