"""Encoder-decoders scored by their decoder, against plain transformers and minicons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from minicons import scorer

from engine.errors import InputError, ModelError
from engine.models.loading.weights import load_from_description
from engine.models.scoring.seq2seq_lm import token_log_likelihoods
from tests.models.zoo.checks import TOLERANCE, alone_and_together
from tests.models.zoo.kinds.encoders import ENCODER_DECODERS, ENCODERS, T5_ROLES
from tests.models.zoo.specimens import ModelKind, Specimen, build
from tests.models.zoo.test_refused import change_config
from tests.models.zoo.texts import TEXTS
from tests.models.zoo.tokenizer_files.sentence_pieces import unigram
from tests.support.tiny_models import ENGLISH, JAPANESE

COMPARED_KINDS = [
    *(kind for kind in ENCODERS if kind.architecture.endswith("ForConditionalGeneration")),
    *ENCODER_DECODERS,
]
CUE = "猫がいる。"
T5 = next(kind for kind in ENCODERS if kind.name == "t5")


@torch.inference_mode()
def by_plain_transformers(specimen: Specimen, read: list[int], written: list[int]) -> np.ndarray:
    """log p of each id that the decoder writes, by the class's own rule for labels."""
    model: Any = specimen.unused()
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):
        output = model(input_ids=torch.tensor([read]), labels=torch.tensor([written]))
    else:
        shifted = torch.tensor([[model.config.decoder_start_token_id, *written[:-1]]])
        output = model(input_ids=torch.tensor([read]), decoder_input_ids=shifted)
    logs = torch.log_softmax(output.logits[0].float(), dim=-1)
    return logs[torch.arange(len(written)), written].numpy()


@pytest.mark.parametrize("reads", ["nothing", "sentence", "text"])
def test_the_decoder_scores_as_plain_transformers(specimen: Specimen, reads: str) -> None:
    loaded = load_from_description(specimen.described, "seq2seq")
    published, n_after = specimen.published, len(specimen.published.after)
    fitting = [text for text in TEXTS if len(published.ids(text)) <= loaded.facts.max_tokens]
    assert len(fitting) > 3
    for pieces in alone_and_together(
        lambda texts: token_log_likelihoods(loaded, texts, encoder_reads=reads, encoder_text=CUE), fitting
    ):
        for text, piece in zip(fitting, pieces, strict=True):
            ids = published.ids(text)
            expected = by_plain_transformers(
                specimen, published.ids({"nothing": "", "sentence": text, "text": CUE}[reads]), ids
            )[len(published.before) : len(ids) - n_after]
            if not len(expected):
                assert "no token to score" in piece["excluded"]
                continue
            np.testing.assert_allclose(piece["log_likelihoods"], expected, rtol=1e-6, atol=TOLERANCE)


@torch.inference_mode()
def by_masks_plainly(specimen: Specimen, ids: list[int], place: int, mask: int, begin: list[int]) -> float:
    """log p of one token by the description of the challenge's enc_dec_mask: masked in the encoder's text, then read at
    the decoder's last position."""
    model: Any = specimen.unused()
    masked = [mask if at == place else token for at, token in enumerate(ids)]
    output = model(input_ids=torch.tensor([masked]), decoder_input_ids=torch.tensor([begin]))
    return float(torch.log_softmax(output.logits[0, -1].float(), dim=-1)[ids[place]])


MASKED_KINDS = {
    "<mask>": next(kind for kind in COMPARED_KINDS if kind.architecture == "BartForConditionalGeneration"),
    "<extra_id_0>": T5,  # its class adds the sentinels
}


@pytest.mark.parametrize("mask_token", MASKED_KINDS)
def test_by_masks_as_the_challenge(mask_token: str, tmp_path: Path) -> None:
    specimen = build(MASKED_KINDS[mask_token], tmp_path / "model")
    loaded = load_from_description(specimen.described, "seq2seq")
    tokenizer, published = loaded.tokenizer, specimen.published
    mask = tokenizer.convert_tokens_to_ids(mask_token)
    assert isinstance(mask, int) and mask != tokenizer.unk_token_id
    begin = [mask] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id, mask]
    assert len(begin) == (2 if mask_token == "<mask>" else 1)
    texts = [text for text in TEXTS if 0 < len(published.ids(text)) <= loaded.facts.max_tokens][:6]
    for pieces in alone_and_together(lambda some: token_log_likelihoods(loaded, some, encoder_reads="masked"), texts):
        for text, piece in zip(texts, pieces, strict=True):
            ids = published.ids(text)
            scored = range(len(published.before), len(ids) - len(published.after))
            if not scored:
                assert "no token to score" in piece["excluded"]
                continue
            expected = [by_masks_plainly(specimen, ids, place, mask, begin) for place in scored]
            np.testing.assert_allclose(piece["log_likelihoods"], expected, rtol=1e-6, atol=TOLERANCE)


