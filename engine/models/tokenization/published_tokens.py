"""Are the token ids those that the published file gives? Held against the file's own library.

transformers 5 rebuilds most tokenizers from a vocabulary and a class instead of reading the published file, and where
the class expects another kind of vocabulary the text is split otherwise without a warning: a Unigram SentencePiece
model under `LlamaTokenizer` becomes BPE, `MLukeTokenizer` numbers its pieces from another offset, a Barthez has no CLS.
So every tokenizer is tried on `probe_texts`, ids and template, against `tokenizers` or SentencePiece itself (`files`),
and where they differ the file's own pipeline takes the place of the class's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from transformers import PreTrainedTokenizerBase

from engine.errors import EngineError, ModelError
from engine.messages.message import Message
from engine.models.silence_transformers import one_line_message
from engine.models.sources.facts import TokenCheck
from engine.models.sources.model_files import read_config, tokenizer_fingerprint
from engine.models.tokenization.encoding import encoded
from engine.models.tokenization.files.added_tokens import read_settings
from engine.models.tokenization.files.layouts import layout_of
from engine.models.tokenization.files.published_file import PublishedFile
from engine.models.tokenization.files.sentencepiece_file import sentencepiece_file
from engine.models.tokenization.files.tokenizer_json import TOKENIZER_JSON, tokenizer_json
from engine.models.tokenization.files.vocabularies import VOCABULARIES, numbered_pieces, vocabulary_file
from engine.models.tokenization.offsets import SPACE_MARKS
from engine.models.tokenization.plain_text import forget
from engine.models.tokenization.probe_texts import probe_texts, texts_with

# As transformers' classes name the SentencePiece model that they were published with.
SENTENCEPIECE_FILES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model")
# Of these families the configuration alone means LlamaTokenizer, as transformers 4 had it.
_LLAMAS = ("llama", "mistral", "mixtral", "persimmon", "stablelm")
_ADVICE = Message(
    "Ask the publisher for a tokenizer.json, or make one with the version of transformers that the "
    "model was trained with."
)
_MOST_SPELLINGS = 12


def check_tokens(
    directory: Path, tokenizer: PreTrainedTokenizerBase, config_directory: Path | None = None
) -> TokenCheck:
    """Hold a tokenizer against the published file, and put the file's own pipeline in its place where they differ.

    `tokenizer` is changed in place by a repair. config_directory: that of config.json, where it is
    another one. The trial is made once for each content of the tokenizer's files.
    Raises ModelError, with the first text that is split otherwise, where no repair gives the file's tokens.
    """
    fingerprint = f"{type(tokenizer).__name__} {tokenizer_fingerprint(directory, config_directory)}"
    if fingerprint not in _checks or _checks[fingerprint].repaired:
        _checks[fingerprint] = _checked(directory, tokenizer, config_directory or directory)
    _check_of_tokenizer[tokenizer] = _checks[fingerprint]
    return _checks[fingerprint]


def token_check_of(tokenizer: PreTrainedTokenizerBase) -> TokenCheck | None:
    """What `check_tokens` found of this tokenizer; None where it was not asked, as for one made by a recipe."""
    return _check_of_tokenizer.get(tokenizer)


def sentencepiece_model(directory: Path, tokenizer: PreTrainedTokenizerBase) -> Path | None:
    """The SentencePiece model that a tokenizer was published with; None without one."""
    names = (*type(tokenizer).vocab_files_names.values(), *SENTENCEPIECE_FILES)
    return next((directory / name for name in names if name.endswith(".model") and (directory / name).is_file()), None)


# By class and content of the files.
_checks: dict[str, TokenCheck] = {}
_check_of_tokenizer: WeakKeyDictionary[PreTrainedTokenizerBase, TokenCheck] = WeakKeyDictionary()


class _Trial(NamedTuple):
    """A text; is_plain: it spells out special tokens, which are plain text in it."""

    text: str
    is_plain: bool


class _Difference(NamedTuple):
    text: str
    actual: list[int]
    expected: list[int]


class _Outcome(NamedTuple):
    """different: the first text that is cut otherwise by more than white space. white_space: the first by that alone."""

    different: _Difference | None
    white_space: _Difference | None


def _checked(directory: Path, tokenizer: PreTrainedTokenizerBase, config_directory: Path) -> TokenCheck:
    settings = read_settings(directory)
    class_name = _published_class(tokenizer, settings, read_config(config_directory))
    published = _published_file(directory, class_name, tokenizer, settings)
    if published is None:
        return _check_of_pieces(directory, tokenizer)
    trials = _trials(published, tokenizer.is_fast)
    first = _outcome(directory, tokenizer, published, trials)
    if first == (None, None):
        return TokenCheck(published.name, False, len(trials))
    target: Any = tokenizer
    white_space: tuple[Any, str, bool] | None = None
    if first.different is None and first.white_space is not None:
        white_space = (_state(target), first.white_space.text, False)
    found = first.different or first.white_space
    assert found is not None  # one of the two
    last = first
    for repair in published.repairs:
        try:
            repair(tokenizer)
        except ModelError:
            raise
        except Exception as error:  # tokenizers raises bare exceptions for vocabularies that do not fit together
            raise ModelError(
                Message(
                    "The {class_name} of {directory} does not split texts as {file} says (such as "
                    "{example!r}), and cannot be made to: {error}. {_ADVICE}",
                    class_name=type(tokenizer).__name__,
                    directory=directory,
                    file=published.name,
                    example=found.text,
                    error=error,
                    _ADVICE=_ADVICE,
                )
            ) from error
        forget(tokenizer)
        last = _outcome(directory, tokenizer, published, trials)
        if last == (None, None):
            return TokenCheck(published.name, True, len(trials), found.text, _what(published, found))
        if last.different is None and last.white_space is not None and white_space is None:
            white_space = (_state(target), last.white_space.text, True)
    if white_space is not None:
        state, text, is_repaired = white_space
        target._tokenizer, target._extra_special_tokens = state
        forget(tokenizer)
        example = found.text if is_repaired else ""
        what = _what(published, found) if is_repaired else ""
        return TokenCheck(published.name, is_repaired, len(trials), example, what, text)
    raise _refusal(directory, tokenizer, published, last.different or found)


def _state(tokenizer: Any) -> tuple[Any, Any]:
    return getattr(tokenizer, "_tokenizer", None), tokenizer._extra_special_tokens


def _published_class(tokenizer: PreTrainedTokenizerBase, settings: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The class that the files name, as transformers 4 would have taken it, without "Fast"."""
    named = str(settings.get("tokenizer_class") or config.get("tokenizer_class") or "").removesuffix("Fast")
    own = type(tokenizer).__name__.removesuffix("Fast")
    if named and layout_of(named, settings) is not None:
        return named
    return "LlamaTokenizer" if not named and config.get("model_type") in _LLAMAS else own


