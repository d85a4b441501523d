"""Masked models, each with a tokenizer as its family publishes it."""

from __future__ import annotations

from typing import Any

from tests.models.zoo.kinds.causal import LENGTH, NEOX_SIZES
from tests.models.zoo.specimens import ModelKind
from tests.models.zoo.tokenizer_files.byte_level import byte_level, end_of_word
from tests.models.zoo.tokenizer_files.published import Writer
from tests.models.zoo.tokenizer_files.sentence_pieces import model_file, unigram
from tests.models.zoo.tokenizer_files.word_pieces import BERT, FUNNEL, MPNET, japanese, word_piece

SIZES = NEOX_SIZES
ROBERTA_ROLES = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "cls_token": "<s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}
ROBERTA_FIRST = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
ALBERT_ROLES = {
    "bos_token": "[CLS]",
    "eos_token": "[SEP]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": "[MASK]",
}


def roberta(class_name: str) -> Writer:
    return byte_level(class_name, before="<s>", after="</s>", first=ROBERTA_FIRST, **ROBERTA_ROLES)


def fairseq_unigram(class_name: str) -> Writer:
    """<s> … </s> round a Unigram, as XLM-RoBERTa."""
    return unigram(class_name, "<s> <pad> </s> <unk> <mask>", before="<s>", after="</s>", **ROBERTA_ROLES)


def albert_unigram(class_name: str, *, lower: bool = False) -> Writer:
    return unigram(
        class_name, "<pad> <unk> [CLS] [SEP] [MASK]", before="[CLS]", after="[SEP]", lower=lower, **ALBERT_ROLES
    )


DEBERTA_V2 = unigram(
    "DebertaV2Tokenizer",
    "[PAD] [CLS] [SEP] [UNK] [MASK]",
    before="[CLS]",
    after="[SEP]",
    unknown="[UNK]",
    **BERT,
    bos_token="[CLS]",
    eos_token="[SEP]",
)
# ModernBERT-ja: its template writes <s> … </s>, and its cls_token is another one.
MODERNBERT_JA = unigram(
    "PreTrainedTokenizerFast",
    "<unk> <s> </s> <mask> <pad> <cls> <sep>",
    before="<s>",
    after="</s>",
    scheme="never",
    bos_token="<s>",
    eos_token="</s>",
    unk_token="<unk>",
    pad_token="<pad>",
    mask_token="<mask>",
    cls_token="<cls>",
    sep_token="<sep>",
)
MODERNBERT = byte_level(
    "PreTrainedTokenizerFast",
    before="[CLS]",
    after="[SEP]",
    modern=True,
    last=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"],
    **BERT,
)
EUROBERT = byte_level(
    "PreTrainedTokenizerFast",
    before="<|begin_of_text|>",
    after="<|end_of_text|>",
    modern=True,
    last=["<|begin_of_text|>", "<|end_of_text|>", "<|mask|>", "<|pad|>"],
    bos_token="<|begin_of_text|>",
    eos_token="<|end_of_text|>",
    mask_token="<|mask|>",
    pad_token="<|pad|>",
)
XLM = end_of_word(
    "PreTrainedTokenizerFast",
    before="</s>",
    after="</s>",
    bos_token="<s>",
    sep_token="</s>",
    first=["<s>", "</s>", "<pad>", "<unk>", "<special1>"],
    pad_token="<pad>",
    unk_token="<unk>",
    cls_token="</s>",
    mask_token="<special1>",
)


def masked(name: str, architecture: str, tokens: Writer, sizes: dict[str, Any] = SIZES, **more: Any) -> ModelKind:
    about = {
        "cls": 0,
        **{name: more.pop(name) for name in ("cls", "deviation", "changes_with_use", "layers") if name in more},
    }
    return ModelKind(name, architecture, "masked", tokens, {**sizes, **more}, **about)


