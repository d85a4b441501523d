"""The tokenizer of a model directory, by transformers' own classes, with the dictionary it was published for."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import transformers
from tokenizers.models import Unigram
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from engine.errors import ModelError
from engine.language import segmenters
from engine.messages.message import Message, list_of
from engine.models.published_config import has_empty_statements, transformers_config
from engine.models.silence_transformers import one_line_message, silence_transformers
from engine.models.sources.model_files import CONFIG, read_config, read_json, tokenizer_files
from engine.models.sources.own_code.adopted import own_tokenizer
from engine.models.sources.own_code.code_files import needs_own_tokenizer, what_would_do
from engine.models.sources.recipe_files import RECIPE_FILE
from engine.models.sources.recipes import EXAMPLE, Recipe
from engine.models.tokenization.files.tokenizer_json import TOKENIZER_JSON
from engine.models.tokenization.published_tokens import check_tokens, sentencepiece_model
from engine.models.tokenization.recipe_tokenizer import VOCABULARY, RecipeTokenizer, recipe_tokenizer

TOKENIZER_ADVICE = Message(
    "Put the tokenizer's files beside the weights (tokenizer.json, or the vocabulary it was "
    "published with and tokenizer_config.json), for instance with tokenizer.save_pretrained."
)
# Listed by tokenizer classes among their vocabulary files, but no vocabularies.
_SETTINGS = {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja"}
# Words of more than one kanji, as lines of a vocabulary.
_KANJI_WORD = re.compile(r"^[\u4e00-\u9fff]{2,}$", re.MULTILINE)
# The first release whose BertJapaneseTokenizer takes unidic-lite where no dictionary is named; before, it was ipadic.
_UNIDIC_BY_DEFAULT = (4, 46)


def load_tokenizer(
    directory: Path, recipe: Recipe | None = None, config_directory: Path | None = None
) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a model directory; code that it may hold is run in a process of its own alone.

    config_directory: that of config.json, where it is another one, as an adapter's base model has it.

    By a recipe where there is one, else by transformers' own classes: the files then have to say how texts are split
    (see `_require_tokenizer_settings`).
    A BertJapaneseTokenizer that names no MeCab dictionary and was published before transformers 4.46 gets
    ipadic, which was the default it was trained with; newer releases would segment its words differently without a
    warning. A Unigram vocabulary gets its own unknown piece back (see `_restore_unknown_piece`), and what a class of
    transformers does otherwise than the published file says is repaired (see `published_tokens`).
    Raises ModelError when there is no tokenizer, it is damaged, or it needs a package that is missing.
    """
    tokenizer = _loaded_tokenizer(directory, recipe, config_directory or directory)
    _sources[tokenizer] = TokenizerSource(directory, recipe, config_directory)
    return tokenizer


def load_tokenizer_alone(directory: Path) -> PreTrainedTokenizerBase:
    """The tokenizer of a directory that holds no model: by its tokenizer.json where there is no config.json.

    Raises ModelError where there is neither, and for a damaged file.
    """
    if (directory / CONFIG).is_file():
        return load_tokenizer(directory)
    if not (directory / TOKENIZER_JSON).is_file():
        raise ModelError(
            Message(
                "There is no tokenizer in {directory}: without a config.json it is read from a tokenizer.json, which "
                "save_pretrained of a fast tokenizer writes.",
                directory=directory,
            )
        )
    try:
        with silence_transformers():
            tokenizer: PreTrainedTokenizerBase = PreTrainedTokenizerFast.from_pretrained(
                directory, local_files_only=True
            )
    except Exception as error:  # transformers raises anything for a file that is not as it should be
        raise ModelError(
            Message(
                "The tokenizer in {directory} cannot be loaded: {message} {advice}",
                directory=directory,
                message=one_line_message(error),
                advice=TOKENIZER_ADVICE,
            )
        ) from error
    return tokenizer


class TokenizerSource(NamedTuple):
    """The arguments of `load_tokenizer`."""

    directory: Path
    recipe: Recipe | None
    config_directory: Path | None


def source_of(tokenizer: PreTrainedTokenizerBase) -> TokenizerSource | None:
    """What `load_tokenizer` made a tokenizer from; None for any other."""
    return _sources.get(tokenizer)


_sources: WeakKeyDictionary[PreTrainedTokenizerBase, TokenizerSource] = WeakKeyDictionary()


