"""The texts that the catalogues take up, and how finished English texts of stored runs are read in Japanese."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter

import pytest

import docs.catalogues
from docs.catalogues import catalogue, texts_of, written
from engine.language.quantities import NOUNS
from engine.messages import catalogues, earlier_texts, languages
from engine.messages.catalogues import ROOT, places, read_catalogue
from engine.messages.earlier_texts import Earlier, reading
from engine.messages.languages import tr, tr_n, translated
from engine.messages.message import Message, restored

CACHES = (
    catalogues.messages,
    catalogues.compiled,
    earlier_texts._of_engine,
    earlier_texts._sentences,
    earlier_texts._reading,
)
Catalogues = Callable[..., None]


@pytest.fixture
def extracted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Take the texts of a file of the engine, or of another folder."""
    monkeypatch.setattr(docs.catalogues, "ROOT", tmp_path)
    monkeypatch.setattr(docs.catalogues, "COMMANDS", tmp_path / "engine" / "commands")

    def extract(source: str, folder: str = "engine/evaluations") -> list[str]:
        path = tmp_path / folder / "file.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return [f"{text.text} // {text.many}" if text.many else text.text for text in texts_of(path)]

    return extract


@pytest.fixture
def japanese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Catalogues]:
    """Write the catalogues, English -> Japanese, in whose language all texts are then wanted."""
    for module in (catalogues, earlier_texts):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(languages, "_chosen", lambda: "ja")

    def write(
        engine: dict[str, str], page: dict[str, str] | None = None, numbers: dict[tuple[str, str], str] | None = None
    ) -> None:
        _write(tmp_path / "engine" / "runs" / "ja.po", engine, numbers or {})
        _write(tmp_path / "dashboard" / "home" / "ja.po", page or {}, {})

    _forget()
    yield write
    _forget()


def _write(path: Path, texts: dict[str, str], numbers: dict[tuple[str, str], str]) -> None:
    path.parent.mkdir(parents=True)
    entries = [f'msgid "{english}"\nmsgstr "{own}"\n' for english, own in texts.items()]
    entries += [f'msgid "{one}"\nmsgid_plural "{many}"\nmsgstr[0] "{own}"\n' for (one, many), own in numbers.items()]
    path.write_text(written(catalogue([], None)) + "\n".join(entries), encoding="utf-8")


def _forget() -> None:
    for cache in CACHES:
        cache.cache_clear()


def test_the_templates_of_messages_are_texts(extracted: Callable[..., list[str]]) -> None:
    assert extracted('''
def refuse(path, table):
    """A docstring is no text for a reader."""
    TITLE = "left alone, as no reader sees it"
    raise InputError(Message("{path} has {n:,} rows; at most {most} are read.", path=path, n=table.n, most=MOST)
                     if table else Message("The file is empty. {why}", why=Message("No row")))
notice = Message("{model}: {notice}", model=model, notice=notice)
''') == ["{path} has {n:,} rows; at most {most} are read.", "The file is empty. {why}", "No row"]


def test_declarations_are_texts_in_what_a_reader_sees_of_them(extracted: Callable[..., list[str]]) -> None:
    texts = extracted("""
TABLE = Table("pairs", Message("A row for each pair."), (
    Column("n tied pairs", "integer or none", "pairs", "tokens", dtype="a dtype"),
    replace(MODEL, dtype="of a category", meaning="its model"),
))
@dataclass
class Settings:
    seed: int = option(0, "Seed of it.", least=0, unit="words", unset="the last layer", metavar="A B")
    kind: str = option("a", "Kind.", choices={"not this": "explained here"})
    side: str = option("a", "Side.", choices=("not this", "nor this"))
PRINTED = PaperTable("key", "Scores printed", SOURCE, "table 2", ("model", "no head"),
                         (("Some Model", "1"),), {}, "A note.")
CARD = MeasureCard("key", "Name", "N_m", "N = a / b", "[0, 1]", "nats", "lower", "How far?", "Paper 2020", digits=1)
CARD = MeasureCard("key", "Name", "N_m", "N = mean of x", "[0, 1], 0 is chance", "", "lower", "How?", "Paper")
""")
    assert sorted(set(texts)) == sorted(
        {
            "A row for each pair.",
            "pairs",
            "tokens",
            "its model",
            "Seed of it.",
            "words",
            "the last layer",
            "Kind.",
            "explained here",
            "Side.",
            "Scores printed",
            "A note.",
            "Name",
            "nats",
            "How far?",
            "How?",
            "Paper",
            "Paper 2020",
            "N = mean of x",
            "[0, 1], 0 is chance",
        }
    )


def test_every_number_with_a_noun_is_counted_in_the_catalogue() -> None:
    """`count` makes "3 pairs" of a number and "pair"; both forms of every noun of the engine are texts."""
    nouns = {
        node.args[1].value
        for path in (ROOT / "engine").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "count"
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    }
    assert "pair" in nouns
    assert nouns <= set(NOUNS)


