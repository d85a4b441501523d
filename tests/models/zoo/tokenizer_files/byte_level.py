"""Byte-level BPE, as GPT-2, RoBERTa, Llama 3, Qwen and most newer families have it; and BPE with </w>, as BioGPT."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from tests.models.zoo.texts import CORPUS
from tests.models.zoo.tokenizer_files.published import Published, Writer, template, write_tokenizer_json

# The splitting expression that Llama 3, Qwen and OLMo share in the main.
_MODERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


def byte_level(
    class_name: str,
    *,
    before: str = "",
    after: str = "",
    first: Sequence[str] = (),
    last: Sequence[str] = (),
    modern: bool = False,
    **roles: str,
) -> Writer:
    """Special tokens at the `first` ids or at the `last`; `modern`: split by Llama 3's expression, not GPT-2's."""

    def write(folder: Path) -> Published:
        core = Tokenizer.from_str(_trained(tuple(first), modern))
        for token in first:
            core.add_special_tokens([_added(token)])
        core.add_special_tokens([_added(token) for token in last])
        core.post_processor = _template(core, class_name, before, after)
        return write_tokenizer_json(folder, core, class_name, roles, before, after)

    return write


def _added(token: str) -> AddedToken:
    # RoBERTa's family takes the space before a mask as part of it.
    return AddedToken(token, lstrip=token == "<mask>", special=True, normalized=False)


@cache
def _trained(first: tuple[str, ...], modern: bool) -> str:
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = (
        pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(_MODERN), "isolated"),
                pre_tokenizers.ByteLevel(False, use_regex=False),
            ]
        )
        if modern
        else pre_tokenizers.ByteLevel(add_prefix_space=False)
    )
    core.decoder = decoders.ByteLevel()
    core.train_from_iterator(
        CORPUS * 4,
        trainers.BpeTrainer(
            vocab_size=420,
            special_tokens=list(first),
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    return str(core.to_str())


def _template(core: Tokenizer, class_name: str, before: str, after: str) -> processors.PostProcessor:
    id_of = core.get_vocab(with_added_tokens=True)
    if class_name in ("RobertaTokenizer", "LongformerTokenizer", "LukeTokenizer"):
        return processors.RobertaProcessing(
            (after, id_of[after]), (before, id_of[before]), trim_offsets=True, add_prefix_space=False
        )
    plain = processors.ByteLevel(trim_offsets=False)
    if not (before or after):
        return plain
    return processors.Sequence([plain, template(core, before, after)])


def end_of_word(class_name: str, *, before: str = "", after: str = "", first: Sequence[str], **roles: str) -> Writer:
    """BPE over characters whose pieces say where a word ends (</w>)."""

    def write(folder: Path) -> Published:
        core = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
        core.normalizer = normalizers.NFKC()
        core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        core.decoder = decoders.BPEDecoder()
        core.train_from_iterator(
            CORPUS * 4,
            trainers.BpeTrainer(
                vocab_size=420,
                special_tokens=list(first),
                end_of_word_suffix="</w>",
                show_progress=False,
                max_token_length=4,
            ),
        )
        core.post_processor = template(core, before, after)
        return write_tokenizer_json(folder, core, class_name, roles, before, after)

    return write
