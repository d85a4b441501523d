"""The fill-mask evaluation over a gateway without models, and its command on the built-in one."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.__main__ import main
from engine.datasets import sample_data
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.errors import InputError, ModelError
from engine.evaluations.fill_mask.evaluate import common_rows, evaluate
from engine.evaluations.fill_mask.records import ALL, Result, Settings
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.measures.mask_probability import mean_probabilities, probability_differences
from engine.runs.storage.packing import pack, unpack
from tests.support.fakes import FakeBackend
from tests.support.mask_fakes import UNKNOWN, filled
from tests.support.session_fake import TOO_LONG, SessionFake

MODEL_COLUMNS = ["model", "domain", "n", "mean_probability"]
ITEM_COLUMNS = ["model", "row", "domain", "label", "probability", "rank"]
BERT = "builtin/bert-mini-ja"
pytestmark = pytest.mark.usefixtures("commands_share_workers")


def sentences(*rows: tuple[str, str, str], name: str = "given") -> MaskedSentences:
    texts, labels, domains = zip(*rows, strict=True)
    frame = pd.DataFrame(
        {"text": texts, "label": labels, "domain": domains, "row": [10 * i for i in range(1, len(rows) + 1)]}
    )
    return MaskedSentences.from_frame(frame, name)


DATASET = sentences(
    ("庭に鳥がいる", "鳥", "自然"),
    ("赤い花が咲く", "花", "自然"),
    ("図書館へ行く", "図書館", "学校"),
    ("机の上の本", "本", "学校"),
    ("机に向かう", "机", "学校"),
)


def run(dataset: MaskedSentences = DATASET, session: SessionFake | None = None, **settings: Any) -> Result:
    given = {"models": ("m", "n"), "resamples": 200, **settings}
    return evaluate(Settings(**given), dataset, session or SessionFake())


def piece(model: str, row: int) -> dict[str, Any]:
    return filled(model, DATASET.parts[row], top=10, max_tokens=TOO_LONG)


def test_items_are_the_products_of_what_the_model_says_of_each_sentence() -> None:
    items = run().items
    assert list(items.columns)[:6] == ITEM_COLUMNS
    assert items["model"].tolist() == ["m"] * 5 + ["n"] * 5 and items["row"].tolist() == [10, 20, 30, 40, 50] * 2
    for line in items.to_dict("records"):
        said = piece(line["model"], line["row"] // 10 - 1)
        # float64 sums of float32 logarithms
        assert line["probability"] == pytest.approx(np.exp(said["log_likelihoods"].astype(float).sum()), rel=1e-12)
        assert line["n_pieces"] == len(line["label"])
        # 図書館 has three pieces, and no distribution in which it has a rank.
        assert pd.isna(line["rank"]) if line["n_pieces"] > 1 else line["rank"] == said["ranks"][0]
    assert items["rank"].dtype == "Int64" and items["domain"].tolist()[:5] == ["自然"] * 2 + ["学校"] * 3


def test_pieces_multiply_to_the_word_and_predictions_are_marked() -> None:
    result = run(top=30)
    products = result.pieces.groupby(["model", "row"], sort=False)["probability"].prod()
    np.testing.assert_allclose(products.to_numpy(), result.items["probability"], rtol=1e-12)
    assert result.pieces[result.pieces["row"] == 30]["mask"].tolist() == [1, 2, 3] * 2
    assert result.pieces[result.pieces["row"] == 30]["token"].tolist() == list("図書館") * 2
    counts = result.predictions.groupby(["model", "row", "mask"], sort=False).size()
    assert set(counts) == {30} and len(counts) == 2 * (4 + 3)
    marked = result.predictions[result.predictions["is_label"]]
    for line in marked.to_dict("records"):
        item = result.items[(result.items["model"] == line["model"]) & (result.items["row"] == line["row"])].iloc[0]
        assert line["token"] == item["label"] and line["place"] == item["rank"]
        assert line["probability"] == pytest.approx(item["probability"], rel=1e-6)
    assert len(marked) == 8  # every word of one piece has its place among 30


def test_means_are_taken_per_domain_and_over_all_sentences() -> None:
    result = run()
    assert list(result.models.columns)[:4] == MODEL_COLUMNS
    assert result.models["domain"].tolist() == ["自然", "学校", ALL] * 2
    for line in result.models.to_dict("records"):
        of_model = result.items[result.items["model"] == line["model"]]
        part = of_model if line["domain"] == ALL else of_model[of_model["domain"] == line["domain"]]
        assert line["n"] == len(part)
        assert line["mean_probability"] == pytest.approx(part["probability"].mean(), rel=1e-12)
        assert line["n_words"] == part["label"].nunique()
        if line["n_words"] < 5:  # of one domain
            assert np.isnan([line["ci_low"], line["ci_high"]]).all() and line["note"] == "too few words"
        else:
            assert line["ci_low"] <= line["mean_probability"] <= line["ci_high"]
            assert line["note"] == "few words: a rough interval"
        assert line["n_several_pieces"] == (line["domain"] != "自然")
    pd.testing.assert_frame_equal(result.common, result.models)
    assert "The sentences are masked at 5 words: with fewer than 20 intervals are rough." in result.notices


def test_models_are_not_compared_over_fewer_words_than_five() -> None:
    result = run(sentences(*zip(DATASET.texts[:4], DATASET.labels[:4], DATASET.domains[:4], strict=True)))
    assert not result.comparisons["separable"].any() and result.comparisons["ci_low"].isna().all()
    assert result.comparisons["note"].tolist() == ["too few words"] * 2
    assert (
        "The sentences are masked at 4 words: fewer than 5 have no interval, and models are not compared."
        in result.notices
    )


def test_intervals_and_differences_are_the_measures() -> None:
    result = run(seed=5)
    p = [result.items[result.items["model"] == model]["probability"].to_numpy() for model in ("m", "n")]
    means = mean_probabilities(p, DATASET.labels, DATASET.domains, resamples=200, seed=5)
    overall = result.models[result.models["domain"] == ALL]
    np.testing.assert_allclose(overall["ci_low"], means.low)
    differences = probability_differences(p, DATASET.labels, DATASET.domains)
    first, second = result.comparisons.to_dict("records")
    assert (first["model"], first["other"]) == ("m", "n") and first["difference"] == -second["difference"]
    assert (first["ci_low"], first["ci_high"]) == (differences.low[0], differences.high[0])
    assert first["ci_low"] == pytest.approx(-second["ci_high"])
    assert first["separable"] == (first["ci_low"] > 0 or first["ci_high"] < 0)


def test_left_out_sentences_have_reasons_and_models_meet_on_common_ground() -> None:
    class Session(SessionFake):
        """ "m" cannot spell 鳥 either."""

        def fill_masks(self, model: str, sentences: Any, *, top: int = 10, precision: str) -> list[dict[str, Any]]:
            found = super().fill_masks(model, sentences, top=top)
            return [
                {"excluded": "no 鳥", "n_tokens": 9} if model == "m" and word == "鳥" else one
                for one, (_, word, _) in zip(found, sentences, strict=True)
            ]

    rows = [
        *zip(DATASET.texts, DATASET.labels, DATASET.domains, strict=True),
        (f"{UNKNOWN}だ", UNKNOWN, "学校"),
        ("長" * TOO_LONG + "い", "い", "学校"),
    ]
    result = run(sentences(*rows), Session())
    assert result.excluded[["model", "row", "label"]].to_numpy().tolist() == [
        ["m", 10, "鳥"],
        ["m", 60, UNKNOWN],
        ["m", 70, "い"],
        ["n", 60, UNKNOWN],
        ["n", 70, "い"],
    ]
    assert "63 tokens" in result.excluded["reason"].iloc[2]
    overall, common = (table[table["domain"] == ALL].set_index("model") for table in (result.models, result.common))
    assert overall["n"].to_dict() == {"m": 4, "n": 5} and common["n"].to_dict() == {"m": 4, "n": 4}
    assert common_rows(result.items, ("m", "n")) == [20, 30, 40, 50]
    of_n = result.items[(result.items["model"] == "n") & (result.items["row"] > 10)]
    assert common.loc["n", "mean_probability"] == pytest.approx(of_n["probability"].mean())
    assert any("4 of 7 could be filled by all" in notice for notice in result.notices)
    assert any(notice.startswith("m: 3 of 7 sentences could not be filled") for notice in result.notices)


def test_models_with_nothing_in_common_are_not_compared() -> None:
    class Session(SessionFake):
        def fill_masks(self, model: str, sentences: Any, *, top: int = 10, precision: str) -> list[dict[str, Any]]:
            found = super().fill_masks(model, sentences, top=top)
            return [
                one if (model == "m") == (word == "鳥") else {"excluded": "no", "n_tokens": 1}
                for one, (_, word, _) in zip(found, sentences, strict=True)
            ]

    result = run(session=Session())
    assert result.common.empty and result.comparisons.empty and len(result.models) == 2 + 3
    assert stored(result).common.empty


def test_normalisation_reaches_sentence_and_word_and_leaves_the_place() -> None:
    dataset = sentences(("㌔の先のＣＤを買う", "ＣＤ", "音楽"))
    session = SessionFake()
    result = run(dataset, session, normalize=("nfkc", "lower"), models=("m",))
    assert result.sentences[["before", "asked", "after"]].to_numpy().tolist() == [["キロの先の", "cd", "を買う"]]
    assert result.items["label"].tolist() == ["ＣＤ"]  # as the file has it
    assert result.signature["settings"]["normalize"] == ("nfkc", "lower")


def test_domains_without_name_or_with_ours() -> None:
    bare = run(sentences(("鳥だ", "鳥", ""), ("花だ", "花", "")))
    assert bare.models["domain"].tolist() == [ALL, ALL]
    mixed = run(sentences(("鳥だ", "鳥", ""), ("花だ", "花", "all")), models=("m",))
    assert mixed.models["domain"].tolist() == ["(none)", "(all)", ALL]


def test_a_single_sentence_has_a_mean_and_no_interval() -> None:
    result = run(sentences(("庭に鳥がいる", "鳥", "自然")))
    assert result.models["ci_low"].isna().all() and result.models["mean_probability"].notna().all()
    assert not result.comparisons["separable"].any()


def test_the_order_of_rows_changes_no_items_numbers() -> None:
    there = run().items.set_index(["model", "row"])["probability"]
    frame = DATASET.to_frame().iloc[::-1].reset_index(drop=True)
    back = run(MaskedSentences.from_frame(frame, "given")).items.set_index(["model", "row"])["probability"]
    pd.testing.assert_series_equal(there.sort_index(), back.sort_index())


def test_what_cannot_be_weighed_is_refused_before_any_model_is_asked() -> None:
    session = SessionFake({"c": "causal", "e": "encoder"})
    for models, error, message in (
        (("m", "c"), ModelError, "c .* fills no masks"),
        (("e",), ModelError, "e .* fills no masks"),
        ((), InputError, "No model"),
        (("m", "m"), InputError, "more than once"),
    ):
        with pytest.raises(error, match=message):
            run(session=session, models=models)
    assert session.calls == []
    with pytest.raises(InputError, match=r"m can fill none of the 1 sentence\. The first, row 10: The vocabulary"):
        run(sentences((f"{UNKNOWN}だ", UNKNOWN, "")), models=("m",))
    with pytest.raises(InputError, match="resamples is at least 1; got 0"):
        run(resamples=0)


def test_a_result_survives_the_disk() -> None:
    result = run()
    again = stored(result)
    for field in ("models", "items", "pieces", "predictions", "comparisons", "sentences", "excluded"):
        pd.testing.assert_frame_equal(getattr(again, field), getattr(result, field))
    assert again.settings == result.settings and again.notices == result.notices


def stored(result: Result) -> Result:
    """What comes back from the disk."""
    return unpack(Result, pack(result).__getitem__, "The result")


def test_a_filled_sentence_is_kept_and_asked_for_once(tmp_path: Path) -> None:
    backend = FakeBackend()
    with closing(Cache(tmp_path / "cache.sqlite", 2**26)) as cache:
        session = Gateway(backend, cache).session("run")
        twice = session.fill_masks("m", [*DATASET.parts, DATASET.parts[0]], top=4)
        assert backend.n_items("fill_masks") == 5
        for one, other in zip(twice[:5], session.fill_masks("m", DATASET.parts, top=4), strict=True):
            np.testing.assert_array_equal(one["top_ids"], other["top_ids"])
        assert backend.n_items("fill_masks") == 5
        session.fill_masks("m", DATASET.parts[:2], top=5)  # another number of predictions is another question
        # So is the same sentence with its word elsewhere.
        session.fill_masks("m", [("", "庭", "に鳥がいる")], top=4)
    assert backend.n_items("fill_masks") == 5 + 2 + 1


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def command(data: Path, out: Path, cache: Path, *options: str) -> int:
    return main(["fill-mask", "--data", str(data), "--model", BERT, "--out", str(out), "--cache", str(cache), *options])


def test_the_command_weighs_the_sample(tmp_path: Path, cache: Path) -> None:
    assert command(sample_data.path("masked_sentences"), tmp_path, cache, "--normalize", "nfkc") == 0
    models, items = table(tmp_path / "models.csv"), table(tmp_path / "items.csv")
    assert list(models[0])[:4] == MODEL_COLUMNS and list(items[0])[:6] == ITEM_COLUMNS
    assert [(line["domain"], line["n"]) for line in models] == [
        ("自然", "40"),
        ("暮らし", "40"),
        ("学校", "40"),
        (ALL, "120"),
    ]
    # A model of 4 layers trained on old novels gives these nouns about 1 in 200; chance among 8,000 is 1 in 8,000.
    assert 0.003 < float(models[-1]["mean_probability"]) < 0.008
    assert len(items) == 120 and sum(line["rank"] == "" for line in items) == 20
    settings = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert settings["settings"]["normalize"] == ["nfkc"] and settings["models"][0]["name"] == BERT


def test_the_command_builds_from_domains_and_from_reviews(tmp_path: Path, cache: Path) -> None:
    assert (
        command(
            sample_data.path("masked_sentences"),
            tmp_path / "a",
            cache,
            "--domain-column",
            "domain",
            "--nouns",
            "2",
            "--sentences",
            "3",
            "--seed",
            "4",
        )
        == 0
    )
    assert [line["n"] for line in table(tmp_path / "a" / "models.csv")] == ["6", "6", "6", "18"]
    settings = json.loads((tmp_path / "a" / "settings.json").read_text(encoding="utf-8"))
    assert settings["building"]["n_nouns"] == 2 and settings["building"]["seed"] == settings["settings"]["seed"] == 4

    raw = "<items><item><text>この本は長い。本が好きだ。</text></item></items>".encode()
    with tarfile.open(tmp_path / "cls.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("cls-acl10-unprocessed/jp/books/test.review")
        info.size = len(raw)
        archive.addfile(info, io.BytesIO(raw))
    assert command(tmp_path / "cls.tar.gz", tmp_path / "b", cache, "--words", "本") == 0
    built = table(tmp_path / "b" / "models.csv")
    assert [(line["domain"], line["n"]) for line in built] == [("books", "2"), (ALL, "2")]


def test_the_command_lists_every_bad_row(tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.csv").write_text("text,label\n雨だ,雨\n雨だ,雪\n,雪\n", encoding="utf-8")
    assert command(tmp_path / "bad.csv", tmp_path / "out", cache) == 2
    said = capsys.readouterr().err
    assert "row 2" in said and "row 3" in said and "2 of 3 rows cannot be masked" in said
    assert not (tmp_path / "out").exists()
    (tmp_path / "x.review").write_text("<items>", encoding="utf-8")
    assert command(tmp_path / "x.review", tmp_path / "out", cache) == 2
    assert "no well-formed XML" in capsys.readouterr().err
    assert command(tmp_path / "x.review", tmp_path / "out", cache, "--domain-column", "d") == 2
    assert "concern tables" in capsys.readouterr().err
