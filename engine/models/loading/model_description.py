"""Description of a model from its configuration and tokenizer; its weights are not read."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from transformers import CONFIG_MAPPING, AutoConfig, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

from engine.errors import EngineError, ModelError
from engine.messages.message import Message, list_of
from engine.models.loading.adapters import resize_vocabulary
from engine.models.loading.architecture import Architecture, architecture_of
from engine.models.loading.bitsandbytes_weights import is_quantised
from engine.models.loading.config_fields import require_fields, require_sizes
from engine.models.loading.devices import device_name
from engine.models.loading.published_classes import known_architectures, refuse_diffusion
from engine.models.loading.quantised_weights import BITSANDBYTES, quantised_by
from engine.models.published_config import transformers_config
from engine.models.silence_transformers import one_line_message, silence_transformers
from engine.models.sources.facts import ModelFacts, TokenCheck
from engine.models.sources.gguf.header import is_gguf, read_header
from engine.models.sources.model_files import read_config, tokenizer_fingerprint, weight_files
from engine.models.sources.model_location import LocatedModel
from engine.models.sources.own_code.adopted import ADOPTED, has_own_model
from engine.models.sources.own_code.code_files import what_would_do
from engine.models.sources.published_vectors import PublishedVectors, read_published_vectors, stated_is_causal
from engine.models.sources.recipe_files import RECIPE_FILE
from engine.models.sources.recipes import EXAMPLE, description, fingerprint_with_recipe, versioned_description
from engine.models.sources.weight_headers import published_dtype, weights_in
from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.plain_text import control_spellings
from engine.models.tokenization.published_tokens import token_check_of
from engine.models.tokenization.scripts import vocabulary_scripts
from engine.models.tokenization.template import (
    cls_and_sep_tokens,
    has_cls,
    opening_ids,
    template_tokens,
    unknown_token,
)
from engine.models.tokenization.tokenizer_loading import load_tokenizer

# A tokenizer without a length limit gives 1e30; a model of relative positions has none.
UNLIMITED_TOKENS = 1_000_000
# Encoder-decoders of which sentence-transformers reads the encoder alone; of others (BART) it pools the decoder.
_ENCODER_POOLED = (
    "t5",
    "mt5",
    "umt5",
    "longt5",
    "switch_transformers",
    "t5gemma",
    "pegasus",
    "pegasus_x",
    "marian",
    "m2m_100",
    "blenderbot",
    "blenderbot-small",
    "prophetnet",
)
# A text for measuring how many tokens a vocabulary needs per character of the Latin alphabet.
_LATIN_SAMPLE = Message(
    "The old woman who sells flowers at the station told us that nobody had seen the children since Monday."
)


@dataclass(frozen=True)
class DescribedModel:
    """Facts with the configuration and the tokenizer they were read from.

    weights_directory: of config.json and the full weights, those of the base model for an adapter. shares_trunk:
    whether the class of the published head has the class of hidden states as its trunk.
    """

    facts: ModelFacts
    architecture: Architecture
    tokenizer: PreTrainedTokenizerBase
    weights_directory: Path
    adapter_directory: Path | None = None
    tied_embeddings: bool = False  # by the packaging of a multimodal model, whatever its text part says
    shares_trunk: bool = False


def describe(located: LocatedModel) -> DescribedModel:
    """Read configuration and tokenizer of a located model and return its facts.

    Raises ModelError when files are missing or damaged, for an architecture that transformers does not know (code in
    the directory is run in a process of its own alone), for quantised weights that cannot be read as numbers, and for a
    tokenizer that does not belong to this model. With a recipe, a configuration without a model type, as those of 2019
    are, is taken as that of a BERT.
    """
    config = _config(located)
    directories = [located.weights_directory, *([located.path] if located.base else [])]
    weights = [path for directory in directories for path in weight_files(directory)]
    tokenizer = load_tokenizer(located.tokenizer_directory, located.recipe, located.weights_directory)
    has_mask = tokenizer.mask_token_id is not None
    architecture, text_config = _architecture(config, located.weights_directory, has_mask=has_mask)
    kind = architecture.kind
    skeleton = _skeleton(located, architecture)
    n_embedded = _n_embedded(skeleton, text_config)
    if tokenizer.vocab_size > n_embedded:
        raise ModelError(
            Message(
                "The tokenizer of {name} has {vocab_size:,} pieces but its model has {n_embedded:,}: "
                "they do not belong together. Take both from the same model.",
                name=located.name,
                vocab_size=tokenizer.vocab_size,
                n_embedded=n_embedded,
            )
        )
    _require_known_special_tokens(located.name, tokenizer, n_embedded)
    if located.base:
        _require_embedded(located.name, tokenizer, n_embedded)
    else:
        _require_embedded_words(located.name, tokenizer, n_embedded)
    recipe = located.recipe
    scripts = vocabulary_scripts(tokenizer)
    published = published_dtype(read_config(located.weights_directory), weight_files(located.weights_directory))
    return DescribedModel(
        ModelFacts(
            name=located.name,
            source=located.source,
            path=str(located.file or located.path),
            revision=located.revision,
            fingerprint=located.fingerprint,
            tokenizer_fingerprint=fingerprint_with_recipe(
                tokenizer_fingerprint(located.tokenizer_directory, located.weights_directory), recipe
            ),
            architecture=(config.architectures or [type(skeleton).__name__])[0],
            kind=kind,
            n_layers=int(text_config.num_hidden_layers),
            hidden_size=int(text_config.hidden_size),
            vocab_size=n_embedded,
            max_tokens=_max_tokens(tokenizer, text_config, skeleton),
            n_parameters=int(skeleton.num_parameters()),
            tokenizer=description(recipe) if recipe else type(tokenizer).__name__,
            has_mask=_has_embedding(tokenizer.mask_token_id, n_embedded),
            has_cls=kind != "causal" and has_cls(tokenizer),
            has_bos=_has_embedding(tokenizer.bos_token_id, n_embedded),
            device=device_name(),
            dtype=published,
            weights_bytes=sum(path.stat().st_size for path in weights),
            recipe=versioned_description(recipe) if recipe else "",
            latin_tokens=_latin_tokens(tokenizer),
            scripts=tuple(scripts),
            script_shares=tuple(scripts.values()),
            token_check=_token_check(located, tokenizer),
            published=_published_vectors(located.root, config),
            adapter_of=_base_description(located),
            bos_token=tokenizer.bos_token or "",
            eos_token=tokenizer.eos_token or "",
            has_eos=_has_embedding(tokenizer.eos_token_id, n_embedded),
            control_tokens=tuple(sorted(control_spellings(tokenizer).tokens)),
            opening=tuple(tokenizer.convert_ids_to_tokens(opening_ids(tokenizer))),
            template_tokens=template_tokens(tokenizer),
            cls_and_sep=cls_and_sep_tokens(tokenizer),
            unknown_token=unknown_token(tokenizer),
            quantised=_quantised(located),
            masked_next_token=architecture.masked_next_token,
            n_seq2seq_parameters=_n_seq2seq_parameters(located, architecture),
            chat_template=_chat_template(tokenizer),
        ),
        architecture,
        tokenizer,
        located.weights_directory,
        located.path if located.base else None,
        bool(getattr(config, "tie_word_embeddings", False)),
        _shares_trunk(skeleton),
    )


def _token_check(located: LocatedModel, tokenizer: PreTrainedTokenizerBase) -> TokenCheck | None:
    """What was found of the tokens; where the header of a GGUF file says them, by the name of that file."""
    check = token_check_of(tokenizer)
    if check and located.file and not (located.file.parent / check.file).is_file():
        return replace(check, file=located.file.name)
    return check


def _quantised(located: LocatedModel) -> str:
    files = weight_files(located.weights_directory)
    if is_gguf(files[0].name):
        return read_header(files[0]).quantisation
    method = quantised_by(located.name, read_config(located.weights_directory))
    if method == BITSANDBYTES and files[0].suffix == ".safetensors" and not is_quantised(weights_in(files)):
        return ""  # numbers, with a configuration that asks for quantising them while they are loaded
    return method


def _chat_template(tokenizer: PreTrainedTokenizerBase) -> str:
    """The SHA-256 of a tokenizer's chat template; its file is no part of the model's fingerprint. "" without one."""
    template = getattr(tokenizer, "chat_template", None)
    return sha256(json.dumps(template, sort_keys=True).encode()).hexdigest() if template else ""


def _base_description(located: LocatedModel) -> str:
    """The base model of an adapter, with the commit that was read, for readers; "" for a model that is none."""
    if located.base is None:
        return ""
    return f"{located.base.address}@{located.base.commit}" if located.base.commit else located.base.address


def _published_vectors(root: Path, config: PreTrainedConfig) -> PublishedVectors | None:
    published = read_published_vectors(root)
    if published and not published.problem and config.is_encoder_decoder and config.model_type not in _ENCODER_POOLED:
        return PublishedVectors(
            published.root,
            problem=Message(
                "sentence-transformers pools the states of the "
                "decoder of this kind of model ({model_type}), Hakari "
                "the encoder's",
                model_type=config.model_type,
            ),
        )
    return published


def _config(located: LocatedModel) -> PreTrainedConfig:
    directory = located.weights_directory
    config_fields = read_config(directory)
    require_fields(config_fields, directory)
    refuse_diffusion(located.name, config_fields)
    quantised_by(located.name, config_fields)
    has_no_model_type = "model_type" not in config_fields
    if has_no_model_type and located.recipe is None:
        raise ModelError(
            Message(
                "config.json in {directory} does not say what the model is (model_type), like those of 2019. Name "
                "its card (such as paper/nict={path}; the models page lists them), or write {RECIPE_FILE} beside "
                "it: {EXAMPLE}",
                directory=directory,
                path=located.path,
                RECIPE_FILE=RECIPE_FILE,
                EXAMPLE=EXAMPLE,
            )
        )
    try:
        with silence_transformers():
            config: PreTrainedConfig = (
                AutoConfig.for_model("bert", **config_fields) if has_no_model_type else transformers_config(directory)
            )
            # sentence-transformers hands it on to transformers, which drops what config.json does not have.
            if hasattr(config, "is_causal") and (is_causal := stated_is_causal(directory)) is not None:
                config.is_causal = is_causal
    except Exception as error:  # transformers raises errors of any class for a malformed configuration
        if config_fields.get("auto_map") and config_fields["model_type"] not in CONFIG_MAPPING:
            raise ModelError(
                Message(
                    "{name} (model type {get!r}) needs code from its own repository, which Hakari runs only where the "
                    "operator allows it. Look for a version of it in an architecture that transformers knows (many "
                    "families have one, or converted weights whose name ends in -hf), or choose another model. {allow}",
                    name=located.name,
                    get=config_fields.get("model_type"),
                    allow=what_would_do(directory),
                )
            ) from error
        raise ModelError(
            Message(
                "config.json in {directory} names no architecture that this version of transformers "
                "knows, or has values that are not valid: {error}",
                directory=directory,
                error=one_line_message(error),
            )
        ) from error
    if architectures := known_architectures(located.name, config_fields, directory):
        config.architectures = architectures
    return config


def _architecture(
    config: PreTrainedConfig, directory: Path, *, has_mask: bool
) -> tuple[Architecture, PreTrainedConfig]:
    try:
        require_sizes(config, directory)
        architecture = architecture_of(config, has_mask=has_mask)
        text_config = architecture.config.get_text_config()
        if not isinstance(text_config, PreTrainedConfig):
            raise TypeError(f"text_config is {text_config!r}")
        for field in ("num_hidden_layers", "hidden_size"):
            if not isinstance(getattr(text_config, field, None), int):
                raise ModelError(
                    Message(
                        "A model of the type {model_type!r} in {directory} is no stack of layers over the tokens of a "
                        "text: its configuration has no {field}. Choose a masked or a causal model, or an encoder.",
                        model_type=config.model_type,
                        directory=directory,
                        field=field,
                    )
                )
        return architecture, text_config
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise ModelError(
            Message(
                "config.json in {directory} is not that of a model that can be read: {error} Take it "
                "as it was published with the weights.",
                directory=directory,
                error=one_line_message(error),
            )
        ) from error


def _skeleton(located: LocatedModel, architecture: Architecture) -> PreTrainedModel:
    """The model without its weights: shapes only, on torch's meta device."""
    model = _whole_skeleton(located, architecture, "encode" if architecture.kind == "encoder" else architecture.kind)
    return model.get_encoder() if model.config.is_encoder_decoder else model