def _loaded_tokenizer(directory: Path, recipe: Recipe | None, config_directory: Path) -> PreTrainedTokenizerBase:
    if recipe is None:
        _require_tokenizer_settings(directory, config_directory)
        return _published_tokenizer(directory, config_directory)
    if recipe.vocabulary == "own":
        tokenizer = RecipeTokenizer(recipe, _published_tokenizer(directory, config_directory), None)
    else:
        tokenizer = recipe_tokenizer(directory, recipe)
    return cast(PreTrainedTokenizerBase, tokenizer)  # it has the same interface, but not the base class


def _published_tokenizer(directory: Path, config_directory: Path) -> PreTrainedTokenizerBase:
    if not tokenizer_files(directory):
        raise ModelError(
            Message(
                "There is no tokenizer in {directory}. {TOKENIZER_ADVICE}",
                directory=directory,
                TOKENIZER_ADVICE=TOKENIZER_ADVICE,
            )
        )
    _require_segmenter(directory)
    _require_known_class(directory)
    try:
        tokenizer = _by_transformers(directory, config_directory)
    except Exception as error:  # transformers raises anything for a directory that is not as it should be
        advice = Message("Install that package.") if isinstance(error, ImportError) else TOKENIZER_ADVICE
        message = one_line_message(error)
        raise ModelError(
            Message(
                "The tokenizer in {directory} cannot be loaded: {message} {advice}",
                directory=directory,
                message=message,
                advice=advice,
            )
        ) from error
    # transformers makes an empty vocabulary, without a warning, where there is no file for it.
    vocabularies = {"tokenizer.json", *type(tokenizer).vocab_files_names.values()} - _SETTINGS
    model = sentencepiece_model(directory, tokenizer)
    vocabularies |= {model.name} if model is not None else set()
    if type(tokenizer).vocab_files_names and not any((directory / name).is_file() for name in vocabularies):
        raise ModelError(
            Message(
                "There is no vocabulary for the {class_name} in {directory}: none of {vocabularies}. "
                "{TOKENIZER_ADVICE}",
                class_name=type(tokenizer).__name__,
                directory=directory,
                vocabularies=list_of(sorted(vocabularies)),
                TOKENIZER_ADVICE=TOKENIZER_ADVICE,
            )
        )
    _restore_unknown_piece(tokenizer)
    check_tokens(directory, tokenizer, config_directory)
    return tokenizer


def _by_transformers(directory: Path, config_directory: Path) -> PreTrainedTokenizerBase:
    """The tokenizer of the class that the files name; by tokenizer.json alone where that class cannot read it.

    Raises whatever transformers does.
    """
    with silence_transformers():
        if own_class := _own_class(directory):
            return own_class.from_pretrained(directory, local_files_only=True)  # type: ignore[no-any-return]
        try:
            return AutoTokenizer.from_pretrained(
                directory,
                local_files_only=True,
                trust_remote_code=False,
                **published_dictionary(directory, config_directory),
                **_config_elsewhere(directory, config_directory),
            )
        except ImportError:
            raise
        except Exception:  # a class of Unigram raises errors of several kinds for the vocabulary of a BPE
            if not (directory / TOKENIZER_JSON).is_file():
                raise
            with contextlib.suppress(Exception):
                return PreTrainedTokenizerFast.from_pretrained(directory, local_files_only=True)  # type: ignore[no-any-return]
            raise


def _require_segmenter(directory: Path) -> None:
    """Raise ModelError where the published tokenizer calls Juman++ itself and it is not installed."""
    path = directory / "tokenizer_config.json"
    settings = read_json(path, Message("It says which tokenizer to use.")) if path.is_file() else {}
    calls_juman = settings.get("word_tokenizer_type") == segmenters.JUMANPP
    if calls_juman and (missing := segmenters.missing(segmenters.JUMANPP)):
        raise ModelError(
            Message(
                "The tokenizer in {directory} segments its texts with Juman++. {missing}",
                directory=directory,
                missing=missing,
            )
        )


def _require_known_class(directory: Path) -> None:
    """Raise ModelError where the tokenizer is code of the repository, which transformers would replace by a guess.

    Beside a tokenizer.json such code is not needed: that file is read as it was published.
    """
    path = directory / "tokenizer_config.json"
    settings = read_json(path, Message("It says which tokenizer to use.")) if path.is_file() else {}
    auto_map, name = settings.get("auto_map"), settings.get("tokenizer_class")
    is_own = isinstance(auto_map, dict) and "AutoTokenizer" in auto_map and not hasattr(transformers, str(name))
    if is_own and not (directory / "tokenizer.json").is_file() and not _own_class(directory):
        raise ModelError(
            Message(
                "The tokenizer in {directory} ({name}) needs code from its own repository, which Hakari runs only where "
                "the operator allows it. Look for a version of the model with a tokenizer.json, or save one with "
                "save_pretrained where its code is run. {allow}",
                directory=directory,
                name=name,
                allow=what_would_do(directory),
            )
        )