def test_what_a_command_does_is_a_text(extracted: Callable[..., list[str]]) -> None:
    source = '"""`python -m engine idf`: counts an idf dictionary.\n\nMore of it.\n"""\n'
    assert extracted(source, "engine/commands") == ["counts an idf dictionary."] and extracted(source) == []


def test_a_page_gives_what_its_calls_and_errors_hold(extracted: Callable[..., list[str]]) -> None:
    texts = extracted(
        """
st.write(tr("Some rows" if some else "No rows"), tr_n("{n} run", "{n:,} runs", n), "left for bare_texts")
TITLE = mark("Clusters")
raise InputError(Message("The column {name} is empty.", name=name))
""",
        "dashboard/home",
    )
    assert sorted(texts) == sorted(
        ["Some rows", "No rows", "{n} run // {n:,} runs", "Clusters", "The column {name} is empty."]
    )


def test_a_catalogue_keeps_translations_and_drops_what_is_gone(tmp_path: Path) -> None:
    texts = [docs.catalogues.Text(tmp_path, 1, text) for text in ("kept text", "new text")]
    path = tmp_path / "ja.po"
    _write(tmp_path / "sub" / "ja.po", {"kept text": "残る", "gone text": "消える"}, {})
    path.write_text(written(catalogue(texts, read_catalogue(tmp_path / "sub" / "ja.po"))), encoding="utf-8")
    assert {message.id: message.string for message in read_catalogue(path) if message.id} == {
        "kept text": "残る",
        "new text": "",
    }


def test_values_are_put_into_the_translation_wherever_their_places_are(japanese: Catalogues) -> None:
    japanese({"{path} has {rows} rows; at most {MOST} are read.": "{MOST}行まで読めますが、{path}は{rows}行です。"})
    assert recognised("a.csv has 1,200 rows; at most 5 are read.") == "5行まで読めますが、a.csvは1,200行です。"
    assert recognised("a.csv is nothing that we know.") == "a.csv is nothing that we know."


def test_braces_of_a_text_or_a_value_are_characters(japanese: Catalogues) -> None:
    japanese({"No {{place}} in {path}.": "{path}に{{place}}がありません。", "A {{brace}} alone": "{{波括弧}}だけ"})
    assert recognised("No {place} in {x}.") == "{x}に{place}がありません。"
    assert recognised("A {brace} alone") == "{波括弧}だけ"


def test_formats_of_a_translation_do_not_matter_to_values_that_are_text(japanese: Catalogues) -> None:
    japanese({"{n:,} rows of {x:.3f} at {share:.1%}": "{share:.1%}で{x:.3f}の{n:,}行"})
    assert recognised("1,200 rows of 0.125 at 5.0%") == "5.0%で0.125の1,200行"
    assert recognised("many rows of nothing at all") == "many rows of nothing at all"


def test_a_value_may_be_a_sentence_and_have_another_in_it(japanese: Catalogues) -> None:
    japanese(
        {
            "{model} failed: {reason}.": "{model}は失敗しました: {reason}。",
            "no token, because {why}": "トークンがありません（{why}）",
            "the text is empty": "テキストが空です",
        }
    )
    assert recognised("m failed: no token, because the text is empty.") == (
        "mは失敗しました: トークンがありません（テキストが空です）。"
    )


def test_the_sentence_with_more_of_its_own_words_counts(japanese: Catalogues) -> None:
    japanese(
        {
            "{what} cannot be read.": "{what}は読めません。",
            "The file {path} cannot be read.": "ファイル{path}を読み込めません。",
            "{a} of {b}": "{b}の{a}",
        }
    )
    assert recognised("The file a of b cannot be read.") == "ファイルbのaを読み込めません。"
    assert recognised("The row cannot be read.") == "The rowは読めません。"


def test_sentences_one_after_the_other_are_read_each(japanese: Catalogues) -> None:
    japanese(
        {
            "Left out: {names}.": "除外: {names}。",
            "It is short. It is old.": "短く古いです。",
            "{n} remain.": "{n}件が残ります。",
        }
    )
    assert recognised("Left out: a, b. It is short. It is old. 3 remain.") == (
        "除外: a, b。短く古いです。3件が残ります。"
    )
    assert recognised("Never heard of. It is short. It is old.") == "Never heard of. 短く古いです。"


def test_a_place_at_the_beginning_does_not_take_the_sentence_before(japanese: Catalogues) -> None:
    japanese(
        {
            "{model}: It is read after {token}.": "{model}: {token}の後に読みます。",
            "{n} of {pairs} differ in it.": "{pairs}のうち{n}で異なります。",
        }
    )
    assert recognised("m: It is read after <s>. 2 of 5 differ in it.") == "m: <s>の後に読みます。5のうち2で異なります。"