def _n_seq2seq_parameters(located: LocatedModel, architecture: Architecture) -> int:
    """Of all of an encoder-decoder that has the head of its decoder; 0 for other models."""
    if not architecture.has_decoder_head:
        return 0
    return int(_whole_skeleton(located, architecture, "seq2seq").num_parameters())


def _whole_skeleton(located: LocatedModel, architecture: Architecture, task: str) -> PreTrainedModel:
    # The vocabulary of an adapter is written into the configuration of this model alone.
    config = deepcopy(architecture.config) if located.base else architecture.config
    try:
        with silence_transformers(), torch.device("meta"):
            model: PreTrainedModel = architecture.auto_class(task).from_config(config, trust_remote_code=False)
        if located.base:
            resize_vocabulary(located.name, model, located.path)
        (model.get_encoder() if config.is_encoder_decoder else model).get_input_embeddings()
        return model
    except EngineError:
        raise
    except Exception as error:  # anything, as above
        message = one_line_message(error)
        raise ModelError(
            Message("No model can be built from config.json in {path}: {message}", path=located.path, message=message)
        ) from error


def _shares_trunk(skeleton: PreTrainedModel) -> bool:
    """Whether the trunk of a model with a head is of the class that AutoModel reads; both names are transformers'.

    Of a model with code of its own, without a class for AutoModel, the trunk is what the class with the head has."""
    trunk = skeleton.base_model
    if has_own_model():
        return trunk is not skeleton and type(trunk) is ADOPTED.get("AutoModel", type(trunk))
    return trunk is not skeleton and type(trunk).__name__ == MODEL_MAPPING_NAMES.get(skeleton.config.model_type)


