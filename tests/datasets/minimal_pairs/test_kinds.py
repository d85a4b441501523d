"""The kinds of minimal-pair data: each layout is of one, what follows from it, and it is the same after a process."""

from __future__ import annotations

import pickle

import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs import layouts
from engine.datasets.minimal_pairs.kinds import (
    ACQUISITION,
    CONDITIONS,
    JUDGED,
    KINDS,
    PAIRS,
    READING,
    STEREOTYPES,
    TEXTS,
    DataKind,
    kind_of,
)
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table

FILES = {
    PAIRS.name: "acceptable,unacceptable\na,b\nc,d\n",
    STEREOTYPES.name: "sent_more,sent_less,stereo_antistereo\na,b,stereo\nc,d,antistereo\n",
    JUDGED.name: "sentence,label\na,1\nc,0\n",
    CONDITIONS.name: "item,condition,sentence\n1,x,a\n1,y,c\n",
    ACQUISITION.name: "word,context\ncat,the\ndog,a\n",
    READING.name: "item,word,RT\n1,a,300\n2,c,310\n",
    TEXTS.name: "text,n\na b,1\nc d,2\n",
}


def read(kind: DataKind) -> MinimalPairs:
    return from_table(read_table(FILES[kind.name].encode(), "file.csv"))


def test_every_layout_is_of_one_kind() -> None:
    names = [
        *layouts.FORMATS,
        *layouts.OPTIONS,
        *layouts.JUDGED,
        *layouts.READING,
        layouts.DESIGN,
        layouts.ACQUISITION,
        layouts.RUNNING_TEXT,
    ]
    assert sorted(names) == sorted(name for kind in KINDS.values() for name in kind.formats)
    assert {kind_of((name,)).name for name in names} == set(KINDS) == set(FILES)
    assert kind_of((layouts.OTHER,)) is PAIRS


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_file_is_read_as_its_kind_and_a_process_gives_back_the_same_record(kind: DataKind) -> None:
    dataset = read(kind)
    assert dataset.data_kind is kind and pickle.loads(pickle.dumps(kind)) is kind
    assert len(dataset.sentences) == dataset.n * kind.n_sentences == len(set(dataset.sentences))


@pytest.mark.parametrize("kind", [PAIRS, STEREOTYPES, JUDGED, TEXTS], ids=lambda kind: kind.name)
def test_the_columns_of_a_kind_are_recognised_as_that_kind(kind: DataKind) -> None:
    dataset = read(kind)
    columns = kind.columns(dataset.acceptable, dataset.unacceptable, dataset.categories, dataset.labels)
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    again = from_table(read_table("\n".join(lines).encode(), "again.csv"))
    assert (again.acceptable, again.unacceptable, again.labels) == (
        dataset.acceptable,
        dataset.unacceptable,
        dataset.labels,
    )
    assert again.data_kind.n_sentences == kind.n_sentences
