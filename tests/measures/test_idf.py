"""idf and the 70/30 threshold: by hand, against bert_score, on large dictionaries, and through files."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.evaluations.shared import idf_files
from engine.evaluations.shared.idf_files import read_idf, write_idf
from engine.measures.idf import IdfDictionary, count_documents

TOKENS = [f"t{index}" for index in range(12)]


def dictionary(counts: dict[str, int], n_documents: int = 20) -> IdfDictionary:
    return IdfDictionary("by hand", n_documents, counts, "a tokenizer", "file")


def plain(n: int) -> np.ndarray:
    return np.zeros(n, dtype=bool)


def test_by_hand() -> None:
    counted = count_documents([["は", "猫", "は"], ["は", "犬"], ["は"], []], "tiny", "t", "sentence")
    assert counted.n_documents == 4 and dict(counted.document_counts) == {"は": 3, "犬": 1, "猫": 1}
    # idf = ln((4 + 1) / (df + 1)): は ln(5/4), 猫 ln(5/2), unseen 鳥 ln(5/1); the special token 0 whatever it is called
    got = counted.idf(["は", "猫", "鳥", "鳥"], [False, False, False, True])
    assert got.tolist() == pytest.approx([math.log(5 / 4), math.log(5 / 2), math.log(5), 0.0], rel=1e-15)
    assert got[3] == 0.0


def test_a_token_in_every_document_says_nothing() -> None:
    assert count_documents([["a"], ["a"]], "n", "t", "u").idf(["a"], [False]).tolist() == [0.0]


def test_special_tokens_are_zero_counted_or_not() -> None:
    for documents in ([["[CLS]", "a"], ["b"]], [["a"], ["b"]]):
        assert count_documents(documents, "n", "t", "u").idf(["[CLS]"], [True]).tolist() == [0.0]


@pytest.mark.filterwarnings("ignore")  # what bert_score's imports warn of is not ours
def test_equals_bert_scores_dictionary() -> None:
    get_idf_dict = pytest.importorskip("bert_score.utils").get_idf_dict
    random = np.random.default_rng(5)
    # 0 and 99 are the special tokens
    documents = [[0, *random.integers(1, 40, random.integers(1, 30)).tolist(), 99] for _ in range(25)]
    theirs = get_idf_dict(documents, None, nthreads=0)
    ours = count_documents([map(str, document) for document in documents], "n", "t", "u")
    tokens = [*range(45), 99]
    # the same logarithms; bert_score's specials come to 0 because they stand in every document
    assert ours.idf(list(map(str, tokens)), [token in (0, 99) for token in tokens]).tolist() == pytest.approx(
        [theirs[token] for token in tokens], rel=1e-15
    )


def test_threshold_by_hand() -> None:
    # Ten entries in 20 documents. Sorted by idf, the lower 70% are the seven with the highest counts:
    # 20 18 16 14 12 10 8 | 3 2 1. The boundary is the idf of count 8, ln(21 / 9); above it lie 3, 2, 1.
    counts = dict(zip("abcdefghij", [3, 18, 8, 1, 20, 16, 2, 12, 10, 14], strict=True))
    entries = dictionary(counts)
    assert entries.threshold() == pytest.approx(math.log(21 / 9), rel=1e-15)
    low = entries.idf(list(counts), plain(10)) > entries.threshold()
    assert [token for token, is_low in zip(counts, low, strict=True) if is_low] == ["a", "d", "g"]
    assert entries.threshold(0.9) == pytest.approx(math.log(21 / 3), rel=1e-15)
    assert entries.threshold(1.0) == pytest.approx(math.log(21 / 2), rel=1e-15)
    assert entries.threshold(0.0) == -math.inf


def test_ties_with_the_boundary_are_not_low_frequency() -> None:
    # Ten entries, five of them in one document: the boundary falls among those, none is above it.
    # An unseen token is.
    entries = dictionary(dict(zip("abcdefghij", [9, 8, 7, 6, 5, 1, 1, 1, 1, 1], strict=True)))
    idf = entries.idf(["a", "f", "j", "never seen"], plain(4))
    assert (idf > entries.threshold()).tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    ("quantile", "n_entries", "n_above"), [(0.7, 10, 3), (0.29, 100, 71), (0.7, 7, 3), (0.07, 100, 93)]
)
def test_the_lower_part_is_rounded_down_to_whole_entries(quantile: float, n_entries: int, n_above: int) -> None:
    # 0.29 * 100 is 28.999…96 and 0.07 * 100 is 7.000…01 in floating point: 29 and 7 are meant. 0.7 * 7 = 4.9 -> 4.
    entries = dictionary({str(count): count for count in range(1, n_entries + 1)}, n_documents=n_entries)
    idf = entries.idf(list(entries.document_counts), plain(n_entries))
    assert int((idf > entries.threshold(quantile)).sum()) == n_above


@settings(max_examples=60)
@given(
    documents=st.lists(st.lists(st.sampled_from(TOKENS), max_size=8), min_size=1, max_size=12),
    quantile=st.floats(0, 1),
    seed=st.integers(0, 1000),
)
def test_properties(documents: list[list[str]], quantile: float, seed: int) -> None:
    counted = count_documents(documents, "n", "t", "u")
    idf = counted.idf(TOKENS, plain(len(TOKENS)))
    # bounds, and the rarer the higher
    assert (idf >= 0).all() and (idf <= math.log(len(documents) + 1)).all()
    counts = np.array([counted.document_counts.get(token, 0) for token in TOKENS])
    assert (np.diff(idf[np.argsort(counts, kind="stable")]) <= 0).all()
    # neither the order of the documents nor of their tokens matters, nor for idf repetition within one
    random = np.random.default_rng(seed)
    mixed = [list(map(str, random.permutation(documents[index]))) for index in random.permutation(len(documents))]
    assert count_documents(mixed, "n", "t", "u") == counted
    assert count_documents(mixed, "another name", "t", "u").fingerprint == counted.fingerprint
    twice = count_documents([document * 2 for document in documents], "n", "t", "u")
    assert twice.document_counts == counted.document_counts and twice.n_tokens == 2 * counted.n_tokens
    # the probabilities of the entries and of all that is unseen sum to 1, and the more frequent is the more probable
    if counted.n_tokens:
        entries = list(counted.token_counts)
        probable = np.exp(counted.unigram_log_probability([*entries, "never seen"]))
        assert probable.sum() == pytest.approx(1) and (probable[:-1] > probable[-1]).all()
        frequency = np.array(list(counted.token_counts.values()))
        assert (np.diff(probable[:-1][np.argsort(frequency, kind="stable")]) >= 0).all()
    if counted.document_counts:
        n_above = int(
            (
                counted.idf(list(counted.document_counts), plain(len(counted.document_counts)))
                > counted.threshold(quantile)
            ).sum()
        )
        assert n_above <= math.ceil((1 - quantile) * len(counted.document_counts) + 1e-6)
        assert counted.threshold(quantile) < math.log(len(documents) + 1)  # so unseen tokens are always above it


def test_unigram_probabilities_by_hand() -> None:
    # Occurrences: は 3, 猫 1, so n_tokens = 4 and V = 2; the denominator is 4 + 2 + 1 = 7: は 4/7, 猫 2/7, unseen 1/7.
    counted = count_documents([["は", "は", "猫"], ["は"]], "n", "t", "u")
    found = counted.unigram_log_probability(["猫", "は", "犬", "は"])
    assert found == pytest.approx([math.log(2 / 7), math.log(4 / 7), math.log(1 / 7), math.log(4 / 7)], rel=1e-15)
    assert found.dtype == np.float64 and counted.unigram_log_probability([]).shape == (0,)


def test_without_occurrences_there_is_no_unigram_probability() -> None:
    with pytest.raises(InputError, match="'by hand' holds documents only"):
        dictionary({"a": 3}).unigram_log_probability(["a"])


@pytest.mark.parametrize(
    ("counts", "n_tokens", "said"),
    [
        ({"a": 1, "b": 5}, 6, "do not go with its documents"),
        ({"a": 3}, 3, "do not go with its documents"),
        ({"a": 3, "c": 5}, 8, "do not go with its documents"),
        ({"a": 3, "b": 5}, 9, "says it has 9 tokens; its pieces occur 8"),
        ({}, 4, "says it has 4 tokens; its pieces occur 0"),
    ],
)
def test_occurrences_that_cannot_be_are_refused(counts: dict[str, int], n_tokens: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        IdfDictionary("n", 5, {"a": 3, "b": 2}, "t", "u", counts, n_tokens)


def test_a_fingerprint_tells_dictionaries_apart() -> None:
    one = IdfDictionary("n", 5, {"a": 3, "b": 2}, "t", "u")
    others = [
        IdfDictionary("n", 6, {"a": 3, "b": 2}, "t", "u"),
        IdfDictionary("n", 5, {"a": 3, "b": 1}, "t", "u"),
        IdfDictionary("n", 5, {"a": 3, "b": 2}, "s", "u"),
        IdfDictionary("n", 5, {"a": 3, "c": 2}, "t", "u"),
        IdfDictionary("n", 5, {"a": 3, "b": 2}, "t", "u", {"a": 3, "b": 3}, 6),
        IdfDictionary("n", 5, {"a": 3, "b": 2}, "t", "u", {"a": 4, "b": 2}, 6),
    ]
    assert len({one.fingerprint, *(other.fingerprint for other in others)}) == 7


@pytest.mark.parametrize("name", ["novel.json", "novel.json.gz"])
def test_a_file_gives_the_dictionary_back(tmp_path: Path, name: str) -> None:
    counted = count_documents([["は", "猫"], ["は", '"引用"', "\u2028"]], "novel", "sha256:ab", "article")
    write_idf(counted, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    assert read_idf(tmp_path / name) == counted
    write_idf(counted, tmp_path / name)
    assert (tmp_path / name).read_bytes() == first, "the same dictionary must give the same bytes"
    assert [path.name for path in tmp_path.iterdir()] == [name], "no temporary file may stay"
    assert read_idf(first, "an upload") == counted
    (tmp_path / "beside").touch()
    assert (tmp_path / name).stat().st_mode == (tmp_path / "beside").stat().st_mode, "readable like other files"


def test_files_of_the_first_format_are_read(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_bytes(stored())
    old = read_idf(tmp_path / "old.json")
    assert (old.document_counts, old.token_counts, old.n_tokens) == ({"a": 1}, {}, 0)
    write_idf(old, tmp_path / "new.json.gz")
    assert read_idf(tmp_path / "new.json.gz") == old


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_idf(dictionary({"a": 1}), tmp_path / "absent" / "a.json")


def test_a_small_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idf_files, "MAX_BYTES", 1000)
    with pytest.raises(InputError, match="unpacks to more than"):
        read_idf(gzip.compress(stored() + b" " * 5000), "bomb.json.gz")


def stored(**changes: object) -> bytes:
    content = {
        "format": "hakari-idf-1",
        "name": "n",
        "tokenizer": "t",
        "unit": "u",
        "n_documents": 3,
        "document_counts": {"a": 1},
    }
    return json.dumps({**content, **changes}).encode()


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("a.json", b"", "is not an idf dictionary"),
        ("a.json", b"[1, 2]", "is not an idf dictionary"),
        ("pairs.csv", b"reference,candidate\n", "pairs.csv is not an idf dictionary"),
        ("a.json", b"\xff\xfe{}", "is not an idf dictionary"),
        ("a.json", stored(format="other"), "is not an idf dictionary"),
        ("a.json", stored(document_counts={"a": "1"}), "damaged"),
        ("a.json", stored(document_counts={"a": True}), "damaged"),
        ("a.json", stored(document_counts=None), "damaged"),
        ("a.json", stored(n_documents=2.5), "damaged"),
        ("a.json", stored(unit=None), "damaged"),
        ("a.json", stored(document_counts={"a": 4}), "counts 'a' in 4 documents; possible are 1 to 3"),
        ("a.json", stored(format="hakari-idf-3"), "is not an idf dictionary"),
        ("a.json", stored(token_counts=[1, 2]), "damaged"),
        ("a.json", stored(token_counts=[0]), "do not go with its documents"),
        ("a.json", stored(token_counts={"a": 1}), "damaged"),
        ("a.json", stored(n_documents=10**400), "damaged"),
        ("a.json", stored(token_counts=[10**4000]), "damaged"),
        ("a.json", stored().replace(b": 3,", b": " + b"9" * 5000 + b","), "cannot be read"),
        ("a.json", stored().replace(b'{"a": 1}', b'{"a": 1, "a": 2}'), "names a key twice"),
        ("a.json", b"[" * 100_000, "cannot be read"),
        ("a.json.gz", gzip.compress(stored(), mtime=0)[:-12], "cannot be read"),
    ],
)
def test_an_unreadable_file_is_refused(tmp_path: Path, name: str, raw: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(InputError) as caught:
        read_idf(tmp_path / name)
    assert said in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no idf dictionary"):
        read_idf(tmp_path / "absent.json")


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(InputError, match="over no document"):
        count_documents([], "n", "t", "u")
    with pytest.raises(InputError, match="counts 'a' in 0 documents"):
        dictionary({"a": 0})
    with pytest.raises(InputError, match="has no entries"):
        count_documents([[]], "n", "t", "u").threshold()
    with pytest.raises(InputError, match="between 0 and 1; got 70"):
        dictionary({"a": 1}).threshold(70)
    with pytest.raises(InputError, match="2 tokens need as many"):
        dictionary({"a": 1}).idf(["a", "b"], [False])