def _require_known_special_tokens(name: str, tokenizer: PreTrainedTokenizerBase, n_embedded: int) -> None:
    """Raise ModelError if the tokenizer adds special tokens to every text for which the model has no embedding.

    That happens when a vocabulary lacks [CLS] or [SEP]. Such a padding token is removed: padding is masked out.
    """
    if tokenizer.pad_token_id is not None and not _has_embedding(tokenizer.pad_token_id, n_embedded):
        tokenizer.pad_token = None
    ids = [*token_ids(tokenizer, ""), *([] if tokenizer.unk_token_id is None else [tokenizer.unk_token_id])]
    without_embedding = [token for token in ids if not _has_embedding(token, n_embedded)]
    if without_embedding:
        unknown = map(str, tokenizer.convert_ids_to_tokens(without_embedding))
        raise ModelError(
            Message(
                "The tokenizer of {name} ({class_name}) writes {unknown}, which its vocabulary lacks "
                "and the model's {n_embedded:,} pieces do not hold. Give the model the tokenizer it "
                "was trained with.",
                name=name,
                class_name=type(tokenizer).__name__,
                unknown=list_of(unknown),
                n_embedded=n_embedded,
            )
        )


def _require_embedded(name: str, tokenizer: PreTrainedTokenizerBase, n_embedded: int) -> None:
    """Raise ModelError for an adapter whose tokenizer got pieces that neither it nor its base has embeddings of."""
    added = [piece for piece, number in tokenizer.get_vocab().items() if number >= n_embedded]
    if added:
        raise ModelError(
            Message(
                "The tokenizer of the adapter {name} has {n:,} pieces more than its base model "
                "has embeddings ({first}), and the adapter holds none for them. Save it again with "
                "its embeddings (save_embedding_layers=True of the library peft).",
                name=name,
                n=len(added),
                first=list_of(added[:3]),
            )
        )


