"""The built-in models as they lie in the repository: size, terms, sources, dictionaries, and what the pieces are."""

from __future__ import annotations

import json
import re
import struct

import pytest
from transformers import AutoTokenizer

from engine.evaluations.shared.dictionaries import BUILT_IN as DICTIONARIES
from engine.evaluations.shared.dictionaries import FOLDER as DICTIONARIES_FOLDER
from engine.evaluations.shared.idf_files import read_idf
from engine.models.loading.model_description import describe
from engine.models.pretraining.model_card import vocabulary
from engine.models.sources.cards import BUILT_IN, built_in_directory, held_out_figures, training_record
from engine.models.sources.model_location import locate

MOST_BYTES = 25_000_000
MOST_BYTES_OF_8000 = 12_000_000  # with 8,000 pieces
NAMES = "builtin/bert-mini-ja-32k"
# Names of people, places and countries: of each pair another name.
PAIRS = [
    "斎藤/佐々木",
    "太郎/次郎",
    "大阪/東京",
    "佐藤/鈴木",
    "田中/山田",
    "高橋/渡辺",
    "伊藤/中村",
    "小林/加藤",
    "吉田/山本",
    "松本/井上",
    "木村/林",
    "清水/山口",
    "森/池田",
    "橋本/阿部",
    "石川/前田",
    "小川/岡田",
    "藤田/後藤",
    "長谷川/村上",
    "近藤/石井",
    "花子/幸子",
    "一郎/三郎",
    "良子/和子",
    "京都/奈良",
    "名古屋/横浜",
    "神戸/広島",
    "福岡/札幌",
    "仙台/長崎",
    "日本/中国",
    "ロンドン/パリ",
    "アメリカ/イギリス",
    "ドイツ/フランス",
    "源氏/平家",
    "芥川/夏目",
    "信長/秀吉",
    "新宿/渋谷",
]


@pytest.fixture(params=list(BUILT_IN))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_weights_are_small_and_in_half_precision(name: str) -> None:
    path = built_in_directory(name) / "model.safetensors"
    assert path.stat().st_size <= (MOST_BYTES_OF_8000 if vocabulary(training_record(name)) <= 8000 else MOST_BYTES)
    with path.open("rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    assert {tensor["dtype"] for key, tensor in header.items() if key != "__metadata__"} == {"F16"}


def test_a_card_says_what_the_record_says(name: str) -> None:
    directory, record = built_in_directory(name), training_record(name)
    card = (directory / "README.md").read_text(encoding="utf-8")
    assert f"# {directory.name}\n" in card and record["command"] in card and "license: " in card
    assert vocabulary(record) == json.loads((directory / "config.json").read_text())["vocab_size"]
    assert all(f"{figure.value:.1%}" in card for figure in held_out_figures(name) if figure.unit.startswith("share"))
    assert not re.search(r"""[\s"'`]/\w""", card + json.dumps(record))  # no path of the machine that it was made on


def test_a_corpus_beyond_the_novels_is_attributed(name: str) -> None:
    record = training_record(name)
    card = (built_in_directory(name) / "README.md").read_text(encoding="utf-8")
    if record["corpus"] in (["aozora-modern-kana.zip"], ["english-novels.zip"]):
        assert "license: cc0-1.0" in card
    else:
        assert "license: cc-by-sa-4.0" in card and len(record["sources"]) == len(record["corpus"])
        for corpus, source in zip(record["corpus"], record["sources"], strict=True):
            assert f"`{corpus}`" in source and f"- {source}" in card
        assert "CC BY 2.0 FR" in card and "CC BY-SA 4.0" in card


def test_every_tokenizer_has_the_dictionaries_of_its_language(name: str) -> None:
    tokenizer = describe(locate(name)).facts.tokenizer_fingerprint
    n_documents, is_english = {}, BUILT_IN[name].language == "en"
    for corpus in ("novel",) if is_english else DICTIONARIES:
        dictionary = read_idf(DICTIONARIES_FOLDER / f"{corpus}.{name.removeprefix('builtin/')}.json.gz")
        assert (dictionary.name, dictionary.tokenizer, dictionary.unit) == (
            corpus,
            tokenizer,
            "blank-line" if is_english else "file",
        )
        assert dictionary.n_tokens == sum(dictionary.token_counts.values()) > 0
        n_documents[corpus] = dictionary.n_documents
    assert n_documents == ({"novel": 1257} if is_english else {"novel": 229, "wiki": 3979})


def test_a_vocabulary_is_in_the_script_of_its_language(name: str) -> None:
    facts = describe(locate(name)).facts
    assert (facts.scripts[0], facts.script_shares[0] > 0.95) == (
        {"en": "Latin", "ja": "CJK"}[BUILT_IN[name].language],
        True,
    )
    assert training_record(name)["settings"].get("language", "ja") == BUILT_IN[name].language


def test_names_are_whole_in_the_large_vocabulary() -> None:
    models = NAMES, "builtin/bert-mini-ja"
    large, small = (AutoTokenizer.from_pretrained(built_in_directory(model)) for model in models)
    for name in (name for pair in PAIRS for name in pair.split("/")):
        assert large.tokenize(name) == [name]
    assert sum(len(small.tokenize(name)) == 1 for pair in PAIRS for name in pair.split("/")) < len(PAIRS) // 2
