"""Log-likelihoods from the decoder of an encoder-decoder, token by token: log p(token | those before it, the encoder's).

The decoder reads what its class makes of a target in training: the ids that the tokenizer writes, shifted by one
behind the token that the decoder begins with. So a text's special tokens stand where the model saw them.

Or by masks, as a masked model is: the encoder reads the text with one token masked, the decoder predicts what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from engine.errors import InputError, ModelError
from engine.messages.message import Message, list_of
from engine.models.loading.devices import on_device
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.batching import budget_of_batches, computing, groups_for, padded, run_buckets
from engine.models.scoring.lm_head import log_likelihoods_at, row_costs
from engine.models.scoring.probes import batching_of, require_causal
from engine.models.scoring.scored_tokens import excluded_piece, scored_piece, too_long
from engine.models.silence_transformers import one_line_message
from engine.models.tokenization.encoding import pad_id, token_ids
from engine.models.tokenization.plain_text import control_spellings
from engine.models.tokenization.spans import Spans
from engine.models.tokenization.token_cache import TOKENS

NOTHING, SENTENCE, TEXT, MASKED = "nothing", "sentence", "text", "masked"
ENCODER_READS = (NOTHING, SENTENCE, TEXT, MASKED)
_FIRST_SENTINEL = "<extra_id_0>"  # T5's


def token_log_likelihoods(
    loaded: LoadedModel, texts: Sequence[str], *, encoder_reads: str = NOTHING, encoder_text: str = ""
) -> list[dict[str, Any]]:
    """The log-likelihood of each token of each text under the decoder of an encoder-decoder, in nats.

    encoder_reads: what the encoder is given: "nothing", an empty text as the tokenizer writes it; "sentence", the text
    itself; "text", `encoder_text`, in which control tokens such as <extra_id_0> are read as these; "masked", the text
    with one token masked, in a copy for each token, of which the decoder predicts it: a pseudo-log-likelihood. The decoder
    has then read BOS and the mask token, or the mask token alone where there is no BOS. The mask token is the tokenizer's,
    or the first of its additional special tokens, T5's <extra_id_0>. So does `enc_dec_mask` of babylm-org/babylm-eval
    (2026), to rounding.

    Never scored: special tokens. Returns one piece per text, in order: tokens, ids int32 (|S|,), spans int32 (|S|, 2),
    log_likelihoods float32 (|S|,), each 0 or less, higher being more probable, and the other fields of
    `scored_tokens.scored_piece`; or {"excluded": reason, "n_tokens": n} for a text without a token to score, or with
    more tokens than the model takes: no text is ever truncated.

    A text's numbers do not depend on the texts beside it, but for the rounding of float32 sums (about 1e-6).
    Equal to minicons' Seq2SeqScorer (`conditional_score`, summed) where the tokenizer adds no special tokens: minicons
    leaves them out on both sides. Raises InputError for another setting, or an encoder's text that the model cannot
    take, and ModelError where the encoder would read no token at all, or there is no mask token.
    """
    if encoder_reads not in ENCODER_READS:
        raise InputError(
            Message(
                "An encoder is given one of {ENCODER_READS}; got {encoder_reads!r}.",
                ENCODER_READS=list_of(ENCODER_READS),
                encoder_reads=encoder_reads,
            )
        )
    require_causal(loaded)
    spans_by_text = TOKENS.spans(loaded.tokenizer, texts)
    if encoder_reads == MASKED:
        return _pieces_by_masks(loaded, spans_by_text)
    common = None if encoder_reads == SENTENCE else _encoder_ids(loaded, encoder_text if encoder_reads == TEXT else "")
    reasons = [_too_long(loaded, len(spans.ids)) for spans in spans_by_text]
    positions = [np.flatnonzero(~spans.special) for spans in spans_by_text]
    scorable = [i for i, reason in enumerate(reasons) if reason is None and len(positions[i])]
    decoder_ids = {i: _decoder_ids(loaded, spans_by_text[i].ids) for i in scorable}
    scores = dict(
        zip(
            scorable,
            _scores(
                loaded,
                [spans_by_text[i] for i in scorable],
                [decoder_ids[i] for i in scorable],
                [positions[i] for i in scorable],
                common,
            ),
            strict=True,
        )
    )
    return [
        excluded_piece(reason, len(spans.ids))
        if reason
        else scored_piece(
            spans,
            positions[i],
            scores.get(i, np.zeros(0, dtype=np.float32)),
            read_ids=decoder_ids.get(i, spans.ids),
            unknown_id=loaded.tokenizer.unk_token_id,
        )
        for i, (spans, reason) in enumerate(zip(spans_by_text, reasons, strict=True))
    ]


def _pieces_by_masks(loaded: LoadedModel, spans_by_text: Sequence[Spans]) -> list[dict[str, Any]]:
    """The pieces of texts whose tokens are masked for the encoder, one at a time."""
    mask, begin = _mask_and_begin(loaded)
    reasons = [too_long(loaded, len(spans.ids)) for spans in spans_by_text]
    positions = [
        np.zeros(0, dtype=np.int64) if reason else np.flatnonzero(~spans.special)
        for spans, reason in zip(spans_by_text, reasons, strict=True)
    ]
    scores = _masked_scores(loaded, spans_by_text, positions, mask, begin)
    return [
        excluded_piece(reason, len(spans.ids))
        if reason
        else scored_piece(spans, at, of_text, read_ids=spans.ids, unknown_id=loaded.tokenizer.unk_token_id)
        for spans, reason, at, of_text in zip(spans_by_text, reasons, positions, scores, strict=True)
    ]


def _mask_and_begin(loaded: LoadedModel) -> tuple[int, list[int]]:
    """The id of the mask token, and what the decoder reads before it predicts what is there."""
    tokenizer: Any = loaded.tokenizer
    further = [str(token) for token in getattr(tokenizer, "extra_special_tokens", None) or ()]
    first = _FIRST_SENTINEL if _FIRST_SENTINEL in further else next(iter(further), None)
    known = None if first is None else int(tokenizer.convert_tokens_to_ids(first))
    model: Any = loaded.model
    # T5's class may add sentinels to a tokenizer that the model has no embedding for.
    sentinel = known if known is not None and known < len(model.get_input_embeddings().weight) else None
    mask = tokenizer.mask_token_id if tokenizer.mask_token_id is not None else sentinel
    begin = [tokenizer.bos_token_id, mask] if tokenizer.bos_token_id is not None else [sentinel]
    if mask is None or None in begin:
        raise ModelError(
            Message(
                "The tokenizer of {name} has no mask token and no further special token such as <extra_id_0>, so nothing "
                "can be masked for its encoder. Let the encoder be given nothing, the sentence or a text.",
                name=loaded.facts.name,
            )
        )
    return int(mask), [int(token) for token in begin if token is not None]


@torch.inference_mode()
def _masked_scores(
    loaded: LoadedModel,
    spans_by_text: Sequence[Spans],
    positions: Sequence[np.ndarray],
    mask: int,
    begin: list[int],
) -> list[np.ndarray]:
    """Log-likelihoods float32 (n,) of the tokens at the `positions` int64 (n,) of each text, each masked alone."""
    rows = [(text, int(place)) for text, at in enumerate(positions) for place in at]
    model: Any = loaded.model
    device, padding = loaded.device, pad_id(loaded.tokenizer)
    result = torch.zeros(len(rows), dtype=torch.float32, device=device)
    lengths = np.array([len(spans_by_text[text].ids) for text, _ in rows], dtype=np.int64)
    if not rows:
        return [np.zeros(0, dtype=np.float32) for _ in positions]

    def step(batch: list[int]) -> None:
        copies, targets = [], []
        for row in batch:
            text, place = rows[row]
            ids = list(spans_by_text[text].ids)
            targets.append(ids[place])
            ids[place] = mask
            copies.append(ids)
        read, attended = padded(copies, padding, device)
        decoder = torch.tensor([begin], device=device).expand(len(batch), -1)
        inputs = {
            "input_ids": read,
            "attention_mask": attended,
            "decoder_input_ids": decoder,
            "decoder_attention_mask": torch.ones_like(decoder),
            "use_cache": False,
        }
        every, last = np.arange(len(batch)), np.full(len(batch), len(begin) - 1)
        places = (on_device(numbers, device) for numbers in (every, last, np.array(targets, dtype=np.int64)))
        result[on_device(np.array(batch, dtype=np.int64), device)] = log_likelihoods_at(model, inputs, *places)

    budget = budget_of_batches(loaded)
    with computing(loaded):
        run_buckets(
            row_costs(model, lengths, np.ones_like(lengths), budget),
            budget,
            step,
            groups_for(batching_of(model), lengths),
            model=model,
        )
    return np.split(result.cpu().numpy(), np.cumsum([len(at) for at in positions])[:-1])


def _encoder_ids(loaded: LoadedModel, text: str) -> list[int]:
    """The ids of what the encoder reads for every sentence."""
    control = [token for token in control_spellings(loaded.tokenizer).tokens if token in text]
    ids = token_ids(loaded.tokenizer, text, control=control)
    if reason := too_long(loaded, len(ids)):
        raise InputError(Message("The text for the encoder cannot be read. {reason}", reason=reason))
    if not ids:
        raise ModelError(
            Message(
                "The tokenizer of {name} makes no token of {text!r}, so its encoder would read nothing at all. Give it "
                "the sentence itself, or a text.",
                name=loaded.facts.name,
                text=text,
            )
        )
    return ids


def _decoder_ids(loaded: LoadedModel, ids: list[int]) -> list[int]:
    """What the decoder reads to predict `ids`, one for each, by the rule of the model's class.

    Classes without one (M2M-100, Blenderbot) shift by the token that the configuration names.
    """
    model: Any = loaded.model
    start = getattr(model.config, "decoder_start_token_id", None)
    if not hasattr(model, "prepare_decoder_input_ids_from_labels") and start is not None:
        return [int(start), *ids[:-1]]
    try:
        return list(model.prepare_decoder_input_ids_from_labels(labels=torch.tensor([ids])).flatten().tolist())
    except (AttributeError, TypeError, ValueError) as error:  # no rule, or no token to begin with
        raise ModelError(
            Message(
                "{name} ({architecture}) does not say what its decoder begins with: {error} Take config.json as it "
                "was published with the weights.",
                name=loaded.facts.name,
                architecture=loaded.facts.architecture,
                error=one_line_message(error),
            )
        ) from error


def _too_long(loaded: LoadedModel, n_tokens: int) -> str | None:
    """As `too_long`, with the decoder's own limit where it has one (LED, ProphetNet)."""
    limit = getattr(loaded.model.config, "max_decoder_position_embeddings", None)
    if limit and n_tokens > limit:
        return Message(
            "It has {n_tokens:,} tokens with the special ones, and the decoder of {name} takes at most {limit:,}.",
            n_tokens=n_tokens,
            name=loaded.facts.name,
            limit=limit,
        )
    return too_long(loaded, n_tokens)


