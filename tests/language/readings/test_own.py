"""A list of readings of one's own: as it is typed, as a file has it, and in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InputError
from engine.language.readings.own import MOST_ENTRIES, in_one_line, own_readings
from tests.waiting import seconds


@pytest.mark.parametrize(
    "text",
    [
        "斉藤=さいとう;東=ひがし/あずま",
        "斉藤,サイトウ\n東,ひがし／アズマ\n",
        "\ufeffname,reading\r\n斉藤,さいとう\r\n東,ひがし/あずま",
        "斉藤 ＝ さいとう；東：ひがし/あずま",
        "斉藤\tさいとう\n\n東\tひがし/あずま",
        "斉藤,さいとう\n東,ひがし、あずま",
        "斉藤=さいとう\n東=ひがし,あずま",
        '"斉藤","さいとう"\n"東", "ひがし,あずま"',
        "名前,読み,備考\n斉藤,さいとう,せいとうではない\n東,ひがし/あずま,姓",
        "surface\treading\n斉藤\tさいとう\n東\tひがし/あずま",
        "備考,ふりがな,氏名\n,さいとう,斉藤\nA、B,ひがし／あずま,東",
        "# 登場人物\n斉藤=さいとう # 主人公\n# 終わり; まだ\n東=ひがし/あずま",
        "斉藤,ｻｲﾄｳ\n東,ﾋｶﾞｼ/ｱｽﾞﾏ",
        "斉藤=さいとう\n東=ひがし\n東=あずま",
        "斉藤=さい とう\n東=ひか\u3099し/あす゛ま",
        "斉\U000e0101藤=さいとう;東=ひがし/あずま",
    ],
)
def test_every_way_to_write_a_list_is_one_list(text: str) -> None:
    assert in_one_line(text) == "斉藤=さいとう;東=ひがし/あずま"
    assert own_readings(text) == {"斉藤": ("さいとう",), "東": ("ひがし", "あずま")}


@pytest.mark.parametrize(
    ("kana", "read"),
    [
        ("じょん・すみす", "じょんすみす"),
        ("ジョン＝スミス", "じょんすみす"),
        ("ｼﾞｮﾝ･ｽﾐｽ", "じょんすみす"),
        ("すゞ", "すず"),
        ("コヽロ", "こころ"),
        ("ローズ", "ろーず"),
        ("ヴァン", "ゔぁん"),
        ("すす\u3099", "すず"),
    ],
)
def test_readings_are_kana_of_any_width(kana: str, read: str) -> None:
    assert own_readings(f"名,{kana}") == {"名": (read,)}


def test_several_entries_of_one_name_are_all_kept() -> None:
    """Also where they differ in a variant of a kanji, which is the same name."""
    text = "斉藤,さいとう\n尾崎,おざき\n斉藤,せいとう\n齋藤,さいとー"
    assert own_readings(text) == {"斉藤": ("さいとう", "せいとう", "さいとー"), "尾崎": ("おざき",)}
    assert in_one_line(text).startswith("斉藤=さいとう/せいとう/さいとー;尾崎=おざき;齋藤=")


def test_every_wrong_entry_is_named_with_its_line() -> None:
    with pytest.raises(InputError, match=r"^2 of the list's entries .*: line 1: '斉藤'; line 3: '東=higashi'\."):
        own_readings("斉藤;尾崎=おざき\n\n東=higashi")
    with pytest.raises(InputError, match=r"^13 of .* line 10: '名10'; further lines: 11, 12, 13\."):
        own_readings("\n".join(f"名{n}" for n in range(1, 14)))
    with pytest.raises(InputError, match="at most 2,000 entries; got 2,001"):
        own_readings(";".join(f"名{n}=な" for n in range(MOST_ENTRIES + 1)))
    assert own_readings("") == {} and in_one_line(" \n# なし") == ""


@pytest.mark.parametrize(
    "entry",
    [
        "東=",
        "=ひがし",
        "東=ー",
        "東=ゝ",
        "東=・",
        "東=ひがし/",
        "東=あずまABC",
        f"東={'あ' * 201}",
        f"{'東' * 201}=あ",
        f"{'東' * 100_000}=あ",
        "東",
        "名前=東",
        '"東,ひがし',
        ",ひがし",
    ],
)
def test_what_is_no_entry(entry: str) -> None:
    with pytest.raises(InputError, match=r"^1 of the list's entries cannot be read: line 2: ") as raised:
        own_readings(f"斉藤=さいとう\n{entry}")
    assert len(raised.value.message) < 300


def test_a_name_that_separates_stands_in_quotes() -> None:
    for text in ('"A,B"=えーびー', '"A,B",えーびー,注', '"#名"=な', '"言う ""か""=か"=か', '"A #1"=え'):
        assert len(own_readings(text)) == 1 and in_one_line(in_one_line(text)) == in_one_line(text)
        assert own_readings(in_one_line(text)) == own_readings(text)


def test_texts_are_found_where_sentences_have_them_the_longest_first() -> None:
    own = own_readings("月島=つきしま;月島きらり=つきしまきらり")
    assert list(own.found_in(["月島きらりと月島", "ほか"])) == [(0, 0, 5, "月島きらり"), (0, 6, 8, "月島")]
    assert list(own.found_in(["月\U000e0100島だ"])) == [(0, 0, 3, "月\U000e0100島")]


@given(
    st.dictionaries(
        st.text('斉藤尾崎"=,#\t A', min_size=1, max_size=4).map(str.strip).filter(bool),
        st.text("あいうｱﾞー", min_size=1, max_size=3),
        max_size=5,
    )
)
def test_one_line_stays_what_it_is(entries: dict[str, str]) -> None:
    text = "\n".join(f"{name}={kana}" for name, kana in entries.items())
    try:
        line = in_one_line(text)
    except InputError:
        return
    assert in_one_line(line) == line and own_readings(line) == own_readings(text)


@pytest.mark.parametrize(
    "text",
    [
        "a" + " #" * 40_000 + '"',  # where a comment might begin, and a quotation mark that none has
        ";".join(f"a{' ' * 9_000}b{n}" for n in range(40)),  # no separator behind the spaces
        ";".join('"' * 9_001 for _ in range(40)),
    ],
    ids=["comments", "spaces", "quotation marks"],
)
def test_no_text_takes_the_server_for_seconds(text: str) -> None:
    """The pages read a list while everybody else waits."""

    def read() -> None:
        with pytest.raises(InputError):
            own_readings(text)

    assert seconds(read) < 1.5


def test_names_that_begin_alike_are_found_in_a_long_sentence_without_delay() -> None:
    names = ["い", *("あ" * n + "い" for n in range(2, 200))]
    own = own_readings(";".join(f"{name}=よみ" for name in names))
    longest = own_readings(f"{names[-1]}=よみ")
    of_one = seconds(lambda: list(longest.found_in(["あ" * 8_000])))
    assert seconds(lambda: list(own.found_in(["あ" * 8_000]))) < 5 * of_one  # not as many times as there are names
    assert [found[1:3] for found in own.found_in(["あ" * 300 + "い"])] == [(101, 301)]


def test_the_longest_name_is_found_with_the_selectors_in_it_and_behind_it() -> None:
    own = own_readings("葛城=かつらぎ;葛=くず;葛城山=かつらぎさん")
    sentence = "葛\U000e0100城\U000e0101と葛\ufe00、葛城山葛城"
    assert [text for *_, text in own.found_in([sentence])] == [
        "葛\U000e0100城\U000e0101",
        "葛\ufe00",
        "葛城山",
        "葛城",
    ]


def test_a_list_of_millions_of_characters_is_refused_before_it_is_cut() -> None:
    with pytest.raises(InputError, match="at most 1,000,000 characters; got 1,000,001"):
        own_readings("a" * 1_000_001)
