"""Files of vectors computed elsewhere: every layout gives the same numbers, and what is none is refused, row by row."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.reader_process import read
from engine.datasets.vectors import arrays
from engine.datasets.vectors.export import vector_files, vector_options
from engine.datasets.vectors.files import VectorFile, read_each, read_vectors, vectors_of_array, vectors_of_frame
from engine.datasets.vectors.matching import attached
from engine.errors import BadRow, InputError
from engine.messages.message import Message
from engine.runs.storage.artifacts import from_parquet, to_parquet

TEXTS = ("雨が降る。", "春が来た。", "秤で量る。", "猫が眠る。")
DATA = LabelledSentences("data.csv", TEXTS, ("天気", "天気", "物", "物"), (1, 2, 3, 4))
VECTORS = np.float32([[0.5, -1.25, 3.0], [1e-3, 2.0, -4.5], [0.0, 7.0, 1.0], [2.5, 2.5, 0.125]])


def npy(array: np.ndarray, **named: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **named) if named else np.save(file, array)
    return file.getvalue()


def parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


LISTS = [row.tolist() for row in VECTORS]
FRAME = pd.DataFrame({"sentence": TEXTS, "embedding": LISTS})
BY_DIMENSION = pd.DataFrame(VECTORS, columns=["dim_0", "dim_1", "dim_2"]).assign(text=TEXTS)
FILES = {
    "a.npy": npy(VECTORS),
    "b.npy": npy(VECTORS.astype(np.float64)),
    "a.npz": npy(VECTORS, arr_0=VECTORS),
    "a.safetensors": save({"vectors": VECTORS}),
    "a.csv": FRAME.assign(embedding=[json.dumps(row) for row in LISTS]).to_csv(index=False).encode(),
    "dims.csv": BY_DIMENSION.to_csv(index=False).encode(),
    "bare.tsv": pd.DataFrame(VECTORS).to_csv(index=False, sep="\t").encode(),
    "a.jsonl": "".join(
        json.dumps({"text": text, "vector": row}) + "\n" for text, row in zip(TEXTS, LISTS, strict=True)
    ).encode(),
    "a.parquet": parquet(FRAME),
    "dims.parquet": parquet(BY_DIMENSION),
}


@pytest.mark.parametrize("name", FILES)
def test_every_layout_gives_the_same_vectors(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    from_disk = read(read_vectors, path, name=name)
    from_memory = read_vectors(FILES[name], name)
    assert from_disk.digest == from_memory.digest
    with_vectors = attached(DATA, [from_disk])
    [of_model] = with_vectors.vectors
    np.testing.assert_array_equal(of_model.vectors, VECTORS)
    assert of_model.vectors.dtype == np.float32
    assert of_model.name == f"vectors/{name.rpartition('.')[0]}"
    assert with_vectors.content_hash != DATA.content_hash
    assert any(notice.startswith("Vectors from: --vectors ") for notice in with_vectors.notices)


def test_rows_are_matched_by_their_sentences_in_any_order() -> None:
    shuffled = vectors_of_frame(FRAME.iloc[[2, 0, 3, 1]], "shuffled")
    [of_model] = attached(DATA, [shuffled]).vectors
    np.testing.assert_array_equal(of_model.vectors, VECTORS)
    some = attached(DATA, [vectors_of_frame(FRAME.iloc[[3, 0]], "some")])
    assert np.isnan(some.vectors[0].vectors[[1, 2]]).all() and np.isfinite(some.vectors[0].vectors[[0, 3]]).all()
    assert any("2 rows of the data have a sentence that some has no vector of: 2, 3" in note for note in some.notices)
    with pytest.raises(InputError, match=r"has no vector of any sentence of data\.csv"):
        attached(
            DATA, [vectors_of_frame(FRAME.assign(sentence="other"), "other", skip_bad_rows=True)], skip_bad_rows=True
        )


def test_a_column_of_another_name_that_holds_the_sentences_is_what_rows_are_matched_by() -> None:
    """They were taken in the order of the rows, each for the vector of another sentence."""
    renamed = FRAME.rename(columns={"sentence": "文章"})
    content = renamed.iloc[[2, 0, 3, 1]].to_json(orient="records", lines=True, force_ascii=False).encode()
    data = attached(DATA, [read_vectors(content, "v.jsonl")])
    np.testing.assert_array_equal(data.vectors[0].vectors, VECTORS)
    assert any("are in its column '文章'" in notice for notice in data.notices)
    assert not any("order of the data" in notice for notice in data.notices)
    other = attached(DATA, [vectors_of_frame(renamed.assign(文章=["7", "8", "9", "10"]), "ids")])  # of no sentences
    np.testing.assert_array_equal(other.vectors[0].vectors, VECTORS)
    assert any("order of the data" in notice for notice in other.notices)


def test_several_models_of_a_file_keep_their_names_and_a_label_names_one() -> None:
    both = pd.concat([FRAME.assign(model="small"), FRAME.assign(model="large", embedding=[row[:2] for row in LISTS])])
    read_both = vectors_of_frame(both, "both")
    assert [of_model.name for of_model in attached(DATA, [read_both]).vectors] == ["vectors/small", "vectors/large"]
    assert [of_model.vectors.shape for of_model in attached(DATA, [read_both]).vectors] == [(4, 3), (4, 2)]
    with pytest.raises(InputError, match="holds vectors of 2 models"):
        attached(DATA, [read_both], ["E5"])
    [of_model] = attached(DATA, [vectors_of_array(VECTORS, "a.npy")], ["E5"]).vectors
    assert of_model.name == "E5=vectors/E5"
    with pytest.raises(InputError, match="two models are called vectors/a"):
        attached(DATA, [vectors_of_array(VECTORS, "a.npy"), vectors_of_array(VECTORS, "a.npy")])
    tensors = read_vectors(save({"b": VECTORS, "a": VECTORS[:, :2].copy()}), "t.safetensors")
    assert [of_model.name for of_model in attached(DATA, [tensors]).vectors] == ["vectors/a", "vectors/b"]


def test_without_sentences_the_numbers_of_rows_must_agree() -> None:
    with pytest.raises(InputError, match=r"a\.npy has 3 vectors, and data\.csv has 4 sentences"):
        attached(DATA, [vectors_of_array(VECTORS[:3], "a.npy")])
    # Rows that were left out of the data may be in the file, or not.
    part = LabelledSentences("d", (TEXTS[0], TEXTS[2]), ("x", "y"), (1, 3), left_out=(_bad(2), _bad(4)))
    for array in (VECTORS, VECTORS[[0, 2]]):
        [of_model] = attached(part, [vectors_of_array(array, "a.npy")]).vectors
        np.testing.assert_array_equal(of_model.vectors, VECTORS[[0, 2]])


def test_rows_that_cannot_be_read_keep_their_places_in_the_order_of_the_data() -> None:
    lines = [f"{row[0]},{row[1]},{row[2]}" for row in LISTS]
    lines[1] += ",9"  # a cell too many: the reader of tables leaves the row out
    content = "\n".join(["0,1,2", *lines]).encode()
    file = read_vectors(content, "a.csv", skip_bad_rows=True)
    assert [bad.row for bad in file.left_out] == [2]
    [of_model] = attached(DATA, [file], skip_bad_rows=True).vectors
    np.testing.assert_array_equal(of_model.vectors[[0, 2, 3]], VECTORS[[0, 2, 3]])
    assert np.isnan(of_model.vectors[1]).all()
    # As many rows of the data as are left of the file: the first and the last two, each with its own vector.
    part = LabelledSentences("d", (TEXTS[0], *TEXTS[1:3]), ("x",) * 3, (1, 2, 3), left_out=(_bad(4),))
    [of_model] = attached(part, [file], skip_bad_rows=True).vectors
    np.testing.assert_array_equal(of_model.vectors[[0, 2]], VECTORS[[0, 2]])
    assert np.isnan(of_model.vectors[1]).all()
    three = LabelledSentences("d", TEXTS[:3], ("x",) * 3, (1, 2, 3))
    with pytest.raises(InputError, match=r"a\.csv has 4 vectors, and d has 3 sentences"):
        attached(three, [file], skip_bad_rows=True)
    models = "\n".join(["model,0,1,2", *(f"{name},{line}" for name in "ab" for line in lines)]).encode()
    with pytest.raises(InputError, match="not known of which model") as caught:
        read_vectors(models, "a.csv", skip_bad_rows=True)
    assert [bad.row for bad in caught.value.rows] == [2, 6]


def _bad(row: int) -> BadRow:
    return BadRow(row, Message("empty"))


WRONG = VECTORS.copy()
WRONG[1, 2], WRONG[3, 0] = np.inf, np.nan


@pytest.mark.parametrize(
    ("name", "content", "words", "rows"),
    [
        ("a.npy", npy(WRONG), "rows that are no vectors of finite numbers", [2, 4]),
        ("a.npy", npy(VECTORS.astype(np.float64) * 1e300), "no vectors of finite numbers", [1, 2, 3, 4]),
        ("a.npy", npy(VECTORS[0]), r"the array is \(3,\) of float32", []),
        ("a.npy", npy(np.array(["a", "b"])), "no vectors", []),
        ("a.npy", npy(np.array([[1, 2], None], dtype=object)), "holds objects and no numbers", []),
        ("a.npy", b"\x93NUMPY", "is no file of numpy", []),
        ("a.npz", b"PK", "is no file of numpy", []),
        ("a.safetensors", b"\x08", "cannot be read as .safetensors", []),
        ("a.pt", b"", "is a pickle, which may run programs", []),
        ("a.parquet", b"PAR1", "is no Parquet file", []),
        ("a.csv", b"sentence,score\na,0.5\n", "no vectors that are recognised. Found: 'sentence', 'score'", []),
        ("a.csv", b'text,vector\na,"[1, 2]"\nb,oh\nc,"[1, 2, 3]"\nd,"[3, 4]"\n', "finite numbers", [2, 3]),
        ("a.csv", b"text,0,1\na,1,2\nb,x,2\n", "finite numbers", [2]),
        ("a.csv", b"text,dim_0,dim_2\na,1,2\n", "no vectors that are recognised", []),
    ],
)
def test_what_is_no_vector_is_refused_with_every_row(name: str, content: bytes, words: str, rows: list[int]) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_vectors(content, name)
    assert [bad.row for bad in caught.value.rows] == rows


def zipped(files: dict[str, bytes], *, damaged: bool = False) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    raw = bytearray(file.getvalue())
    if damaged:  # the compressed bytes of the first file, behind its header and its name
        start = 30 + len(next(iter(files)))
        raw[start : start + 20] = b"\xff" * 20
    return bytes(raw)


def encrypted() -> bytes:
    raw = bytearray(zipped({"a.npy": npy(VECTORS)}))
    raw[6] |= 1
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    return bytes(raw)


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.npz", zipped({"notes.txt": b"not an array"})),
        ("a.npz", zipped({"a.npy": npy(VECTORS)}, damaged=True)),
        ("a.npz", encrypted()),
        ("a.npy", header("{'descr': '<f4', 'fortran_order': False, 'shape': (4, (")),
        ("a.npy", header("{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * 30 + ", 2), }")),
        ("a.npy", header("{'descr': (), 'fortran_order': False, 'shape': (4, 2), }")),
        ("a.safetensors", (9).to_bytes(8, "little") + b'{"a": []}'),
    ],
)
def test_damaged_files_are_refused_in_words(name: str, content: bytes) -> None:
    with pytest.raises(InputError, match=f"^{name} (is no file of numpy|cannot be read as)"):
        read_vectors(content, name)


def test_a_number_beyond_any_float_is_a_row_that_is_no_vector() -> None:
    cells = [[1.0, 2.0], [10**400, 1]]
    with pytest.raises(InputError, match="finite numbers") as caught:
        read_vectors(json_lines(cells), "a.jsonl")
    assert [bad.row for bad in caught.value.rows] == [2]


def json_lines(cells: list[list[float]]) -> bytes:
    return "".join(json.dumps({"text": str(place), "vector": cell}) + "\n" for place, cell in enumerate(cells)).encode()


@pytest.mark.parametrize("name", ["a.npz", "a.npy"])
def test_a_zip_is_measured_before_it_is_unpacked_whatever_its_name(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(arrays, "max_file_bytes", lambda: 2**20)
    content = zipped({"a.npy": npy(np.zeros((2**18, 2), dtype=np.float32))})
    (tmp_path / name).write_bytes(content)
    for source in (content, tmp_path / name):
        with pytest.raises(InputError, match="unpacks to 2 MiB; at most 1 are read"):
            read_vectors(source, name)


def test_bad_rows_are_left_out_where_that_is_asked_for() -> None:
    file = read_vectors(npy(WRONG), "a.npy", skip_bad_rows=True)
    assert [bad.row for bad in file.left_out] == [2, 4]
    matched = attached(DATA, [file], skip_bad_rows=True)
    assert np.isnan(matched.vectors[0].vectors[[1, 3]]).all()
    np.testing.assert_array_equal(matched.vectors[0].vectors[[0, 2]], VECTORS[[0, 2]])


def test_two_vectors_of_one_sentence_are_listed() -> None:
    twice = pd.concat([FRAME, FRAME.assign(embedding=LISTS[::-1]).iloc[:1]], ignore_index=True)
    with pytest.raises(InputError, match="two vectors of one sentence") as caught:
        attached(DATA, [vectors_of_frame(twice, "twice")])
    assert [bad.row for bad in caught.value.rows] == [5]
    kept = attached(DATA, [vectors_of_frame(twice, "twice")], skip_bad_rows=True)
    np.testing.assert_array_equal(kept.vectors[0].vectors, VECTORS)


def test_vectors_are_stored_with_the_data_and_written_as_files_that_read_the_same() -> None:
    partly = VECTORS.copy()
    partly[1] = np.nan  # the file has none of it
    data = attached(DATA, [_named(partly, "a"), _named(VECTORS[:, :2], "b c/ü")], ["", "Mine"])
    again = LabelledSentences.from_frame(from_parquet(to_parquet(data.to_frame())), data.name)
    assert again.content_hash == data.content_hash
    some = LabelledSentences.from_frame(data.to_frame().iloc[[3, 2]].reset_index(drop=True), "some")
    np.testing.assert_array_equal(some.vectors[0].vectors, partly[[3, 2]])
    files = vector_files(data)
    assert vector_options(files, "data/") == ("--vectors", "data/a.npy", "--vectors", "Mine=data/Mine.npy")
    reread = [read_vectors(content, path) for path, (_, content) in files.items()]
    exported = attached(DATA, reread, [label for label, _ in files.values()])
    for before, after in zip(data.vectors, exported.vectors, strict=True):
        assert before.name == after.name
        np.testing.assert_array_equal(before.vectors, after.vectors)


def _named(array: np.ndarray, name: str) -> VectorFile:
    return vectors_of_array(np.ascontiguousarray(array), name)


def test_names_that_no_file_can_have_come_back_from_what_is_written() -> None:
    names = ["a", "秤", "埋め込み/大", "text embedding 3", "?"]
    data = attached(DATA, [vectors_of_array(VECTORS + place, name) for place, name in enumerate(names)])
    expected = [of_model.name for of_model in data.vectors]
    files = vector_files(data)
    assert list(files) == ["a.npy", "vectors.npz", "vectors-2.npz", "text-embedding-3.npz", "vectors-3.npz"]
    assert files == vector_files(data) and {label for label, _ in files.values()} == {""}
    again = attached(DATA, [read_vectors(content, path) for path, (_, content) in files.items()])
    assert [of_model.name for of_model in again.vectors] == expected
    for before, after in zip(data.vectors, again.vectors, strict=True):
        np.testing.assert_array_equal(before.vectors, after.vectors)
    keyed = read_vectors(npy(VECTORS, mine=VECTORS), "b.npz")
    assert [of_model.name for of_model in attached(DATA, [keyed]).vectors] == ["vectors/mine"]


def test_a_cell_that_is_no_number_is_named() -> None:
    raw = b'sentence,v1,v2\na,0.5,1\nb,"0,5",1\nc,1,\nd,1,#N/A\n'
    with pytest.raises(InputError) as caught:
        read_vectors(raw, "v.csv")
    assert [(bad.row, bad.reason) for bad in caught.value.rows] == [
        (2, "'v1' holds '0,5'"),
        (3, "'v2' is empty"),
        (4, "'v2' holds #N/A, a spreadsheet's error value"),
    ]
    assert np.isnan(read_vectors(raw, "v.csv", skip_bad_rows=True).models[0].vectors[1:]).all()
    with pytest.raises(InputError, match="no row that is a vector"):
        read_vectors(b"sentence;v1;v2\na;0,5;0,1\n", "v.csv", skip_bad_rows=True)


def test_all_bad_rows_of_all_files_of_vectors_are_listed() -> None:
    lines = b'{"sentence": "a", "vector": [1, 2]}\n{oops\n{"sentence": "b", "vector": [1, 3]}\n{"sentence": "c", "vector": [1]}\n'
    with pytest.raises(InputError) as caught:
        read_each([("a.jsonl", lines), ("b.csv", b"sentence,1,2\na,x,1\nb,1,2\n")])
    assert [(bad.row, bad.reason.partition(":")[0]) for bad in caught.value.rows] == [
        (2, "a.jsonl"),
        (4, "a.jsonl"),
        (1, "b.csv"),
    ]