def _published_file(
    directory: Path, class_name: str, tokenizer: PreTrainedTokenizerBase, settings: Mapping[str, Any]
) -> PublishedFile | None:
    layout = layout_of(class_name, settings)
    if (directory / TOKENIZER_JSON).is_file() and tokenizer.is_fast:
        return tokenizer_json(directory / TOKENIZER_JSON, tokenizer, layout, settings)
    model = sentencepiece_model(directory, tokenizer)
    if model is not None and layout is not None:
        return sentencepiece_file(model, tokenizer, layout, settings)
    if model is not None and tokenizer.is_fast:
        raise ModelError(
            Message(
                "The {class_name} of {directory} cannot be held against {file}: how it was published to number the "
                "pieces is not known to Hakari. {_ADVICE}",
                class_name=class_name,
                directory=directory,
                file=model.name,
                _ADVICE=_ADVICE,
            )
        )
    return vocabulary_file(directory, class_name, tokenizer, settings) if tokenizer.is_fast and model is None else None


def _unreadable(directory: Path, text: str, error: Exception) -> ModelError:
    advice = (
        Message("Install that package.")
        if isinstance(error, ImportError)
        else Message(
            "Where its vocabulary has no token for unknown characters, take the files as they were published with the "
            "weights."
        )
    )
    return ModelError(
        Message(
            "The tokenizer in {directory} cannot read {text!r}: {error} {advice}",
            directory=directory,
            text=text,
            error=one_line_message(error),
            advice=advice,
        )
    )


