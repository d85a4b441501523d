"""Latin letters as Japanese would write what they say: foreign names by a small table of graphemes, and initials by letter."""

from __future__ import annotations

import re
import unicodedata

_LETTERS = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        [
            "えー",
            "びー",
            "しー",
            "でぃー",
            "いー",
            "えふ",
            "じー",
            "えいち",
            "あい",
            "じぇー",
            "けー",
            "える",
            "えむ",
            "えぬ",
            "おー",
            "ぴー",
            "きゅー",
            "あーる",
            "えす",
            "てぃー",
            "ゆー",
            "ぶい",
            "だぶりゅー",
            "えっくす",
            "わい",
            "ぜっと",
        ],
        strict=True,
    )
)
_INITIALS = re.compile("[A-Z]{2,5}")
MOST_LETTERS = 24
# Graphemes, the longest first: what each is in letters of one sound. "-" lengthens.
_GRAPHEMES = dict(
    entry.split("=")
    for entry in [
        "tzsch=C",
        "tsch=C",
        "tch=C",
        "sch=S",
        "tz=Q",
        "ts=Q",
        "zz=Q",
        "ch=C",
        "sh=S",
        "ph=f",
        "th=s",
        "ck=k",
        "cz=C",
        "sz=S",
        "gh=g",
        "kh=h",
        "dg=j",
        "qu=kw",
        "wh=w",
        "rh=r",
        "ieu=yu-",
        "eau=o-",
        "igh=ai",
        "ee=i-",
        "ea=i-",
        "ie=i-",
        "oo=u-",
        "oe=o-",
        "ou=u-",
        "ow=o-",
        "au=o-",
        "aw=o-",
        "ai=e-",
        "ay=e-",
        "ei=ai",
        "ey=i-",
        "eu=oi",
        "ew=yu-",
        "ce=se",
        "ci=si",
        "cy=si",
        "ge=je",
        "gi=ji",
        "x=ks",
        "c=k",
        "q=k",
        "l=r",
        "v=v",
        "y=i",
        "oh=o-",
        "ah=a-",
        "ae=e-",
        "ue=u-",
    ]
)
_SPLIT = re.compile(
    "|".join(
        f"{grapheme}(?![aeiou])" if grapheme in ("oh", "ah") else grapheme  # Mahler, but not Yahoo
        for grapheme in sorted(_GRAPHEMES, key=len, reverse=True)
    )
    + "|."
)
_ROWS = {
    "": "あいうえお",
    "k": "かきくけこ",
    "g": "がぎぐげご",
    "s": "さしすせそ",
    "z": "ざじずぜぞ",
    "t": "たちつてと",
    "d": "だじづでど",
    "n": "なにぬねの",
    "h": "はひふへほ",
    "b": "ばびぶべぼ",
    "p": "ぱぴぷぺぽ",
    "m": "まみむめも",
    "r": "らりるれろ",
    "f": "ふぁ ふぃ ふ ふぇ ふぉ",
    "v": "ゔぁ ゔぃ ゔ ゔぇ ゔぉ",
    "w": "わ うぃ う うぇ うぉ",
    "j": "じゃ じ じゅ じぇ じょ",
    "C": "ちゃ ち ちゅ ちぇ ちょ",
    "S": "しゃ し しゅ しぇ しょ",
    "Q": "つぁ つぃ つ つぇ つぉ",
    "y": "や い ゆ いぇ よ",
}
_KANA = {
    consonant + vowel: kana
    for consonant, row in _ROWS.items()
    for vowel, kana in zip("aiueo", row.split() if " " in row else row, strict=True)
}
_ALONE = {"t": "と", "d": "ど", "n": "ん", "m": "む", "C": "ち", "S": "しゅ", "j": "じ", "h": "", "y": "い", "w": "う"}


def kana_of_initials(text: str) -> str:
    """The reading of initials by their letters, "" for any other text.

    >>> kana_of_initials("NHK"), kana_of_initials("ＴＢＳ"), kana_of_initials("Nhk")
    ('えぬえいちけー', 'てぃーびーえす', '')
    """
    plain = unicodedata.normalize("NFKC", text)
    return "".join(_LETTERS[letter] for letter in plain) if _INITIALS.fullmatch(plain) else ""


def kana_of_spelling(text: str) -> str:
    """What a foreign name in Latin letters may sound like in kana, "" for what has other letters.

    A guess by the graphemes of German, English and French together, which knows no stress and no silent letter but a
    final e: good enough to tell that a name in katakana may be the same, never that it is another.

    >>> kana_of_spelling("Nietzsche"), kana_of_spelling("Gauguin"), kana_of_spelling("Tolstoi")
    ('にーちぇ', 'ごーぐいん', 'とるすとい')
    >>> kana_of_spelling("Mahler"), kana_of_spelling("Yahoo")
    ('まーれる', 'やふー')
    """
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    plain = "".join(letter for letter in plain if unicodedata.category(letter) != "Mn")
    if not re.fullmatch("[a-z]+", plain) or len(plain) > MOST_LETTERS:
        return ""
    plain = re.sub(r"([bcdfgklmnprstz])\1", r"\1", plain)
    plain = re.sub("y(?=[aeou])", "Y", plain)  # a consonant: Yahoo
    sounded = "".join(_GRAPHEMES.get(part, part) for part in _SPLIT.findall(plain)).replace("Y", "y")
    if re.search("[aeiou].*[^aeiou-]e$", sounded) and not plain.endswith("sche"):
        sounded = sounded[:-1]
    kana, consonant = [], ""
    for letter in sounded:
        if letter in "aiueo":
            kana.append(_KANA.get(consonant + letter) or _ALONE.get(consonant, "") + _KANA[letter])
            consonant = ""
        elif letter == "-":
            kana.append("ー")
        else:
            if consonant:
                kana.append(_ALONE.get(consonant) or _KANA.get(consonant + "u", ""))
            consonant = letter
    if consonant:
        kana.append(_ALONE.get(consonant) or _KANA.get(consonant + "u", ""))
    return "".join(kana)
