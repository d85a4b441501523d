"""Tokens of two sentences beside each other: by hand, against the reference code's spans, and nothing is lost."""

from __future__ import annotations

import difflib

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.measures.minimal_pairs.token_alignment import Slot, aligned_tokens

sentence = st.lists(st.sampled_from("abcde"), max_size=12)


def test_by_hand() -> None:
    # one word for two, a common end, one word more
    assert aligned_tokens(["the", "old", "cat", "slept"], ["the", "dog", "slept", "well"]) == [
        Slot("equal", 0, 0),
        Slot("replace", 1, 1),
        Slot("replace", 2, None),
        Slot("equal", 3, 2),
        Slot("insert", None, 3),
    ]
    assert aligned_tokens([], []) == [] and aligned_tokens([], ["a"]) == [Slot("insert", None, 0)]


def spans_of_the_reference(first: list[str], second: list[str]) -> tuple[list[int], list[int]]:
    """`get_span` of CrowS-Pairs' metric.py, written anew: the positions in the "equal" runs."""
    shared: tuple[list[int], list[int]] = ([], [])
    for name, i, j, k, m in difflib.SequenceMatcher(None, first, second).get_opcodes():
        if name == "equal":
            shared[0].extend(range(i, j))
            shared[1].extend(range(k, m))
    return shared


@settings(max_examples=100)
@given(first=sentence, second=sentence)
def test_equal_slots_are_the_references_spans_and_every_token_is_placed(first: list[str], second: list[str]) -> None:
    slots = aligned_tokens(first, second)
    equal = [slot for slot in slots if slot.change == "equal"]
    assert ([slot.first for slot in equal], [slot.second for slot in equal]) == spans_of_the_reference(first, second)
    assert [slot.first for slot in slots if slot.first is not None] == list(range(len(first)))
    assert [slot.second for slot in slots if slot.second is not None] == list(range(len(second)))
    for change, i, j in slots:
        assert (change == "equal") == (i is not None and j is not None and first[i] == second[j] and change == "equal")
        assert change != "delete" or j is None
        assert change != "insert" or i is None


def test_frequent_tokens_of_long_sentences_still_meet() -> None:
    # difflib's autojunk would call "a" junk in 200 tokens or more
    long = ["a"] * 150 + ["b"] + ["a"] * 150
    assert all(slot.change == "equal" for slot in aligned_tokens(long, list(long)))
