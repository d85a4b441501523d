"""What is to be said of the tokens of an alignment, whatever their scoring."""

from __future__ import annotations

import numpy as np

from engine.datasets.rows import row_notice
from engine.evaluations.alignment.pair_tokens import category_texts, tokens_by_model
from engine.evaluations.alignment.records import Result
from engine.language.quantities import count
from engine.messages.message import Message, list_of, together

TEXTS_IN_NOTICE = 5
COMPARED = Message(
    "To the model all unknown tokens are one. Where one matches another, a penalty compares the texts; "
    "F1 without a penalty takes them for the same token."
)


def unknown_token_notices(result: Result) -> list[Message]:
    """For each model that lacks some text in its vocabulary: the rows, how many tokens, and the first of the texts."""
    notices = []
    for model, tokens in tokens_by_model(result).items():
        unknown = np.flatnonzero(tokens.unknown)
        if not len(unknown):
            continue
        lines = tokens.table.iloc[unknown]
        texts = list(dict.fromkeys(category_texts(lines["surface"]).tolist()))
        named = list_of([*texts[:TEXTS_IN_NOTICE], *(["…"] if len(texts) > TEXTS_IN_NOTICE else [])])
        rows = list(dict.fromkeys(lines["row"].tolist()))
        in_rows = row_notice(
            rows,
            Message("{rows} contains text that is not in the vocabulary: {listed}."),
            Message("{rows} contain text that is not in the vocabulary: {listed}."),
        )[0]
        meaning = (
            Message("{unknown} stands for: {named}.", unknown=count(len(unknown), "unknown token"), named=named)
            if len(unknown) == 1
            else Message("{unknown} stand for: {named}.", unknown=count(len(unknown), "unknown token"), named=named)
        )
        notices.append(together(" ", (Message("{model}: {in_rows}", model=model, in_rows=in_rows), meaning, COMPARED)))
    return notices