def test_nothing_can_be_masked_without_a_mask_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load_from_description(without_template(tmp_path / "plain").described, "seq2seq")
    with pytest.raises(ModelError, match="has no mask token and no further special token"):
        token_log_likelihoods(loaded, ["雨だ。"], encoder_reads="masked")
    added = load_from_description(build(T5, tmp_path / "t5").described, "seq2seq")
    few = torch.nn.Embedding(added.tokenizer.convert_tokens_to_ids("<extra_id_0>"), 2)
    monkeypatch.setattr(added.model, "get_input_embeddings", lambda: few)
    with pytest.raises(ModelError, match="has no mask token"):  # one that the model has no embedding for
        token_log_likelihoods(added, ["雨だ。"], encoder_reads="masked")
    long = load_from_description(build(MASKED_KINDS["<mask>"], tmp_path / "bart").described, "seq2seq")
    (piece,) = token_log_likelihoods(long, ["雨だ。" * 400], encoder_reads="masked")
    assert "takes at most" in piece["excluded"]


def without_template(tmp_path: Path) -> Specimen:
    """A T5 whose tokenizer adds no special token: minicons leaves them out on both sides."""
    tokens = unigram("PreTrainedTokenizerFast", "<pad> </s> <unk>", **T5_ROLES)
    return build(replace(T5, tokens=tokens), tmp_path / "t5")


@pytest.mark.filterwarnings("ignore:tokenizer is changed by adding:UserWarning")  # by minicons
def test_equal_to_minicons(tmp_path: Path) -> None:
    specimen = without_template(tmp_path)
    loaded = load_from_description(specimen.described, "seq2seq")
    reference = scorer.Seq2SeqScorer(specimen.model, "cpu", tokenizer=specimen.tokenizer)
    texts = [*ENGLISH[:3], *JAPANESE[:3]]
    theirs = [
        reference.conditional_score([CUE], [text], reduction=lambda scores: scores.sum(0).item())[0] for text in texts
    ]
    pieces = token_log_likelihoods(loaded, texts, encoder_reads="text", encoder_text=CUE)
    ours = [float(piece["log_likelihoods"].sum(dtype=np.float64)) for piece in pieces]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4)


def test_an_encoder_that_would_read_nothing_at_all(tmp_path: Path) -> None:
    loaded = load_from_description(without_template(tmp_path).described, "seq2seq")
    with pytest.raises(ModelError, match="would read nothing at all"):
        token_log_likelihoods(loaded, ["雨"])
    with pytest.raises(InputError, match="An encoder is given one of nothing, sentence, text, masked"):
        token_log_likelihoods(loaded, ["雨"], encoder_reads="itself")


def test_control_tokens_in_the_text_for_the_encoder_are_read_as_these(tmp_path: Path) -> None:
    specimen = build(T5, tmp_path / "t5")
    loaded = load_from_description(specimen.described, "seq2seq")
    (piece,) = token_log_likelihoods(loaded, ["雨だ。"], encoder_reads="text", encoder_text="<unk>")
    ids = specimen.published.ids("雨だ。")
    read = [specimen.published.roles["unk_token"], *specimen.published.after]
    expected = by_plain_transformers(specimen, read, ids)[: len(ids) - 1]
    np.testing.assert_allclose(piece["log_likelihoods"], expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("name", ["T5EncoderModel", "T5Model"])
def test_what_was_published_without_the_head(name: str, tmp_path: Path) -> None:
    kind: ModelKind = replace(T5, architecture=name)
    specimen = build(kind, tmp_path / "t5")
    assert not specimen.described.facts.n_seq2seq_parameters
    with pytest.raises(ModelError, match="has no decoder with a language-model head"):
        load_from_description(specimen.described, "seq2seq")


def test_a_missing_decoder_is_no_decoder(tmp_path: Path) -> None:
    """An encoder alone whose configuration names the class with the head: read as an encoder, not scored by chance."""
    specimen = build(replace(T5, architecture="T5EncoderModel"), tmp_path / "t5")
    change_config(specimen.folder, architectures=["T5ForConditionalGeneration"])
    described = Specimen(specimen.kind, specimen.folder, specimen.model, specimen.published).described
    load_from_description(described, "encode")
    with pytest.raises(ModelError, match=r"lack .* parts that a T5ForConditionalGeneration needs"):
        load_from_description(described, "seq2seq")
