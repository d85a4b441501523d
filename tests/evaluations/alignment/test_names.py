"""Names by reading in whole runs: by hand, with a list of one's own, and for runs that were stored without names."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.naming import names as names_module
from engine.evaluations.alignment.naming.names import NAME_TEXTS, name_columns
from engine.evaluations.alignment.records import Result, Scoring, Settings
from engine.evaluations.alignment.rescoring import Scores, rescore
from engine.language.parts_of_speech import tagged_words
from tests.support.session_fake import SessionFake

BY_READING = Scoring(penalty="names")
PAIRS = (
    ("斉藤は笑った", "斎藤は笑った"),
    ("斉藤は笑った", "尾崎は笑った"),
    ("幸子は笑った", "ゆきこは笑った"),
    ("三人が来た", "3人が来た"),
    ("三人が来た", "五人が来た"),
    ("髙橋は笑った", "彼は笑った"),
    ("犬が鳴く", "猫が鳴く"),
)


def run(*pairs: tuple[str, str]) -> Result:
    references, candidates = zip(*pairs, strict=True)
    dataset = SentencePairs("made up", references, candidates, ("",) * len(pairs), {}, tuple(range(1, len(pairs) + 1)))
    return evaluate(Settings(("m",)), dataset, SessionFake())  # type: ignore[arg-type]


def names_of(scores: Scores, row: int) -> pd.DataFrame:
    tokens = scores.tokens_of("m", row)
    return tokens[tokens["name"]]


def test_the_same_name_lifts_and_another_lowers() -> None:
    scores = rescore(run(*PAIRS), BY_READING)
    pairs = scores.pairs.set_index("row")
    for row, (agreement, distance) in {1: (1, 0), 2: (0, 4), 3: (1, 0), 4: (1, 0), 5: (0, 1)}.items():
        names = names_of(scores, row)
        assert names["agreement"].tolist() == [agreement] * len(names) and names["penalised"].all()
        assert names["similarity"].tolist() == [agreement**2] * len(names)
        assert set(names["reading_distance"]) == {distance}
        lifted = pairs.loc[row, "penalized_f1"] > pairs.loc[row, "f1"]
        assert lifted == (agreement == 1), row
    # は笑った has equal characters, cosine 1; 斉藤 and 尾崎 weigh 3 each and are not alike: 4 / (4 + 6)
    lowered = [f"penalized_{name}" for name in ("precision", "recall", "f1")]
    assert pairs.loc[2, lowered].tolist() == pytest.approx([0.4] * 3)
    assert pairs.loc[2, "recall_penalty"] == pytest.approx(0.4 / pairs.loc[2, "recall"])
    # 幸子 is さちこ or ゆきこ; the page says which of them agrees
    assert set(names_of(scores, 3)["reading"]) == set(names_of(scores, 3)["match_reading"]) == {"ゆきこ"}
    assert set(names_of(scores, 3)["reading_source"]) >= {"name list"}


@pytest.mark.parametrize(("sounds", "are_one"), [("auto", True), ("merged", True), ("apart", False)])
def test_spellings_of_one_sound_are_one_name_unless_they_are_kept_apart(sounds: str, are_one: bool) -> None:
    # たろう and たろー
    names = names_of(rescore(run(("太郎は笑った", "タローは笑った")), replace(BY_READING, sounds=sounds)), 1)
    assert set(names["name_text"]) == {"太郎", "タロー"}
    assert ((names["agreement"] == 1) == are_one).all() and ((names["reading_distance"] == 0) == are_one).all()


def test_a_name_is_half_of_a_long_sentence_and_a_number_keeps_its_weight() -> None:
    scores = rescore(
        run(
            ("昨日は三人が駅の前で笑った", "昨日は五人が駅の前で笑った"),
            ("昨日は斉藤が駅の前で笑った", "昨日は尾崎が駅の前で笑った"),
        ),
        BY_READING,
    )
    # Eleven characters are the same; two of a number weigh 3 each, two of a name as much as all these.
    assert scores.pairs["penalized_f1"].tolist() == pytest.approx([11 / (11 + 2 * 3), 11 / (11 + 11)])


def test_every_token_of_a_name_is_shown_beside_the_one_at_its_place_of_the_counterpart() -> None:
    """藤 of 斉藤 was shown beside 斎, where 藤 is the most alike by vector, too."""
    scores = rescore(run(("今日は斉藤と尾崎が来た", "尾崎と斎藤が昨日来た")), BY_READING)
    names = names_of(scores, 1)
    shown = list(zip(names["token"], names["match_token"], names["match_position"], strict=True))
    others = scores.tokens_of("m", 1).query("not name")
    assert set(others["name_text"]) == {""}
    # One character a token, after [CLS].
    assert shown == [
        ("斉", "斎", 4),
        ("藤", "藤", 5),
        ("尾", "尾", 1),
        ("崎", "崎", 2),
        ("尾", "尾", 7),
        ("崎", "崎", 8),
        ("斎", "斉", 4),
        ("藤", "藤", 5),
    ]
    # 太|郎 and タ|ロ|ー: what is longer has its end beside the last one.
    longer = names_of(rescore(run(("太郎は笑った", "タローは笑った")), BY_READING), 1)
    assert longer["match_token"].tolist() == ["タ", "ロ", "太", "郎", "郎"]


def test_a_name_without_a_counterpart_is_left_to_its_vectors() -> None:
    scores = rescore(run(*PAIRS), BY_READING)
    assert names_of(scores, 6)["name"].sum() == 2 and not names_of(scores, 6)["penalised"].any()
    for row in (6, 7):
        pair = scores.pairs.iloc[row - 1]
        assert pair["penalized_f1"] == pytest.approx(pair["f1"], rel=1e-12)


def test_years_of_an_era_are_compared_by_the_year_that_they_are() -> None:
    scores = rescore(
        run(
            ("令和六年に会う", "2024年に会う"),
            ("平成六年に会う", "2024年に会う"),
            ("令和堂に会う", "2024年に会う"),
            ("平成元年度に会う", "1989年度に会う"),
        ),
        BY_READING,
    )
    for row, agreement in ((1, 1.0), (2, 0.0), (4, 1.0)):
        assert set(names_of(scores, row)["agreement"]) == {agreement}
    assert not names_of(scores, 3)["penalised"].any()


def test_names_and_numbers_that_are_spelt_or_read_alike() -> None:
    scores = rescore(
        run(
            ("千代は笑った", "チヨは笑った"),
            ("2を引く", "に引く"),
            ("3を引く", "サンを引く"),
            ("八戸で会う", "ハチノヘで会う"),
        ),
        BY_READING,
    )
    for row in (1, 4):
        assert names_of(scores, row)["agreement"].tolist() == [1.0] * len(names_of(scores, row))
    for row in (2, 3):
        assert not names_of(scores, row)["penalised"].any()


@pytest.mark.parametrize(
    ("reference", "candidate", "agreement"),
    [
        # nothing says how the one is read, and the scripts differ
        ("Лавровが来た", "ラブロフが来た", None),
        ("Wittgensteinが来た", "ブラームスが来た", None),  # a guess by the spelling never tells them apart
        ("Müllerが来た", "シュミットが来た", None),
        # by the letters, and by a table of graphemes
        ("NHKを見る", "エヌエイチケイを見る", 1),
        ("Nietzscheが来た", "ニーチェが来た", 1),
        # as written: one letter of five; the umlaut of Müller and its u
        ("Smithが来た", "Smythが来た", 4 / 5),
        ("Müllerが来た", "Mullerが来た", 5 / 6),
        # romaji: without long vowels beside Japanese, with them beside romaji (おーの, おの: one of three)
        ("Ohnoが来た", "大野が来た", 1),
        ("Saitoが来た", "斉藤が来た", 1),
        ("Ohnoが来た", "Onoが来た", 2 / 3),
    ],
)
def test_names_in_other_scripts(reference: str, candidate: str, agreement: float | None) -> None:
    scores = rescore(run((reference, candidate)), BY_READING)
    names = names_of(scores, 1)
    if agreement is None:
        assert not names["penalised"].any()
        assert scores.pairs["penalized_f1"].item() == pytest.approx(scores.pairs["f1"].item())
    else:
        assert names["penalised"].all() and names["agreement"].tolist() == pytest.approx([agreement] * len(names))


def test_a_direction_before_a_name_makes_another_name() -> None:
    names = names_of(rescore(run(("JR東日本に乗る", "JR西日本に乗る")), BY_READING), 1)
    # ひがしにほん / にしにほん: two morae of seven as they sound, 1.5 each
    assert set(zip(names["name_text"], names["agreement"].round(2), strict=True)) == {
        ("JR", 1.0),
        ("東日本", 0.57),
        ("西日本", 0.57),
    }


def test_other_languages_have_no_names_but_those_of_a_list_of_ones_own() -> None:
    pairs = (
        ("The cat saw 2 dogs", "A cat met Bob in 2020"),
        ("나는 서울에 간다", "너는 부산에 간다"),
        ("我爱北京天安门", "他爱上海"),
        ("Это Москва", "Там Киев"),
    )
    result = run(*pairs)
    scores = rescore(result, Scoring()).pairs
    assert Scoring().penalty == "names"
    assert (
        scores[["penalized_precision", "penalized_recall", "penalized_f1"]].to_numpy().tolist()
        == scores[["precision", "recall", "f1"]].to_numpy().tolist()
    )
    listed = rescore(result, Scoring(readings="cat=きゃっと")).pairs
    assert listed["penalized_f1"][0] != scores["f1"][0] and (listed["penalized_f1"] == scores["f1"]).tolist()[1:] == [
        True,
        True,
        True,
    ]


def test_the_penalty_that_only_lowers_may_concern_names() -> None:
    scores = rescore(run(*PAIRS), Scoring(penalty="reading", criterion="names", reading_scope="word"))
    assert (scores.pairs["penalized_f1"] <= scores.pairs["f1"] + 1e-12).all()
    tokens = scores.tokens
    assert (tokens["penalised"] == tokens["name"]).all() and tokens["name"].any()
    # 髙橋 has no counterpart: its match is another word or none, which is read otherwise
    assert (names_of(scores, 6)["agreement"] < 1).all()


def test_a_list_of_ones_own_makes_names_and_reads_them() -> None:
    pairs = (("光宙は笑った", "ぴかちゅうは笑った"), ("お銀は笑った", "ぎん婆は笑った"))
    plain = rescore(run(*pairs), BY_READING)
    listed = "光宙=ぴかちゅう;ぴかちゅう=ぴかちゅう;お銀=ぎん;ぎん婆=ぎん"
    own = rescore(run(*pairs), replace(BY_READING, readings=listed))
    for row in (1, 2):
        names = names_of(own, row)
        assert set(names["reading_source"]) == {"own list"} and set(names["agreement"]) == {1.0}
        assert own.pairs["penalized_f1"][row - 1] > plain.pairs["penalized_f1"][row - 1]
    word = Scoring(penalty="reading", criterion="proper-nouns", reading_scope="word", unit="word", readings="斉藤=ぺけ")
    tokens = rescore(run(("斉藤は笑った", "斉藤は笑った")), word).tokens
    assert set(tokens[tokens["proper_noun"]]["reading"]) == {"ぺけ"}
    # of several readings names have all, the penalty of the paper the first
    several = replace(word, readings="斉藤=ぺけ/おざき;尾崎=おざき")
    tokens = rescore(run(("斉藤は笑った", "尾崎は笑った")), several).tokens
    assert set(tokens[tokens["proper_noun"]]["agreement"]) == {0.0}
    both = names_of(rescore(run(("斉藤は笑った", "尾崎は笑った")), replace(several, penalty="names")), 1)
    assert set(both["agreement"]) == {1.0} and set(both["reading"]) == {"おざき"}
    with pytest.raises(InputError, match="entries cannot be read"):
        rescore(run(*pairs), replace(BY_READING, readings="光宙=pikachu"))


def test_a_run_without_names_has_them_looked_up() -> None:
    result = run(*PAIRS)
    tokens = result.tokens.drop(columns=["name", *NAME_TEXTS])
    earlier = replace(result, tokens=tokens)
    missing = replace(result, tokens=tokens.assign(name=pd.NA, **dict.fromkeys(NAME_TEXTS, None)))
    for scoring in (BY_READING, replace(BY_READING, readings="斉藤=おざき")):
        expected = rescore(result, scoring)
        for old in (earlier, missing):
            pd.testing.assert_frame_equal(rescore(old, scoring).pairs, expected.pairs)
            pd.testing.assert_frame_equal(rescore(old, scoring).tokens, expected.tokens)


def test_a_run_without_names_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(*PAIRS)
    earlier = replace(result, tokens=result.tokens.drop(columns=["name", *NAME_TEXTS]))
    asked: list[str] = []

    def counted(text: str, other: str, spans: np.ndarray, special: np.ndarray) -> dict[str, Any]:
        asked.append(text)
        return name_columns(text, other, spans, special)

    monkeypatch.setattr(names_module, "name_columns", counted)
    for scoring in (
        BY_READING,
        replace(BY_READING, readings="斉藤=おざき"),
        replace(BY_READING, sounds="apart"),
        replace(BY_READING, readings="犬=いぬ;猫=いぬ"),
    ):
        pd.testing.assert_frame_equal(rescore(earlier, scoring).pairs, rescore(result, scoring).pairs)
    assert len(asked) == 2 * len(PAIRS)


def test_an_entry_of_the_list_is_no_name_within_a_longer_name_or_word() -> None:
    result = run(("東は東京へ行く", "東は東北へ行く"), ("東海林と三人で", "東海林と五人で"))
    names = names_of(rescore(result, replace(BY_READING, readings="東=あずま;人=ひと;海=うみ")), 1)
    assert set(zip(names["name_text"], names["reading"], strict=True)) >= {
        ("東", "あずま"),
        ("東京", "とうきょう"),
        ("東北", "とうほく"),
    }
    pd.testing.assert_frame_equal(
        names_of(rescore(result, replace(BY_READING, readings="東=あずま;人=ひと;海=うみ")), 2),
        names_of(rescore(result, BY_READING), 2),
    )


@pytest.mark.parametrize("unit", ["subword", "word"])
@pytest.mark.parametrize("readings", ["", "笑=わら"])
def test_a_pair_has_the_score_that_it_has_alone(unit: str, readings: str) -> None:
    scoring = replace(BY_READING, unit=unit, readings=readings)
    together = rescore(run(*PAIRS), scoring).pairs["penalized_f1"]
    alone = [rescore(run(pair), scoring).pairs["penalized_f1"].item() for pair in PAIRS]
    np.testing.assert_allclose(together, alone, rtol=1e-12)
    assert not any(map(math.isnan, alone))


def test_f1_itself_stays_that_of_bertscore() -> None:
    result = run(*PAIRS)
    names, none = rescore(result, BY_READING).pairs, rescore(result, Scoring(penalty="none")).pairs
    pd.testing.assert_frame_equal(names[["precision", "recall", "f1"]], none[["precision", "recall", "f1"]])


@pytest.mark.parametrize(
    ("frame", "one", "other", "least", "most"),
    [
        # what stands in the place of a name, with what says that it is one
        ("{}が笑った。", "渚", "なぎさ", 1, 1),
        ("{}が笑った。", "樹", "いつき", 1, 1),
        ("{}が笑った。", "昴", "すばる", 1, 1),
        ("{}が笑った。", "渚", "翼", 0, 0.5),
        ("{}が笑った。", "樹", "稔", 0, 0.5),
        ("{}が笑った。", "螢", "蛍", 1, 1),
        ("{}の絵を見た。", "モネ", "マネ", 0, 0.5),
        ("{}が来た。", "ミサト", "ミサキ", 0, 0.5),
        ("{}で働く。", "ユニセフ", "ユネスコ", 0, 0.5),
        ("{}が発表した。", "経産省", "厚労省", 0, 0.5),
        ("{}に行く。", "ファミリーマート", "ローソン", 0, 0.5),
        ("{}は遠い。", "奈良", "なら", 1, 1),
        ("{}に勤める。", "日本電気", "日本電産", 0, 0.7),
        # abbreviations
        ("{}が発表した。", "東京電力", "東電", 0.97, 1),
        ("{}に乗る。", "全日本空輸", "全日空", 0.97, 1),
        ("{}を見る。", "日本放送協会", "NHK", 0.97, 1),
        ("{}の本部。", "国際連合", "国連", 0.97, 1),
        ("{}が発表した。", "経産省", "経済産業省", 0.97, 1),
        ("{}に行く。", "ファミリーマート", "ファミマ", 0.97, 1),
        ("{}に行く。", "京大", "東京大学", 0, 0.5),
        # one sound in several spellings
        ("弟の{}が来た。", "健一", "Kenichi", 1, 1),
        ("弟の{}が来た。", "真一", "Shinichi", 1, 1),
        ("弟の{}が来た。", "純一郎", "Junichiro", 1, 1),
        ("弟の{}が来た。", "信也", "Shinya", 1, 1),
        ("{}を読む。", "ツルゲーネフ", "トゥルゲーネフ", 0.9, 1),
        ("{}の絵。", "ゴーギャン", "ゴーガン", 0.9, 1),
        ("{}に着く。", "ウィーン", "ヴィーン", 0.9, 1),
        ("{}を読む。", "ニーチェ", "Nietzsche", 1, 1),
        ("{}さんが来た。", "荻原", "萩原", 0, 0.7),
        ("{}さんが来た。", "阿部", "安部", 0.5, 0.8),  # one sound, other kanji: unsure
        # a name within a longer one
        ("{}で降りた。", "西船橋", "船橋", 0, 0.5),
        ("{}で降りた。", "南浦和", "浦和", 0, 0.5),
        # kanji beyond the BMP, and voiced marks apart from their kana
        ("{}さんに会った。", "橋本", "𣘺本", 1, 1),
        ("{}さんに会った。", "土屋", "𡈽屋", 1, 1),
        ("{}さんに会った。", "今井", "𫝆井", 1, 1),
        ("{}に会った。", "ジョン", "シ゛ョン", 1, 1),
        # quantities
        ("被害は{}だ。", "3.5億円", "1億円", 0, 0),
        ("被害は{}だ。", "3.5億円", "3億5000万円", 1, 1),
        ("観客は{}だ。", "1.2万人", "12,000人", 1, 1),
        ("割合は{}だ。", "50%", "5割", 1, 1),
        ("距離は{}だ。", "3km", "3000m", 1, 1),
        ("試合は{}だ。", "1時間半", "90分", 1, 1),
        ("期間は{}だ。", "半年", "6か月", 1, 1),
        ("{}に鳴る。", "正午", "12時", 1, 1),
    ],
)
def test_pairs_that_a_reader_tells(frame: str, one: str, other: str, least: float, most: float) -> None:
    names = names_of(rescore(run((frame.format(one), frame.format(other))), BY_READING), 1)
    compared = names[names["penalised"]]
    assert len(compared) and compared["agreement"].between(least - 1e-9, most + 1e-9).all(), compared["agreement"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.5億円", "1億円"),
        ("西船橋", "船橋"),
        ("南浦和", "浦和"),
        ("モネ", "マネ"),
        ("ミサト", "ミサキ"),
        ("経産省", "厚労省"),
    ],
)
def test_another_name_is_below_the_plain_score(one: str, other: str) -> None:
    pairs = rescore(run((f"昨日も{one}の話だ。", f"昨日も{other}の話だ。")), BY_READING).pairs
    assert pairs["penalized_f1"].item() < pairs["f1"].item()


@pytest.mark.parametrize("name", ["渚", "樹", "稔", "昴", "翼", "螢"])
def test_where_one_side_is_a_name_and_the_other_not_both_are_compared(name: str) -> None:
    """斉藤 is a name to UniDic, what stands in its place a noun or none."""
    names = names_of(rescore(run((f"昨日、{name}さんが来た。", "昨日、斉藤さんが来た。")), BY_READING), 1)
    assert names["penalised"].all() and set(names["name_text"]) == {name, "斉藤"} and names["agreement"].max() <= 0.7


def test_a_kanji_beyond_the_bmp_is_read_as_its_usual_form() -> None:
    assert [word.reading for word in tagged_words("𠮟った")] == [word.reading for word in tagged_words("叱った")]


def test_common_nouns_in_one_frame_are_no_names() -> None:
    for one, other in (("犬", "猫"), ("バス", "トラック"), ("電話", "でんわ"), ("男性", "女性")):
        names = names_of(rescore(run((f"{one}が来た。", f"{other}が来た。")), BY_READING), 1)
        assert not names["penalised"].any(), (one, other)


def test_nothing_in_common_has_the_score_0() -> None:
    """Two names that share no sound, and nothing else in the sentences: P and R are 0, and so is F1."""
    pairs = rescore(run(("斉藤", "尾崎"), ("斉藤", "斎藤")), BY_READING).pairs
    assert pairs["penalized_f1"].tolist() == [0.0, 1.0]