def _own_class(directory: Path) -> Any:
    """The class of the repository's own that this process has for the tokenizer; None where it has none."""
    return own_tokenizer() if needs_own_tokenizer(directory) else None


def _config_elsewhere(directory: Path, config_directory: Path) -> dict[str, Any]:
    if directory == config_directory and not has_empty_statements(read_config(config_directory)):
        return {}
    return {"config": transformers_config(config_directory)}


def published_dictionary(directory: Path, config_directory: Path | None = None) -> dict[str, Any]:
    """The argument that gives a BertJapaneseTokenizer the dictionary it was published for, or nothing.

    Source: transformers pull request 33372 (4.46) changed the default of `MecabTokenizer(mecab_dic=)`.
    """
    path = directory / "tokenizer_config.json"
    settings = read_json(path, Message("It says which tokenizer to use.")) if path.is_file() else {}
    config = read_config(config_directory or directory)
    mecab_settings = settings.get("mecab_kwargs") or {}
    by_mecab = (
        settings.get("tokenizer_class") or config.get("tokenizer_class")
    ) == "BertJapaneseTokenizer" and settings.get("word_tokenizer_type") == "mecab"
    release = tuple(map(int, re.findall(r"\d+", str(config.get("transformers_version", "0")))[:2]))
    if not by_mecab or "mecab_dic" in mecab_settings or release >= _UNIDIC_BY_DEFAULT:
        return {}
    return {"mecab_kwargs": {**mecab_settings, "mecab_dic": "ipadic"}}


def _require_tokenizer_settings(directory: Path, config_directory: Path) -> None:
    """Raise ModelError for a directory with vocab.txt but no tokenizer settings, if BERT's tokenizer cannot fit it.

    Without settings transformers takes BERT's tokenizer, which separates all kanji and lower-cases. A vocabulary with
    words of several kanji was made for another tokenizer: its texts would be split wrongly without a warning.
    """
    has_settings = any((directory / name).is_file() for name in ("tokenizer.json", "tokenizer_config.json"))
    vocabulary = directory / VOCABULARY
    if has_settings or not vocabulary.is_file() or read_config(config_directory).get("tokenizer_class"):
        return
    unreachable = _KANJI_WORD.findall(vocabulary.read_text(encoding="utf-8", errors="replace"))
    if unreachable:
        raise ModelError(
            Message(
                "{directory} does not say how texts are split into the words of its {VOCABULARY}, and BERT's own "
                "tokenizer never makes {unreachable} or {unreachable_:,} others. Name its card (such as "
                "paper/nict={directory}; the models page lists them), or write {RECIPE_FILE} beside it: {EXAMPLE}",
                directory=directory,
                VOCABULARY=VOCABULARY,
                unreachable=list_of(unreachable[:3]),
                unreachable_=len(unreachable) - 3,
                RECIPE_FILE=RECIPE_FILE,
                EXAMPLE=EXAMPLE,
            )
        )


def _restore_unknown_piece(tokenizer: PreTrainedTokenizerBase) -> None:
    """Make a Unigram tokenizer write its unknown token for unknown characters.

    transformers 5 makes a T5Tokenizer with the unknown piece at 2, where T5 has it. Japanese GPT-2 models published
    with that class have it at 0, and </s> at 2: every unknown character would become an end-of-text token in the
    middle of the text. With this correction their tokens equal SentencePiece's own.
    """
    backend = tokenizer.backend_tokenizer if tokenizer.is_fast else None
    if backend is None or not isinstance(backend.model, Unigram):
        return
    model = json.loads(backend.to_str())["model"]
    pieces = [piece for piece, _ in model["vocab"]]
    unk_id, unknown = model.get("unk_id"), str(tokenizer.unk_token)
    if unk_id is not None and pieces[unk_id] != unknown and unknown in pieces:
        scored = [(piece, score) for piece, score in model["vocab"]]
        backend.model = Unigram(scored, unk_id=pieces.index(unknown), byte_fallback=model["byte_fallback"])
