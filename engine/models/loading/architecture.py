"""What an architecture can be asked, and which of transformers' classes its weights are read into.

A text model in multimodal packaging (Gemma 3, Mistral 3, Llama 4, Qwen 3.5 … `ForConditionalGeneration`) is read as its
text part: the class that transformers has for the text configuration, with the names of the weights mapped. Where
there is no such class (Qwen-VL) the whole model is read and asked with texts alone.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForMaskedLM,
    PreTrainedConfig,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)

from engine.models.sources.facts import Kind

AUTO_CLASSES: dict[str, Any] = {"encode": AutoModel, "masked": AutoModelForMaskedLM, "causal": AutoModelForCausalLM}
# A discriminator: its ForPreTraining head tells original from replaced tokens and fills no mask.
_NO_MASKED_HEAD = ("electra", "funnel", "convbert")
# Permutation language models: a token is predicted with those after it in view, unless masks are made by hand.
_PERMUTED = ("xlnet",)
# Encoders that have a causal head, too: it is causal only where the configuration says that the model is a decoder.
_DECODER_IF_SAID = (
    "bert",
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
    "camembert",
    "electra",
    "ernie",
    "big_bird",
    "data2vec-text",
    "megatron-bert",
    "rembert",
    "roberta-prelayernorm",
    "roformer",
    "xmod",
    "bert-generation",
)
# Their class has both parts also where the encoder alone was saved, whose configuration denies it (T5EncoderModel).
_ALWAYS_ENCODER_DECODER = ("t5", "mt5", "umt5", "longt5", "switch_transformers")
# How the weights of a text part are named in multimodal packaging, newer and older.
_TEXT_WEIGHTS = {
    r"^model\.language_model\.": "model.",
    r"^language_model\.model\.": "model.",
    r"^language_model\.lm_head\.": "lm_head.",
    r"^model\.text_model\.": "model.",
}


@dataclass(frozen=True)
class Architecture:
    """How the weights of a model are read.

    kind: what its published head scores. config: of the part that is read. key_mapping: from the names of the
    published weights to those of the class, as `from_pretrained` takes it. whole: the multimodal class itself is read.
    """

    kind: Kind
    config: PreTrainedConfig
    key_mapping: dict[str, str] | None = None
    whole: bool = False

    def auto_class(self, task: str) -> Any:
        """The Auto class of transformers for a task: "encode", "masked" or "causal"."""
        return AutoModelForImageTextToText if self.whole and task == "causal" else AUTO_CLASSES[task]


def architecture_of(config: PreTrainedConfig) -> Architecture:
    """Kind and text part of a published configuration."""
    if config.model_type in _ALWAYS_ENCODER_DECODER and not config.is_encoder_decoder:
        config = deepcopy(config)
        config.is_encoder_decoder = True
    text = config.get_text_config(decoder=True)
    packaged = (config.architectures or [""])[0] in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES.values()
    if text is config or not packaged or config.is_encoder_decoder:
        return Architecture(kind_of(config), _without_padding(config) if config.model_type == "funnel" else config)
    if text.model_type not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return Architecture("causal", config, whole=True)
    part = deepcopy(text)
    part.architectures = list(config.architectures or [])
    return Architecture("causal", part, _TEXT_WEIGHTS)


def _without_padding(config: PreTrainedConfig) -> PreTrainedConfig:
    """Without a padding token transformers keeps its embedding: Funnel's it would set to zero after reading the file.

    The embedding is a row of the output matrix, too, so that every probability would change with it.
    """
    config = deepcopy(config)
    config.pad_token_id = None
    return config


def kind_of(config: PreTrainedConfig) -> Kind:
    """Masked, causal or encoder, by the architecture that the configuration was published with.

    Where it names none, by what the model type can be; an encoder-decoder counts as its encoder. An encoder with a
    causal head whose configuration does not say `is_decoder` reads in both directions, and so does XLNet: both are
    encoders here.
    """
    if config.is_encoder_decoder or config.model_type in _PERMUTED:
        return "encoder"
    masked = MODEL_FOR_MASKED_LM_MAPPING_NAMES.get(config.model_type)
    causal = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(config.model_type)
    if masked == causal:  # XLM: one head for both, and the configuration says which it was trained as
        causal, masked = (causal, None) if getattr(config, "causal", False) else (None, masked)
    if not config.architectures:
        return "masked" if masked else "causal" if causal else "encoder"
    architecture = config.architectures[0]
    if architecture == masked or (
        masked and architecture.endswith("ForPreTraining") and config.model_type not in _NO_MASKED_HEAD
    ):
        return "masked"
    if architecture != causal:
        return "encoder"
    reads_back_only = config.model_type not in _DECODER_IF_SAID or getattr(config, "is_decoder", False)
    return "causal" if reads_back_only else "encoder"
