"""The facts of a model, read from its configuration and tokenizer. Imports no torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from engine.messages.message import Message
from engine.models.sources.published_vectors import PublishedVectors

NO_CHAT_TEMPLATE = Message(
    "The tokenizer of {name} has no chat template. Leave --chat-template out, or choose a model that was trained to chat."
)
Source = Literal["built-in", "directory", "hub", "endpoint", "scores", "vectors"]
ENDPOINT: Literal["endpoint"] = "endpoint"
FROM_FILE: Literal["scores"] = "scores"
VECTORS: Literal["vectors"] = "vectors"
Kind = Literal["masked", "causal", "encoder", "scores", "vectors"]


@dataclass(frozen=True)
class TokenCheck:
    """How the token ids of a tokenizer compare with those of the published file.

    file: what they were held against, "" without a file that could be. repaired: whether the file's own pipeline had
    to take the class's place. n_texts: of the trial; 0 where the file says the ids of pieces and not how texts are split
    (a vocabulary of words of MeCab), so that these alone were compared. example: the first text that differed before
    the repair, "" if none did. what: what differed in it, "pieces", their "ids" alone or the "template". white_space:
    the first text in which white space alone is still cut otherwise than by the file, "" if there is none.
    """

    file: str
    repaired: bool
    n_texts: int
    example: str = ""
    what: str = ""
    white_space: str = ""


@dataclass(frozen=True)
class LoadingChecks:
    """What was found when the weights of a model were loaded and tried on a few tokens.

    task: what it was loaded for. batching: which rows may share a batch without changing each other's numbers: "any",
    "equal lengths" or "alone". reads_ahead: whether what a causal model says before a token changes when that token
    does; None for other models. n_unused: weights of the files that the model has no place for and whose absence
    changes no result (a head of another task, the vision part); unused: the first of them. missing: parts that the
    files lack and no result needs (the pooler). seconds: the time that all of this took, loading included.
    """

    task: str
    batching: str
    reads_ahead: bool | None
    n_unused: int
    unused: tuple[str, ...]
    missing: tuple[str, ...]
    seconds: float

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> LoadingChecks:
        """The record from `dataclasses.asdict`."""
        return cls(**{**fields, "unused": tuple(fields["unused"]), "missing": tuple(fields["missing"])})


@dataclass(frozen=True)
class EndpointFacts:
    """A model behind a server, as the operator named it and as the server describes it.

    host: with the port, without credentials. model: as the server calls it. version: of the server's software, "" where
    it does not say. reported: the server's entry of the model, bounded. reply: the style of its replies. continued:
    whether a generated token had the same log-probability when it was read as a part of the prompt; False where this
    could not be compared.
    """

    host: str
    model: str
    version: str
    reported: dict[str, Any]
    reply: str
    continued: bool


@dataclass(frozen=True)
class ScoreFacts:
    """A model that was scored elsewhere: the file, its SHA-256 and layout, and what it says of a sentence.

    level: "sums" alone, "numbers of tokens", "tokens" with their log-likelihoods, or "tokens of a tokenizer", which is
    the one that was named for it.
    """

    file: str
    digest: str
    form: str
    level: str
    tokenizer: str = ""


@dataclass(frozen=True)
class VectorFacts:
    """A model whose vectors were computed elsewhere: the file, its SHA-256 and layout."""

    file: str
    digest: str
    form: str


@dataclass(frozen=True)
class ModelFacts:
    """Facts of one model, before it is loaded.

    `fingerprint` changes whenever the weights, the configuration or the tokenizer do: for a directory a
    SHA-256 over its files, for a hub model the commit. `tokenizer_fingerprint` is a SHA-256 over what decides
    the tokens alone. `kind` is what the architecture published in the configuration scores: "masked" and
    "causal" have a language-model head, an "encoder" has hidden states only. `max_tokens` counts special tokens.
    `recipe`: the recipe of its tokenization, with the versions of its software; "" where the files determine it.
    `latin_tokens`: tokens per character of the Latin alphabet, measured on one English sentence.
    `scripts`, `script_shares`: of the pieces of its vocabulary, the most frequent first; empty where it is not known.
    `token_check`: how its token ids compare with the published file; None where a recipe makes them.
    `dtype`: the data type that it was published in, by torch's name; `engine.precision` says what is computed in.
    `published`: how sentence-transformers makes a sentence's vector of it; None for a directory that does not say.
    `adapter_of`: the base model, with its commit on the hub, that an adapter was merged into; "" for other models.
    `bos_token`, `eos_token`: as the tokenizer spells them, "" where it has none; `has_bos`, `has_eos`: whether the
    model has an embedding for them. `opening`: the special tokens that the tokenizer itself puts before a text.
    `template_tokens`: the special tokens that the tokenizer puts round every text. `cls_and_sep`: what it calls its
    cls_token and sep_token, where it has them; a template may write others.
    `unknown_token`: what stands for text out of its vocabulary; "" where there is none.
    `control_tokens`: the spellings of all its special tokens.
    `quantised`: the method that its weights are quantised by; they are read dequantised into the precision that is
    computed in. "" for other models.
    `masked_next_token`: a masked token is predicted at the position before it (MNTP), by a decoder that reads in both
    directions. `n_seq2seq_parameters`: of an encoder-decoder published with the head of its decoder, those of all of it;
    0 for other models. `n_parameters` are then those of the encoder.
    `endpoint`: of a model behind a server; None for one that is loaded. Of a served model only name, fingerprint,
    longest input and what stands before a text are known: numbers that are not are 0, `device` is "server".
    `chat_template`: the SHA-256 of the template by which the tokenizer writes a conversation; "" where it has none.
    `own_code`: whose code of its own was run for it, each with its commit or hash; "" where only transformers' was.
    `scores`, `vectors`: of a model that was computed elsewhere, whose kind is "scores" or "vectors"; of the latter
    `hidden_size` is known, and nothing else.
    """

    name: str
    source: Source
    path: str
    revision: str | None
    fingerprint: str
    tokenizer_fingerprint: str
    architecture: str
    kind: Kind
    n_layers: int
    hidden_size: int
    vocab_size: int
    max_tokens: int
    n_parameters: int
    tokenizer: str
    has_mask: bool
    has_cls: bool
    has_bos: bool
    device: str
    dtype: str
    weights_bytes: int
    recipe: str = ""
    latin_tokens: float = 1.0
    scripts: tuple[str, ...] = ()
    script_shares: tuple[float, ...] = ()
    published: PublishedVectors | None = None
    token_check: TokenCheck | None = None
    adapter_of: str = ""
    bos_token: str = ""
    eos_token: str = ""
    has_eos: bool = False
    opening: tuple[str, ...] = ()
    template_tokens: tuple[str, ...] = ()
    cls_and_sep: tuple[str, ...] = ()
    unknown_token: str = ""
    control_tokens: tuple[str, ...] = ()
    quantised: str = ""
    masked_next_token: bool = False
    n_seq2seq_parameters: int = 0
    chat_template: str = ""
    own_code: str = ""
    endpoint: EndpointFacts | None = None
    scores: ScoreFacts | None = None
    vectors: VectorFacts | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether its numbers are computed here, and not behind a server or elsewhere."""
        return self.endpoint is None and self.scores is None and self.vectors is None

    def to_dict(self) -> dict[str, Any]:
        """The facts as values that JSON has, lists in place of tuples: what the worker's "describe" returns."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ModelFacts:
        """The facts from `to_dict`. Raises TypeError when a field is missing or unknown."""
        restored: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
        }
        if isinstance(restored.get("published"), dict):
            restored["published"] = PublishedVectors.from_dict(restored["published"])
        if isinstance(restored.get("endpoint"), dict):
            restored["endpoint"] = EndpointFacts(**restored["endpoint"])
        if isinstance(restored.get("scores"), dict):
            restored["scores"] = ScoreFacts(**restored["scores"])
        if isinstance(restored.get("vectors"), dict):
            restored["vectors"] = VectorFacts(**restored["vectors"])
        if isinstance(restored.get("token_check"), dict):
            restored["token_check"] = TokenCheck(**restored["token_check"])
        return cls(**restored)


def facts_of_file(
    name: str, kind: Literal["scores", "vectors"], architecture: str, digest: str, **known: Any
) -> ModelFacts:
    """The facts of a model that was computed elsewhere and is read from a file: what is not among `known` is 0, "" or False.

    digest: the SHA-256 of the file, its fingerprint. Raises TypeError for what is no field of the facts.
    """
    nothing: dict[str, Any] = {
        **dict.fromkeys(("path", "tokenizer_fingerprint", "tokenizer"), ""),
        **dict.fromkeys(("n_layers", "hidden_size", "vocab_size", "max_tokens", "n_parameters", "weights_bytes"), 0),
        **dict.fromkeys(("has_mask", "has_cls", "has_bos"), False),
        "revision": None,
        "device": Message("elsewhere"),
        "dtype": Message("as the file says"),
    }
    return ModelFacts(
        **{**nothing, **known}, name=name, source=kind, kind=kind, fingerprint=digest, architecture=architecture
    )