def test_a_sentence_behind_names_and_those_of_several_lines_are_read(japanese: Catalogues) -> None:
    japanese(
        {
            "No map is drawn.": "マップは描かれません。",
            "  row {row}: {reason}": "  {row}行目: {reason}",
            "the text is empty": "テキストが空です",
        }
    )
    assert recognised("a, b: No map is drawn.") == "a, b: マップは描かれません。"
    assert recognised("No map is drawn.\n  row 3: the text is empty\nelse") == (
        "マップは描かれません。\n  3行目: テキストが空です\nelse"
    )
    assert recognised(" No map is drawn. ") == " マップは描かれません。 "


def test_numbers_with_nouns_are_read_in_a_sentence(japanese: Catalogues) -> None:
    japanese(
        {"{pairs} left out.": "{pairs}を除外しました。"},
        numbers={
            ("{n} pair", "{n:,} pairs"): "{n:,}対",
            ("{n} row repeats: {listed}.", "{n:,} rows repeat: {listed}."): "{n:,}行が重複: {listed}。",
        },
    )
    assert recognised("1 pair left out.") == "1対を除外しました。"
    assert recognised("1,200 pairs left out.") == "1,200対を除外しました。"
    assert recognised("Some pairs left out.") == "Some pairsを除外しました。"
    assert recognised("2 rows repeat: 4, 9.") == "2行が重複: 4, 9。"
    assert (tr_n("{n} pair", "{n:,} pairs", 1), tr_n("{n} pair", "{n:,} pairs", 1200)) == ("1対", "1,200対")


def test_a_readers_own_words_stay(japanese: Catalogues) -> None:
    """What is in quotation marks, and a value that only a page's words would fit."""
    japanese(
        {"The class '{name}' has {what}.": "クラス「{name}」は{what}です。", "one sentence": "1文"},
        page={"Music": "音楽", "{n:,} runs": "{n:,}件"},
    )
    assert recognised("The class 'one sentence' has one sentence.") == "クラス「one sentence」は1文です。"
    assert recognised("The class 'a' has Music.") == "クラス「a」はMusicです。"
    assert tr("Music") == translated("Music") == "音楽"


def test_a_list_of_known_items_is_one_in_japanese(japanese: Catalogues) -> None:
    japanese({"{n:,} pairs": "{n:,}対", "too long": "長すぎる", "Left out: {what}.": "除外: {what}。"})
    assert recognised("Left out: 3 pairs, too long and 5 pairs.") == "除外: 3対、長すぎる、5対。"
    assert recognised("Left out: 3 pairs, too long, 5 pairs, ….") == "除外: 3対、長すぎる、5対、…。"
    assert recognised("Left out: 3 pairs, x.") == "除外: 3 pairs, x。"


def test_a_text_with_many_matches_of_a_part_is_read_at_once(japanese: Catalogues) -> None:
    """No place is tried at every position of every other, as a pattern would: 60,000 characters, five places."""
    japanese({"{a} of {b} of {c} of {d} of {e}, and no more.": "{a}{b}{c}{d}{e}"})
    started = time.process_time()  # no other process's
    assert reading("ja", "x of " * 12_000 + "y").n_known == 0
    assert time.process_time() - started < 5


def test_unknown_texts_are_read_fast() -> None:
    """1,000 that no sentence of the whole catalogues fits, a name and a number in each: about 0.2 s."""
    texts = [
        f"Nothing of ours is said of model-{i} here, and no row {i} of it. Whatever comes, is so." for i in range(1000)
    ]
    reading("ja", "The catalogues are read first.")
    started = time.process_time()  # no other process's
    for text in texts:
        reading("ja", text)
    assert time.process_time() - started < 5


def test_every_declared_text_of_the_engine_is_read_as_it_is_translated() -> None:
    """Each entry of the engine's catalogues, filled with values, is found again: no other sentence takes its place."""
    lost = []
    for path, message in catalogues.messages("ja"):
        if "engine" in path.parts and isinstance(message.id, str) and len(places(message.id)) == 1:
            (name,) = places(message.id)
            value = "12" if message.id.count("{" + name + ":") else "Xyz-7"
            english, own = (
                earlier_texts._Sentence(text, text).translation.format(**{name: value})
                for text in (message.id, str(message.string))
            )
            if earlier_texts._Sentence(message.id, "").length > 12 and recognised(english) != own:
                lost.append((english, own, recognised(english)))
    assert not lost


def recognised(text: str) -> str:
    return Earlier(text).in_language("ja")


@pytest.mark.parametrize("former", catalogues.FORMER)
def test_a_template_of_a_stored_run_is_translated_as_the_one_that_took_its_place(former: str) -> None:
    now = catalogues.FORMER[former]
    values = {name: 7 if form else f"value-{name}" for _, name, form, _ in Formatter().parse(now) if name}
    assert former != now and places(former) == places(now)
    japanese = Message(now, **values).in_language("ja")
    assert japanese != Message(now, **values)
    assert restored(Message(former, **values).stored()).in_language("ja") == japanese  # with its values
    assert Earlier(former.format(**values)).in_language("ja") == japanese  # as versions before kept it
