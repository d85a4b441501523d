"""Families of published models by name: as what each is read here, and why some are refused. No torch.

What a record says of a family is what the installed transformers makes of a configuration of its kind; a test asks it.
Whether the numbers of one model can be believed is asked when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from engine.messages.message import Message, together
from engine.models.sources.facts import Kind

Group = Literal["Japanese", "multilingual", "embedding", "BabyLM"]
GROUPS: Mapping[Group, Message] = {
    "Japanese": Message("Japanese"),
    "multilingual": Message("Multilingual"),
    "embedding": Message("Embedding"),
    "BabyLM": Message("BabyLM"),
}
READ_AS: Mapping[Kind, Message] = {
    "masked": Message("masked"),
    "causal": Message("causal"),
    "encoder": Message("encoder"),
}
_BY_DECODER = Message("encoder; minimal pairs by the decoder")
_JUMANPP = Message("Juman++ on the PATH")
_ENCODER_READS = Message("--encoder-reads, what the encoder is given")
_DEQUANTISED = Message("dequantised into --precision")
OWN_CODE = Message("needs code from its own repository, which is run only where the operator allows it")
DIFFUSION = Message("a diffusion language model, which gives a text no probability from left to right")
_KERNELS = Message("quantised for the kernels of a package; choose the model it was made from")
_GGUF = Message("dequantised into --precision; one of several files is named OWNER/NAME:FILE.gguf")


@dataclass(frozen=True)
class Family:
    """A family of models. architecture: the class it is published as, "" where it is refused whatever that is.

    kind: as what it is read, None where it is refused: then `note` says why, else which option it takes, "" for none.
    by_decoder: of an encoder-decoder whose decoder scores sentences. in_both_directions: its configuration says
    `is_causal: false`. quantised: as its configuration says. example: an id on the hub.
    """

    name: str
    group: Group
    example: str
    model_type: str = ""
    architecture: str = ""
    kind: Kind | None = None
    note: str = ""
    by_decoder: bool = False
    in_both_directions: bool = False
    quantised: str = ""

    @property
    def outcome(self) -> Message:
        """As what it is read and with which option, or that it is refused and why."""
        if self.kind is None:
            return Message("refused: {reason}", reason=self.note)
        return together(
            "; ", [part for part in (_BY_DECODER if self.by_decoder else READ_AS[self.kind], self.note) if part]
        )


def _read(
    name: str, group: Group, example: str, model_type: str, architecture: str, kind: Kind, note: str = ""
) -> Family:
    return Family(name, group, example, model_type, architecture, kind, note)


def _decoder(name: str, group: Group, example: str, model_type: str, architecture: str) -> Family:
    return Family(name, group, example, model_type, architecture, "encoder", _ENCODER_READS, by_decoder=True)


def _own_code(name: str, group: Group, example: str, model_type: str) -> Family:
    return Family(name, group, example, model_type, note=OWN_CODE)


FAMILIES: tuple[Family, ...] = (
    _read(
        "BERT (Tohoku University)", "Japanese", "tohoku-nlp/bert-base-japanese-v3", "bert", "BertForMaskedLM", "masked"
    ),
    _read(
        "DeBERTa V2 (Kyoto University)",
        "Japanese",
        "ku-nlp/deberta-v2-base-japanese",
        "deberta-v2",
        "DebertaV2ForMaskedLM",
        "masked",
        _JUMANPP,
    ),
    _read(
        "RoBERTa (Waseda University)",
        "Japanese",
        "nlp-waseda/roberta-base-japanese",
        "roberta",
        "RobertaForMaskedLM",
        "masked",
        _JUMANPP,
    ),
    _read(
        "ModernBERT-Ja (SB Intuitions)",
        "Japanese",
        "sbintuitions/modernbert-ja-130m",
        "modernbert",
        "ModernBertForMaskedLM",
        "masked",
    ),
    _read(
        "llm-jp-modernbert",
        "Japanese",
        "llm-jp/llm-jp-modernbert-base",
        "modernbert",
        "ModernBertForMaskedLM",
        "masked",
    ),
    _read(
        "LUKE (Studio Ousia)", "Japanese", "studio-ousia/luke-japanese-base-lite", "luke", "LukeForMaskedLM", "masked"
    ),
    _read("GPT-2 (rinna)", "Japanese", "rinna/japanese-gpt2-medium", "gpt2", "GPT2LMHeadModel", "causal"),
    _read("GPT-NeoX (rinna)", "Japanese", "rinna/japanese-gpt-neox-3.6b", "gpt_neox", "GPTNeoXForCausalLM", "causal"),
    _read("OpenCALM (CyberAgent)", "Japanese", "cyberagent/open-calm-7b", "gpt_neox", "GPTNeoXForCausalLM", "causal"),
    _read(
        "GPT-NeoX-Japanese (ABEJA)",
        "Japanese",
        "abeja/gpt-neox-japanese-2.7b",
        "gpt_neox_japanese",
        "GPTNeoXJapaneseForCausalLM",
        "causal",
    ),
    _read("LLM-jp-3", "Japanese", "llm-jp/llm-jp-3-1.8b", "llama", "LlamaForCausalLM", "causal"),
    _read(
        "Sarashina2 (SB Intuitions)", "Japanese", "sbintuitions/sarashina2-7b", "llama", "LlamaForCausalLM", "causal"
    ),
    _read(
        "Llama 3.1 Swallow",
        "Japanese",
        "tokyotech-llm/Llama-3.1-Swallow-8B-v0.5",
        "llama",
        "LlamaForCausalLM",
        "causal",
    ),
    Family(
        "GPT-OSS Swallow", "Japanese", "", "gpt_oss", "GptOssForCausalLM", "causal", _DEQUANTISED, quantised="mxfp4"
    ),
    _read("Llama 3 ELYZA", "Japanese", "elyza/Llama-3-ELYZA-JP-8B", "llama", "LlamaForCausalLM", "causal"),
    Family("ELYZA Diffusion (Dream)", "Japanese", "elyza/ELYZA-Diffusion-Base-1.0-Dream-7B", "Dream", note=DIFFUSION),
    _own_code("PLaMo 2, PLaMo 3", "Japanese", "pfnet/plamo-2-1b", "plamo2"),
    _decoder("T5 (Retrieva)", "Japanese", "retrieva-jp/t5-base-long", "t5", "T5ForConditionalGeneration"),
    _decoder(
        "BART (Kyoto University)", "Japanese", "ku-nlp/bart-base-japanese", "mbart", "MBartForConditionalGeneration"
    ),
    _read(
        "Multilingual BERT",
        "multilingual",
        "google-bert/bert-base-multilingual-cased",
        "bert",
        "BertForMaskedLM",
        "masked",
    ),
    _read(
        "XLM-RoBERTa", "multilingual", "FacebookAI/xlm-roberta-base", "xlm-roberta", "XLMRobertaForMaskedLM", "masked"
    ),
    _read("mmBERT", "multilingual", "jhu-clsp/mmBERT-base", "modernbert", "ModernBertForMaskedLM", "masked"),
    _read("BLOOM", "multilingual", "bigscience/bloom-560m", "bloom", "BloomForCausalLM", "causal"),
    _read("XGLM", "multilingual", "facebook/xglm-564M", "xglm", "XGLMForCausalLM", "causal"),
    _read("Llama 3", "multilingual", "meta-llama/Llama-3.2-1B", "llama", "LlamaForCausalLM", "causal"),
    _read("Mistral", "multilingual", "mistralai/Mistral-7B-v0.1", "mistral", "MistralForCausalLM", "causal"),
    _read("Gemma 2", "multilingual", "google/gemma-2-2b", "gemma2", "Gemma2ForCausalLM", "causal"),
    _read("Gemma 3 (text)", "multilingual", "google/gemma-3-1b-pt", "gemma3_text", "Gemma3ForCausalLM", "causal"),
    _read(
        "Gemma 3 with vision",
        "multilingual",
        "google/gemma-3-4b-pt",
        "gemma3",
        "Gemma3ForConditionalGeneration",
        "causal",
    ),
    _read("Qwen2.5", "multilingual", "Qwen/Qwen2.5-0.5B", "qwen2", "Qwen2ForCausalLM", "causal"),
    _read("Qwen3", "multilingual", "Qwen/Qwen3-0.6B-Base", "qwen3", "Qwen3ForCausalLM", "causal"),
    Family(
        "Qwen3 FP8",
        "multilingual",
        "Qwen/Qwen3-0.6B-FP8",
        "qwen3",
        "Qwen3ForCausalLM",
        "causal",
        _DEQUANTISED,
        quantised="fp8",
    ),
    Family(
        "GPT-OSS",
        "multilingual",
        "openai/gpt-oss-20b",
        "gpt_oss",
        "GptOssForCausalLM",
        "causal",
        _DEQUANTISED,
        quantised="mxfp4",
    ),
    Family(
        "bitsandbytes copies",
        "multilingual",
        "unsloth/Llama-3.2-1B-bnb-4bit",
        "llama",
        "LlamaForCausalLM",
        "causal",
        _DEQUANTISED,
        quantised="bitsandbytes",
    ),
    Family(
        "AWQ copies", "multilingual", "Qwen/Qwen3-8B-AWQ", "qwen3", "Qwen3ForCausalLM", note=_KERNELS, quantised="awq"
    ),
    Family(
        "GPTQ copies",
        "multilingual",
        "Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4",
        "qwen2",
        "Qwen2ForCausalLM",
        note=_KERNELS,
        quantised="gptq",
    ),
    _read("GGUF copies", "multilingual", "Qwen/Qwen3-0.6B-GGUF", "qwen3", "Qwen3ForCausalLM", "causal", _GGUF),
    _decoder("mT5", "multilingual", "google/mt5-small", "mt5", "MT5ForConditionalGeneration"),
    _decoder("mBART-50", "multilingual", "facebook/mbart-large-50", "mbart", "MBartForConditionalGeneration"),
    _decoder(
        "NLLB-200", "multilingual", "facebook/nllb-200-distilled-600M", "m2m_100", "M2M100ForConditionalGeneration"
    ),
    _decoder("T5Gemma", "multilingual", "google/t5gemma-s-s-prefixlm", "t5gemma", "T5GemmaForConditionalGeneration"),
    _read("Multilingual E5", "embedding", "intfloat/multilingual-e5-base", "xlm-roberta", "XLMRobertaModel", "encoder"),
    _read("BGE-M3", "embedding", "BAAI/bge-m3", "xlm-roberta", "XLMRobertaModel", "encoder"),
    _read("LaBSE", "embedding", "sentence-transformers/LaBSE", "bert", "BertModel", "encoder"),
    _read("Ruri v3", "embedding", "cl-nagoya/ruri-v3-30m", "modernbert", "ModernBertModel", "encoder"),
    _read("GLuCoSE v2", "embedding", "pkshatech/GLuCoSE-base-ja-v2", "luke", "LukeModel", "encoder"),
    _read(
        "Sarashina Embedding", "embedding", "sbintuitions/sarashina-embedding-v1-1b", "llama", "LlamaModel", "encoder"
    ),
    _read("Qwen3 Embedding", "embedding", "Qwen/Qwen3-Embedding-0.6B", "qwen3", "Qwen3ForCausalLM", "causal"),
    _read("EmbeddingGemma", "embedding", "google/embeddinggemma-300m", "gemma3_text", "Gemma3TextModel", "encoder"),
    Family(
        "Decoders with is_causal: false", "embedding", "", "qwen3", "Qwen3Model", "encoder", in_both_directions=True
    ),
    _own_code("PLaMo Embedding", "embedding", "pfnet/plamo-embedding-1b", "plamo"),
    _read("RoBERTa baseline", "BabyLM", "babylm/roberta-base-strict", "roberta", "RobertaForMaskedLM", "masked"),
    _read("OPT baseline", "BabyLM", "babylm/opt-125m-strict", "opt", "OPTForCausalLM", "causal"),
    _decoder("T5 baseline", "BabyLM", "babylm/t5-base-strict", "t5", "T5ForConditionalGeneration"),
    _read("BabyLlama", "BabyLM", "timinar/baby-llama-58m", "llama", "LlamaForCausalLM", "causal"),
    _own_code("LTG-BERT", "BabyLM", "ltg/ltg-bert-babylm", "ltgbert"),
    _own_code("GPT-BERT", "BabyLM", "ltg/gpt-bert-babylm-base", "gpt-bert"),
)


def families_named(query: str) -> list[Family]:
    """The families whose name or example holds a part of a name; none for an empty one.

    >>> [family.name for family in families_named("plamo")]
    ['PLaMo 2, PLaMo 3', 'PLaMo Embedding']
    """
    wanted = query.strip().casefold()
    return [family for family in FAMILIES if wanted and wanted in f"{family.name} {family.example}".casefold()]
