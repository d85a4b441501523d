"""Which rows of a dataset contain a control token ([SEP], <s>) that a model cannot but read as such."""

from __future__ import annotations

from collections.abc import Sequence

from engine.datasets.rows import row_notice
from engine.inference.gateway import GatewaySession
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts
from engine.models.tokenization.control_spellings import Spellings

ONE_ROW = Message("{model}: {rows} contains {token}: {listed}. It reads {token} as a control token and not as text.")
MORE_ROWS = Message("{model}: {rows} contain {token}: {listed}. It reads {token} as a control token and not as text.")


def control_token_notices(
    all_facts: Sequence[ModelFacts], rows: Sequence[int], texts_by_row: Sequence[Sequence[str]], session: GatewaySession
) -> list[str]:
    """A notice for each model and control token that it read in a text as such, with the rows.

    A control token in a text is read as plain text where the tokenizer can: then it is not reported. rows: the
    numbers in the file, texts_by_row: the texts of each as the models read them.
    """
    notices = []
    for facts in all_facts:
        spellings = Spellings(facts.control_tokens)
        suspects = [
            (row, text)
            for row, texts in zip(rows, texts_by_row, strict=True)
            for text in texts
            if spellings.occur_in(text)
        ]
        if not suspects:
            continue
        pieces = session.control_tokens_read(facts.name, [text for _, text in suspects])
        rows_by_token: dict[str, list[int]] = {}
        for (row, _), piece in zip(suspects, pieces, strict=True):
            for token in piece["tokens"]:
                rows_by_token.setdefault(token, []).append(row)
        notices += [
            notice
            for token, numbers in rows_by_token.items()
            for notice in row_notice(list(dict.fromkeys(numbers)), ONE_ROW, MORE_ROWS, model=facts.name, token=token)
        ]
    return notices
