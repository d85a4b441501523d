from __future__ import annotations

from pathlib import Path

from transformers import AutoTokenizer

from engine.models.tokenization.offsets import control_ids, token_offsets
from tests.support import tiny_models
from tests.support.odd_tokenizers import unigram_that_writes_eos_for_unknown, unigram_with_bytes


def test_each_byte_has_its_own_character() -> None:
    text = "東ﾗﾒ京"  # the kana are bytes to this vocabulary, in their NFKC form ラメ
    found = token_offsets(unigram_with_bytes(), text)
    assert found.tokens == ["<s>", "東", "<0xE3>", "<0x83>", "<0xA9>", "<0xE3>", "<0x83>", "<0xA1>", "京"]
    assert [text[slice(*offset)] for offset in found.offsets[1:]] == ["東", *"ﾗﾗﾗ", *"ﾒﾒﾒ", "京"]


def test_a_mark_that_melted_into_a_character_goes_with_it() -> None:
    text = "ｶﾞ東"
    found = token_offsets(unigram_with_bytes(), text)
    assert [text[slice(*offset)] for offset in found.offsets[1:]] == ["ｶﾞ"] * 3 + ["東"]


def test_control_tokens_are_special_wherever_they_stand(tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_models.bert(tmp_path / "bert"))
    found = token_offsets(tokenizer, "the [MASK] ♥ [SEP]", control=["[MASK]", "[SEP]"])
    assert [token for token, special in zip(found.tokens, found.special, strict=True) if special] == [
        "[CLS]",
        "[MASK]",
        "[SEP]",
        "[SEP]",
    ]
    assert tokenizer.unk_token_id in found.ids and tokenizer.unk_token_id not in control_ids(tokenizer)

    gpt2 = AutoTokenizer.from_pretrained(tiny_models.gpt2_byte_level(tmp_path / "gpt2"))
    assert control_ids(gpt2) == {gpt2.bos_token_id}  # which is its unknown token too, and never stands for text


def test_an_unknown_piece_is_text_even_where_it_is_written_as_a_control_token() -> None:
    found = token_offsets(unigram_that_writes_eos_for_unknown(), "東😀京</s>", control=["</s>"])
    assert found.tokens == ["東", "</s>", "京", "</s>", "</s>"]  # unknown, then spelled, then appended
    assert found.special == [False, False, False, True, True]