def _require_embedded_words(name: str, tokenizer: PreTrainedTokenizerBase, n_embedded: int) -> None:
    """Raise ModelError where a text can have a piece that the model has no embedding of: any but a control token."""
    control = control_spellings(tokenizer).tokens
    added = [
        piece for piece, number in tokenizer.get_added_vocab().items() if number >= n_embedded and piece not in control
    ]
    if added:
        raise ModelError(
            Message(
                "The tokenizer of {name} makes pieces of a text that its model has no embeddings of ({first}): it has "
                "{n_embedded:,}. Take tokenizer and weights from the same model, or remove the pieces from the "
                "tokenizer.",
                name=name,
                first=list_of(added[:3]),
                n_embedded=n_embedded,
            )
        )


def _latin_tokens(tokenizer: PreTrainedTokenizerBase) -> float:
    try:
        return round(len(token_ids(tokenizer, _LATIN_SAMPLE)) / len(_LATIN_SAMPLE), 3)
    except EngineError:  # a segmenter that is not installed: reported when a text is tokenized
        return 1.0


def _has_embedding(token: Any, n_embedded: int) -> bool:
    """Whether the model has an embedding for a special token.

    transformers gives special tokens that a vocabulary lacks ids after its end.
    """
    return token is not None and int(token) < n_embedded


def _n_embedded(skeleton: PreTrainedModel, text_config: PreTrainedConfig) -> int:
    embeddings = skeleton.get_input_embeddings()
    return int(getattr(embeddings, "num_embeddings", None) or text_config.vocab_size)


def _max_tokens(tokenizer: PreTrainedTokenizerBase, text_config: PreTrainedConfig, skeleton: PreTrainedModel) -> int:
    """The longest input in tokens, special ones included: the lower of the tokenizer's limit and the model's."""
    limits = [UNLIMITED_TOKENS, int(tokenizer.model_max_length)]
    positions = getattr(text_config, "max_position_embeddings", None)
    if positions and positions > 0:
        # RoBERTa and related models count positions from after the padding position (514 positions, 512 tokens).
        offsets = [
            module.padding_idx + 1
            for name, module in skeleton.named_modules()
            if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None
        ]
        limits.append(int(positions) - max(offsets, default=0))
    return min(limits)
