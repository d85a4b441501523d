"""Entities right or wrong: by hand, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import InputError
from engine.measures.entity_accuracy import entity_hits

NAN = np.nan


def test_by_hand() -> None:
    candidates = ["彼はＴＯＫＹＯへ行った", "彼は東京都へ行った", "彼は京都へ行った", "ﾊﾟﾘの町", "a straße", "anything"]
    accepted = [["東京", "Tokyo"], ["東京"], ["東京", "とうきょう"], ["パリ"], ["STRASSE"], []]
    # Full-width letters fold to Latin ones; a part of a longer word counts; 京都 is neither form; half-width kana with
    # its mark is パ; ß is ss; no form, no score.
    np.testing.assert_array_equal(entity_hits(candidates, accepted), [1, 1, 0, 1, 1, NAN])
    assert np.nanmean(entity_hits(candidates, accepted)) == 4 / 5


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="2 candidates and 1 lists"):
        entity_hits(["a", "b"], [["a"]])
    with pytest.raises(InputError, match="of pair 2, 3 has none"):
        entity_hits(["a", "b", "c"], [["a"], [""], ["c", " "]])