@torch.inference_mode()
def _scores(
    loaded: LoadedModel,
    spans: list[Spans],
    decoder_ids: list[list[int]],
    positions: list[np.ndarray],
    common: list[int] | None,
) -> list[np.ndarray]:
    """Log-likelihoods float32 (n,) at the `positions` int64 (n,) of each text; common: what every encoder reads."""
    if not spans:
        return []
    model: Any = loaded.model
    device, padding = loaded.device, pad_id(loaded.tokenizer)
    n_scored = np.array([len(at) for at in positions])
    ends = np.cumsum(n_scored)
    result = torch.empty(int(ends[-1]), dtype=torch.float32, device=device)
    once = None
    with computing(loaded):
        if common is not None:
            once = model.get_encoder()(input_ids=torch.tensor([common], device=device))
    lengths = np.array([len(ids) for ids in decoder_ids])
    read = lengths if common is None else np.zeros_like(lengths)  # by the encoder: as long as the text, or already

    def step(batch: list[int]) -> None:
        ids, mask = padded([decoder_ids[i] for i in batch], padding, device)
        inputs: dict[str, Any] = {"decoder_input_ids": ids, "decoder_attention_mask": mask, "use_cache": False}
        if once is not None:
            states = once.last_hidden_state.expand(len(batch), -1, -1)
            inputs["encoder_outputs"] = type(once)(**{**once, "last_hidden_state": states})
            inputs["attention_mask"] = torch.ones(states.shape[:2], dtype=torch.int64, device=device)
        else:
            inputs["input_ids"], inputs["attention_mask"] = padded([spans[i].ids for i in batch], padding, device)
        rows = np.repeat(np.arange(len(batch)), n_scored[batch])
        columns = np.concatenate([positions[i] for i in batch])
        targets = np.concatenate([np.asarray(spans[i].ids, dtype=np.int64)[positions[i]] for i in batch])
        index = np.concatenate([np.arange(ends[i] - n_scored[i], ends[i]) for i in batch])
        result[on_device(index, device)] = log_likelihoods_at(
            model, inputs, *(on_device(numbers, device) for numbers in (rows, columns, targets))
        )

    budget = budget_of_batches(loaded)
    with computing(loaded):
        run_buckets(
            read + row_costs(model, lengths, n_scored, budget),
            budget,
            step,
            groups_for(batching_of(model), lengths),
            model=model,
        )
    return np.split(result.cpu().numpy(), ends[:-1])
