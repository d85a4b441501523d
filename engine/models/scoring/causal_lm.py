"""Log-likelihoods of causal language models, token by token: log p(token | the tokens before it).

A common prefix of several texts is read once, for example that of the two sentences of a minimal pair.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from engine.models.finite import require_finite
from engine.models.loading.devices import on_device
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.attention.packing import TREE_TOKENS, packed_trees, supports_packing
from engine.models.scoring.batching import budget_of_batches, computing, groups_for, padded, run_buckets
from engine.models.scoring.layers.logit_lens import LogitLens, logit_lens
from engine.models.scoring.lm_head import row_costs, target_log_likelihoods_at
from engine.models.scoring.prefixes import Row, pack_sequences
from engine.models.scoring.probes import batching_of, require_causal
from engine.models.scoring.scored_tokens import excluded_piece, scored_piece, too_long
from engine.models.scoring.tree_pass import supports_tree_attention, tree_inputs
from engine.models.tokenization.encoding import pad_id
from engine.models.tokenization.prefix_tokens import AUTO, prefix_tokens
from engine.models.tokenization.spans import Spans
from engine.models.tokenization.template import opening_ids
from engine.models.tokenization.token_cache import TOKENS
from engine.models.tokenization.words.beginnings import WordBeginnings, word_beginnings

# Targets that stand for sets of pieces: those that may follow where a word has ended, and those that may begin a text
# without white space.
_AFTER_A_WORD, _FIRST = -1, -2


@dataclass(frozen=True)
class TokenSequence:
    """The ids that the model reads of one text; id `at[k]` is scored and is token `tokens[k]` of the text.

    With `targets`, what is scored at `at[k]` is targets[k], which may be a set of pieces and follow the last id;
    the first |S| are the tokens. shift: from the place of a token in the text to its place in `ids`.
    """

    ids: list[int]
    at: np.ndarray  # int64 (|S|,), or (|S| + number of sets,)
    tokens: np.ndarray  # int64 (|S|,)
    shift: int = 0
    targets: np.ndarray | None = None  # int64, as many as `at`


def token_log_likelihoods(
    loaded: LoadedModel,
    texts: Sequence[str],
    *,
    prefix: Sequence[str] | None = None,
    leading_space: bool = False,
    word_boundaries: bool = False,
    all_layers: bool = False,
) -> list[dict[str, Any]]:
    """The log-likelihood of each token of each text given the tokens before it, under a causal model, in nats.

    prefix: the special tokens that the model reads before each text, in place of those that the tokenizer itself puts
    there (`prefix_tokens` of the model's facts; None: those of its "auto"). With an empty one the first token has no
    context and is **not scored**, so that a difference between two sentences in their first token is not measured.
    leading_space: put a space in front of the text, as lm-evaluation-harness does for English BLiMP; spans stay
    those of the text as given.
    word_boundaries: of a tokenizer that marks where words begin (`word_beginnings`), pieces have "word_boundaries",
    too: float32 (|S| + 1,), in nats, before each token that begins a word the logarithm of the probability that
    one begins there or the text ends, at last the same after the text, and NaN before the tokens inside of words.
    Before the first token of a text that begins without white space it is the probability of all such pieces, or the
    end. They are from the same pass, however it is batched; the last token is then read, too.
    all_layers: pieces have "layer_log_likelihoods", too: float32 (|S|, n_layers + 1), what the logit lens says at each
    layer (`layers.logit_lens`), from the embeddings to the last, whose numbers are the log-likelihoods; and with word
    boundaries "layer_boundaries", float32 (|S| + 1, n_layers + 1).

    Never scored: special tokens; those that the tokenizer puts at the end (EOS) are not even read. Returns one
    piece per text, in order: tokens, ids int32 (|S|,), spans int32 (|S|, 2), log_likelihoods float32 (|S|,), each
    0 or less, higher being more probable, and the other fields of `scored_tokens.scored_piece`; or {"excluded":
    reason, "n_tokens": n} for a text without a token to score, or with more tokens than the model takes: no text is
    ever truncated.

    A text's numbers do not depend on the texts beside it, but for the rounding of float32 sums (about 1e-6).
    Equal to the sums of lm-evaluation-harness 0.4.13 (`HFLM.loglikelihood` with an empty context) with the prefix
    "auto", and with "none" to those of a text's tokens after its first one as the context. Equal to minicons'
    IncrementalLMScorer where it reads the same tokens: with `bos_token=True` where the tokenizer adds no BOS, and with
    False where it does.
    """
    require_causal(loaded)
    spans_by_text, sequences = read_texts(loaded, texts, ids_of_prefix(loaded, prefix), leading_space=leading_space)
    beginnings = word_beginnings(loaded.tokenizer) if word_boundaries else None
    if beginnings is not None and beginnings.are_marked:
        sequences = [
            _with_boundaries(sequence, spans, beginnings)
            for sequence, spans in zip(sequences, spans_by_text, strict=True)
        ]
    reasons = [too_long(loaded, len(sequence.ids)) for sequence in sequences]
    scorable = [i for i, reason in enumerate(reasons) if reason is None and len(sequences[i].tokens)]
    lens = logit_lens(loaded) if all_layers else None
    found = sequence_scores(loaded, [sequences[i] for i in scorable], beginnings, lens)
    by_layer = dict(zip(scorable, found, strict=True)) if all_layers else {}
    scores = {i: own[:, -1] if all_layers else own for i, own in zip(scorable, found, strict=True)}
    nothing = np.zeros(0, dtype=np.float32)
    return [
        excluded_piece(reason, len(sequence.ids))
        if reason
        else scored_piece(
            spans,
            sequence.tokens,
            scores.get(i, nothing)[: len(sequence.tokens)],
            read_ids=sequence.ids,
            unknown_id=loaded.tokenizer.unk_token_id,
            word_boundaries=_boundaries(sequence, scores[i]) if i in scores else None,
        )
        | (_of_layers(sequence, by_layer[i]) if i in by_layer else {})
        for i, (spans, sequence, reason) in enumerate(zip(spans_by_text, sequences, reasons, strict=True))
    ]


def ids_of_prefix(loaded: LoadedModel, prefix: Sequence[str] | None) -> list[int]:
    """The ids that a model reads before each text; prefix as in `token_log_likelihoods`."""
    tokens = prefix_tokens(loaded.facts, AUTO) if prefix is None else prefix
    return [int(loaded.tokenizer.convert_tokens_to_ids(token)) for token in tokens]  # type: ignore[arg-type]


def read_texts(
    loaded: LoadedModel,
    texts: Sequence[str],
    prefix_ids: list[int],
    *,
    leading_space: bool,
    control: Collection[str] = (),
) -> tuple[list[Spans], list[TokenSequence]]:
    """The tokens of each text, and what the model reads of it and scores there, of any length.

    control: the control tokens that are read as such where a text spells them out; they are read and not scored.
    """
    spans_by_text = _shifted_spans(loaded.tokenizer, texts, leading_space, control)
    n_opening = len(opening_ids(loaded.tokenizer))
    return spans_by_text, [_sequence(spans, prefix_ids, n_opening) for spans in spans_by_text]


def _shifted_spans(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], leading_space: bool, control: Collection[str]
) -> list[Spans]:
    if not leading_space:
        return TOKENS.spans(tokenizer, texts, control)
    # (n, 2)
    return [
        replace(spans, spans=np.where(spans.special[:, None], spans.spans, np.maximum(spans.spans - 1, 0)))
        for spans in TOKENS.spans(tokenizer, [" " + text for text in texts], control)
    ]


def _sequence(spans: Spans, prefix_ids: list[int], n_opening: int) -> TokenSequence:
    """The prefix, and the tokens of a text without the `n_opening` and the closing ones of the tokenizer's template."""
    text_tokens = np.flatnonzero(~spans.special)
    kept_ids = spans.ids[n_opening : int(text_tokens[-1]) + 1 if len(text_tokens) else 0]
    # A text that itself begins with the prefix is not given a second one.
    before = [] if kept_ids[: len(prefix_ids)] == prefix_ids else prefix_ids
    shift = len(before) - n_opening  # from the place in the text to the place in what the model reads
    tokens = text_tokens[text_tokens + shift >= max(1, len(prefix_ids))]
    return TokenSequence([*before, *kept_ids], tokens + shift, tokens, shift)


def _with_boundaries(sequence: TokenSequence, spans: Spans, beginnings: WordBeginnings) -> TokenSequence:
    """The sequence with the sets of pieces scored, too, where its tokens begin words and after its last token."""
    ids = np.array(sequence.ids, dtype=np.int64)[sequence.at]
    sets = np.where(beginnings.spaced[ids], _AFTER_A_WORD, 0)  # 0: inside of a word
    if len(ids) and sequence.tokens[0] == np.flatnonzero(~spans.special)[0] and not sets[0]:
        sets[0] = _FIRST
    begin = np.flatnonzero(sets)
    return replace(
        sequence,
        at=np.concatenate([sequence.at, sequence.at[begin], [len(sequence.ids)]]),
        targets=np.concatenate([ids, sets[begin], [_AFTER_A_WORD]]),
    )


def _of_layers(sequence: TokenSequence, scores: np.ndarray) -> dict[str, np.ndarray]:
    """The fields of a piece that are of all layers, of what was scored of its sequence, (n, n_layers + 1)."""
    boundaries = _boundaries(sequence, scores)
    return {
        "layer_log_likelihoods": scores[: len(sequence.tokens)],
        **({} if boundaries is None else {"layer_boundaries": boundaries}),
    }


def _boundaries(sequence: TokenSequence, scores: np.ndarray) -> np.ndarray | None:
    """Of what was scored of a sequence the sets, before the token where each stands: float32 (|S| + 1,), or None.

    scores (n,), or (n, n_layers + 1) for as many columns.
    """
    if sequence.targets is None:
        return None
    n = len(sequence.tokens)
    boundaries = np.full((n + 1, *scores.shape[1:]), np.nan, dtype=np.float32)
    boundaries[np.searchsorted(sequence.at[:n], sequence.at[n:])] = scores[n:]
    return boundaries


@torch.inference_mode()
def sequence_scores(
    loaded: LoadedModel,
    sequences: list[TokenSequence],
    beginnings: WordBeginnings | None = None,
    lens: LogitLens | None = None,
) -> list[np.ndarray]:
    """Log-likelihoods of what is scored of each sequence, tokens or sets of pieces: float32 (n,).

    With a lens those at every layer, (n, n_layers + 1).
    """
    if not sequences:
        return []
    sets = _members(loaded, beginnings) if beginnings is not None and beginnings.are_marked else None
    device, padding = loaded.device, pad_id(loaded.tokenizer)
    ends = np.cumsum([len(sequence.at) for sequence in sequences])
    shape = (int(ends[-1]),) if lens is None else (int(ends[-1]), lens.n_layers + 1)
    result = torch.empty(shape, dtype=torch.float32, device=device)
    batching = batching_of(loaded.model)
    # No token follows the last one, so the model need not read it, unless its numbers depend on the length of the text.
    read = [sequence.ids[:-1] if batching == "any" and sets is None else sequence.ids for sequence in sequences]
    longest = max(map(len, read))
    is_packed = supports_packing(loaded.model, longest, as_trees=True)
    as_trees = is_packed or (batching == "any" and supports_tree_attention(loaded.model, longest))
    rows = (
        [_single_row(number, ids) for number, ids in enumerate(read)]
        if not as_trees
        else pack_sequences(read, TREE_TOKENS)
        if is_packed
        else pack_sequences(read)
    )
    scored_by_row = _scored_tokens(rows, sequences, ends)
    # A column that several tokens follow, in several texts, is computed once for all of them.
    distinct_by_row = [np.unique(scored[:, 0], return_inverse=True) for scored in scored_by_row]

    def step(batch: list[int]) -> None:
        first_columns = np.zeros(len(batch), dtype=np.int64)
        if is_packed:
            packed = packed_trees(loaded.model, [rows[i] for i in batch])
            inputs, first_columns = packed.inputs, packed.starts
        elif as_trees:
            inputs = tree_inputs(loaded.model, [rows[i] for i in batch], padding)
        else:
            ids, attention = padded([rows[i].ids for i in batch], padding, device)
            inputs = {"input_ids": ids, "attention_mask": attention, "use_cache": False}
        columns = [distinct_by_row[i] for i in batch]
        firsts = np.cumsum([0, *(len(distinct) for distinct, _ in columns)])
        row_of, column_of, distribution, target, index = (
            on_device(numbers, device)
            for numbers in (
                np.repeat(np.arange(len(batch)) * (not is_packed), np.diff(firsts)),  # (n_distinct,)
                np.concatenate([start + distinct for start, (distinct, _) in zip(first_columns, columns, strict=True)]),
                np.concatenate([first + own for first, (_, own) in zip(firsts, columns, strict=False)]),  # (n_scored,)
                np.concatenate([scored_by_row[i][:, 1] for i in batch]),
                np.concatenate([scored_by_row[i][:, 2] for i in batch]),
            )
        )

        def score() -> torch.Tensor:
            return target_log_likelihoods_at(loaded.model, inputs, row_of, column_of, distribution, target, sets=sets)

        result[index] = score() if lens is None else lens.of_layers(score)

    lengths = [len(row.ids) for row in rows]
    n_distinct = [len(distinct) for distinct, _ in distinct_by_row]
    budget = budget_of_batches(loaded)
    with computing(loaded):
        run_buckets(
            row_costs(loaded.model, lengths, n_distinct, budget),
            budget,
            step,
            groups_for(batching, lengths),
            model=loaded.model,
            is_packed=is_packed,
        )
    scores = np.split(result.cpu().numpy(), ends[:-1])
    # A set of pieces may have no member, and so no probability.
    own = scores if sets is None else [np.where(np.isneginf(score), 0, score) for score in scores]
    require_finite(loaded, own, [sequence.ids for sequence in sequences])
    return scores


def _members(loaded: LoadedModel, beginnings: WordBeginnings) -> torch.Tensor:
    """The pieces of each set, on the model's device: bool (2, vocab), in the order of _AFTER_A_WORD and _FIRST."""
    members = np.zeros((2, int(loaded.model.config.get_text_config().vocab_size)), dtype=bool)
    n = min(members.shape[1], len(beginnings.text))  # a model may have more entries than its tokenizer, or fewer
    members[:, :n] = np.stack([beginnings.behind_a_word, beginnings.first_without_space])[:, :n]
    return on_device(members, loaded.device)


def _single_row(number: int, ids: list[int]) -> Row:
    positions = list(range(len(ids)))
    return Row(ids, positions, [position - 1 for position in positions], {number: positions})


def _scored_tokens(rows: Sequence[Row], sequences: Sequence[TokenSequence], ends: np.ndarray) -> list[np.ndarray]:
    """What is scored in each row, int64 (n_scored, 3): the column it follows, the token or set, its index among all."""
    columns_of_sequences = [columns for row in rows for columns in row.columns_by_sequence.values()]
    order = np.array([number for row in rows for number in row.columns_by_sequence], dtype=np.int64)  # (n_sequences,)
    read = [sequences[number].ids for number in order]
    scored = [sequences[number].at for number in order]
    counts = np.array([len(at) for at in scored], dtype=np.int64)
    at = np.concatenate(scored)  # (n_all,) the place of each scored token in its sequence
    columns, ids = (np.fromiter(chain.from_iterable(lists), np.int64) for lists in (columns_of_sequences, read))
    first_column, first_id = (np.cumsum([0, *map(len, lists)])[:-1] for lists in (columns_of_sequences, read))
    index_in_sequence = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
    given = [targets for number in order if (targets := sequences[number].targets) is not None]
    targets = np.concatenate(given) if given else ids[np.repeat(first_id, counts) + at]
    tokens = np.stack(
        [
            columns[np.repeat(first_column, counts) + at - 1],
            targets,
            np.repeat(ends[order] - counts, counts) + index_in_sequence,
        ],
        axis=1,
    )  # (n_all, 3)
    sequences_of_row = np.cumsum([len(row.columns_by_sequence) for row in rows])
    return np.split(tokens, np.cumsum(counts)[sequences_of_row - 1][:-1])