def _check_of_pieces(directory: Path, tokenizer: PreTrainedTokenizerBase) -> TokenCheck:
    """Where no file says how texts are split: whether it reads texts, and each piece has the id of its vocabulary."""
    text = probe_texts()[0]
    try:
        encoded(tokenizer, text)
    except EngineError:
        raise
    except Exception as error:  # of a tokenizer that reads more than texts, such as places on a page
        raise _unreadable(directory, text, error) from error
    for name in VOCABULARIES:
        pieces = numbered_pieces(directory / name, type(tokenizer).__name__)
        if not pieces:
            continue
        ids = tokenizer.get_vocab()
        other = next((piece for piece, number in pieces.items() if ids.get(piece, number) != number), None)
        if other is not None:
            raise ModelError(
                Message(
                    "The {class_name} of {directory} does not number its pieces as {file} says: {piece!r} is "
                    "{actual:,} where the file has {expected:,}. {_ADVICE}",
                    class_name=type(tokenizer).__name__,
                    directory=directory,
                    file=name,
                    piece=other,
                    actual=ids[other],
                    expected=pieces[other],
                    _ADVICE=_ADVICE,
                )
            )
        return TokenCheck(name, False, 0)
    return TokenCheck("", False, 0)


def _trials(published: PublishedFile, is_fast: bool) -> list[_Trial]:
    # Python tokenizers may take them for control tokens all the same; `offsets.control_tokens_read` says of which rows.
    spelled = texts_with(published.spellings[:_MOST_SPELLINGS]) if is_fast else ()
    ordinary = [*probe_texts(), *texts_with(published.words[:_MOST_SPELLINGS])]
    return [*(_Trial(text, False) for text in ordinary), *(_Trial(text, True) for text in spelled)]


def _outcome(
    directory: Path, tokenizer: PreTrainedTokenizerBase, published: PublishedFile, trials: Sequence[_Trial]
) -> _Outcome:
    white_space = None
    for difference in _differences(directory, tokenizer, published, trials):
        if not _is_white_space(published, difference):
            return _Outcome(difference, white_space)
        white_space = white_space or difference
    return _Outcome(None, white_space)


def _differences(
    directory: Path, tokenizer: PreTrainedTokenizerBase, published: PublishedFile, trials: Sequence[_Trial]
) -> Iterator[_Difference]:
    for text, is_plain in trials:
        try:
            expected = published.plain_ids(text) if is_plain else published.ids(text)
            actual = list(encoded(tokenizer, text)["input_ids"])
        except Exception as error:  # tokenizers raises bare exceptions, as for a vocabulary without an unknown token
            raise _unreadable(directory, text, error) from error
        if actual != expected:
            yield _Difference(text, actual, expected)


def _is_white_space(published: PublishedFile, difference: _Difference) -> bool:
    """Whether two encodings of a text differ by pieces of white space alone."""

    def of_text(ids: list[int]) -> list[int]:
        return [number for number in ids if published.piece(number).strip("".join(SPACE_MARKS) + " \t\n\u3000")]

    return of_text(difference.actual) == of_text(difference.expected)


def _what(published: PublishedFile, difference: _Difference) -> str:
    """What the class did otherwise: "pieces", their "ids" alone, or the "template"."""
    first, last = len(published.before), len(difference.expected) - len(published.after)
    content = difference.expected[first:last]
    n_more = len(difference.actual) - len(content)
    if any(difference.actual[i : i + len(content)] == content for i in range(n_more + 1)):
        return "template"
    return "ids" if len(difference.actual) == len(difference.expected) else "pieces"


def _refusal(
    directory: Path, tokenizer: PreTrainedTokenizerBase, published: PublishedFile, difference: _Difference
) -> ModelError:
    text, actual, expected = difference
    spelled = list(tokenizer.convert_ids_to_tokens(actual)), [published.piece(number) for number in expected]
    if spelled[0] == spelled[1]:
        spelled = [str(number) for number in actual], [str(number) for number in expected]
    return ModelError(
        Message(
            "The {class_name} of {directory} does not split texts as {file} says: {different!r} "
            "becomes {actual} where the file has {expected}. {_ADVICE}",
            class_name=type(tokenizer).__name__,
            directory=directory,
            file=published.name,
            different=text,
            actual=_shown(spelled[0]),
            expected=_shown(spelled[1]),
            _ADVICE=_ADVICE,
        )
    )


def _shown(tokens: Sequence[str]) -> str:
    return " ".join(map(str, tokens[:12])) + (" …" if len(tokens) > 12 else "")
