"""What an architecture can be asked, and which of transformers' classes its weights are read into.

A text model in multimodal packaging (Gemma 3, Mistral 3, Llama 4, Qwen 3.5 … `ForConditionalGeneration`) is read as its
text part: the class that transformers has for the text configuration, with the names of the weights mapped. Where
there is no such class (Qwen-VL) the whole model is read and asked with texts alone.

A decoder whose configuration says `is_causal: false` reads in both directions, as transformers 5 has it. Its head was
made for the next token: where the tokenizer has a mask token, it predicts a masked token at the position before it
(masked next-token prediction, MNTP), as GPT-BERT and LLM2Vec were trained.
Sources: Charpentier and Samuel 2024 (BabyLM Challenge); BehnamGhader et al. 2024 (LLM2Vec, COLM).
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
    AutoModelForSeq2SeqLM,
    PreTrainedConfig,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from engine.models.sources.facts import Kind
from engine.models.sources.own_code.adopted import own_kind

AUTO_CLASSES: dict[str, Any] = {
    "encode": AutoModel,
    "masked": AutoModelForMaskedLM,
    "causal": AutoModelForCausalLM,
    "seq2seq": AutoModelForSeq2SeqLM,
}
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
    masked_next_token: a masked token is predicted at the position before it. has_decoder_head: of an encoder-decoder
    that was published with the head of its decoder.
    """

    kind: Kind
    config: PreTrainedConfig
    key_mapping: dict[str, str] | None = None
    whole: bool = False
    masked_next_token: bool = False
    has_decoder_head: bool = False

    def auto_class(self, task: str) -> Any:
        """The Auto class of transformers for a task: "encode", "masked", "causal" or "seq2seq"."""
        if self.whole and task == "causal":
            return AutoModelForImageTextToText
        return AUTO_CLASSES["causal" if task == "masked" and self.masked_next_token else task]


def architecture_of(config: PreTrainedConfig, *, has_mask: bool = True) -> Architecture:
    """Kind and text part of a published configuration. has_mask: whether its tokenizer has a mask token."""
    if config.model_type in _ALWAYS_ENCODER_DECODER and not config.is_encoder_decoder:
        config = deepcopy(config)
        config.is_encoder_decoder = True
    text = config.get_text_config(decoder=True)
    packaged = (config.architectures or [""])[0] in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES.values()
    if text is config or not packaged or config.is_encoder_decoder:
        kind = kind_of(config)
        masked_next_token = kind == "causal" and reads_both_ways(config)
        if masked_next_token:
            kind = "masked" if has_mask else "encoder"
        return Architecture(
            kind,
            _without_padding(config) if config.model_type == "funnel" else config,
            masked_next_token=masked_next_token and has_mask,
            has_decoder_head=_has_decoder_head(config),
        )
    if text.model_type not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return Architecture("causal", config, whole=True)
    part = deepcopy(text)
    part.architectures = list(config.architectures or [])
    if (quantised := getattr(config, "quantization_config", None)) is not None:
        part.quantization_config = quantised
    if not reads_both_ways(config):
        return Architecture("causal", part, _TEXT_WEIGHTS)
    part.is_causal = False  # transformers hands it down to the text part
    return Architecture("masked" if has_mask else "encoder", part, _TEXT_WEIGHTS, masked_next_token=has_mask)


def reads_both_ways(config: PreTrainedConfig) -> bool:
    """Whether a configuration, or that of its text part, says that a decoder reads in both directions."""
    return any(getattr(part, "is_causal", None) is False for part in (config, config.get_text_config(decoder=True)))


def _has_decoder_head(config: PreTrainedConfig) -> bool:
    """Whether an encoder-decoder was published with the head that predicts the tokens of its decoder."""
    names = MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    if not config.is_encoder_decoder or config.model_type not in names:
        return False
    published = (config.architectures or [""])[0]
    return published in ("", names[config.model_type])


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
    if own := own_kind(config.architectures or []):
        return own  # type: ignore[no-any-return]
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