ROBERTA_SIZES = {**SIZES, "type_vocab_size": 1}
BERT_LIKE = (
    masked("bert", "BertForMaskedLM", word_piece()),
    masked("bert as pretrained", "BertForPreTraining", word_piece()),
    masked("bert with mecab", "BertForMaskedLM", japanese("wordpiece")),
    masked("bert of characters", "BertForMaskedLM", japanese("character")),
    masked("roberta", "RobertaForMaskedLM", roberta("RobertaTokenizer"), ROBERTA_SIZES),
    masked("xlm-roberta", "XLMRobertaForMaskedLM", fairseq_unigram("XLMRobertaTokenizer"), ROBERTA_SIZES),
    masked("xlm-roberta-xl", "XLMRobertaXLForMaskedLM", fairseq_unigram("XLMRobertaTokenizer"), ROBERTA_SIZES),
    masked("camembert", "CamembertForMaskedLM", fairseq_unigram("PreTrainedTokenizerFast"), ROBERTA_SIZES),
    masked(
        "rinna RoBERTa",
        "RobertaForMaskedLM",
        model_file(
            "T5Tokenizer",
            "spiece.model",
            after=["</s>"],
            control="[CLS],[SEP],[MASK]",
            settings={"pad_id": 3},
            config={"extra_ids": 0},
            bos_token="<s>",
            eos_token="</s>",
            unk_token="<unk>",
            pad_token="<pad>",
            cls_token="[CLS]",
            sep_token="[SEP]",
            mask_token="[MASK]",
        ),
        ROBERTA_SIZES,
        cls=None,
    ),
    masked(
        "distilbert",
        "DistilBertForMaskedLM",
        word_piece("DistilBertTokenizer"),
        {"dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 4, "max_position_embeddings": LENGTH},
    ),
    masked("albert", "AlbertForMaskedLM", albert_unigram("AlbertTokenizer", lower=True), SIZES, embedding_size=16),
    masked("electra", "ElectraForMaskedLM", word_piece("ElectraTokenizer"), SIZES, embedding_size=16),
    masked("mpnet", "MPNetForMaskedLM", word_piece("MPNetTokenizer", MPNET, first="<s> <pad> </s> [UNK] <mask>")),
    masked("ernie", "ErnieForMaskedLM", word_piece()),
    masked(
        "rembert",
        "RemBertForMaskedLM",
        albert_unigram("RemBertTokenizer"),
        SIZES,
        input_embedding_size=16,
        output_embedding_size=24,
    ),
    masked(
        "luke", "LukeForMaskedLM", roberta("LukeTokenizer"), ROBERTA_SIZES, entity_vocab_size=10, entity_emb_size=16
    ),
    masked("data2vec-text", "Data2VecTextForMaskedLM", roberta("RobertaTokenizer"), ROBERTA_SIZES),
    masked("roberta-prelayernorm", "RobertaPreLayerNormForMaskedLM", roberta("RobertaTokenizer"), ROBERTA_SIZES),
    masked("megatron-bert", "MegatronBertForMaskedLM", word_piece()),
    masked(
        "mobilebert",
        "MobileBertForMaskedLM",
        word_piece("MobileBertTokenizer"),
        SIZES,
        embedding_size=32,
        intra_bottleneck_size=32,
        true_hidden_size=32,
        deviation=0.05,
    ),
)
OTHERS = (
    masked(
        "deberta",
        "DebertaForMaskedLM",
        byte_level(
            "DebertaTokenizer",
            before="[CLS]",
            after="[SEP]",
            first=["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"],
            **BERT,
        ),
        SIZES,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        max_relative_positions=32,
        type_vocab_size=0,
        position_biased_input=False,
    ),
    masked(
        "deberta-v2",
        "DebertaV2ForMaskedLM",
        DEBERTA_V2,
        SIZES,
        relative_attention=True,
        position_buckets=16,
        pos_att_type=["p2c", "c2p"],
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        type_vocab_size=0,
        position_biased_input=False,
    ),
    masked(
        "deberta-v2 with a convolution",
        "DebertaV2ForMaskedLM",
        DEBERTA_V2,
        SIZES,
        relative_attention=True,
        position_buckets=16,
        pos_att_type=["p2c", "c2p"],
        share_att_key=True,
        conv_kernel_size=3,
        conv_act="gelu",
        type_vocab_size=0,
        position_biased_input=False,
    ),
    masked("modernbert", "ModernBertForMaskedLM", MODERNBERT, SIZES, local_attention=16, global_attn_every_n_layers=2),
    masked(
        "modernbert-ja", "ModernBertForMaskedLM", MODERNBERT_JA, SIZES, local_attention=16, global_attn_every_n_layers=2
    ),
    masked("eurobert", "EuroBertForMaskedLM", EUROBERT, SIZES, num_key_value_heads=2, head_dim=8),
    masked(
        "convbert",
        "ConvBertForMaskedLM",
        word_piece("ConvBertTokenizer"),
        SIZES,
        embedding_size=32,
        head_ratio=2,
        conv_kernel_size=3,
    ),
    masked(
        "big_bird",
        "BigBirdForMaskedLM",
        unigram(
            "BigBirdTokenizer",
            "<pad> </s> <s> <unk> [SEP] [MASK] [CLS]",
            before="[CLS]",
            after="[SEP]",
            bos_token="<s>",
            eos_token="</s>",
            unk_token="<unk>",
            pad_token="<pad>",
            sep_token="[SEP]",
            cls_token="[CLS]",
            mask_token="[MASK]",
        ),
        SIZES,
        attention_type="block_sparse",
        block_size=4,
        num_random_blocks=1,
        changes_with_use=True,
    ),
    masked("roformer", "RoFormerForMaskedLM", japanese("wordpiece"), SIZES, embedding_size=16),
    masked(
        "nystromformer",
        "NystromformerForMaskedLM",
        albert_unigram("AlbertTokenizer", lower=True),
        SIZES,
        num_landmarks=8,
        conv_kernel_size=5,
        segment_means_seq_len=8,
    ),
    masked(
        "squeezebert",
        "SqueezeBertForMaskedLM",
        word_piece("SqueezeBertTokenizer"),
        SIZES,
        embedding_size=32,
        q_groups=2,
        k_groups=2,
        v_groups=2,
        post_attention_groups=1,
        intermediate_groups=2,
        output_groups=2,
    ),
    masked(
        "longformer", "LongformerForMaskedLM", roberta("LongformerTokenizer"), ROBERTA_SIZES, attention_window=[8, 8]
    ),
    masked(
        "xlm",
        "XLMWithLMHeadModel",
        XLM,
        {
            "emb_dim": 32,
            "n_layers": 2,
            "n_heads": 4,
            "max_position_embeddings": LENGTH,
            "causal": False,
            "n_langs": 1,
            "mask_token_id": 4,
        },
    ),
    masked("fnet", "FNetForMaskedLM", albert_unigram("FNetTokenizer"), SIZES),
    masked(
        "funnel",
        "FunnelForMaskedLM",
        word_piece("FunnelTokenizer", FUNNEL),
        {"block_sizes": [1, 1], "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 64, "num_decoder_layers": 1},
        layers=((0, 1),),
    ),
    masked("yoso", "YosoForMaskedLM", albert_unigram("AlbertTokenizer", lower=True), SIZES, use_expectation=True),
    masked("mra", "MraForMaskedLM", roberta("RobertaTokenizer"), ROBERTA_SIZES),
    masked("ibert", "IBertForMaskedLM", roberta("RobertaTokenizer"), ROBERTA_SIZES),
    masked("nomic-bert", "NomicBertForMaskedLM", word_piece(), SIZES),
    masked(
        "xmod",
        "XmodForMaskedLM",
        fairseq_unigram("XLMRobertaTokenizer"),
        ROBERTA_SIZES,
        languages=["ja_XX"],
        default_language="ja_XX",
    ),
)
