"""A stand-in for Juman++ 2: the longest words of a small lexicon, else single characters.

It ends when it is given more than the 4,096 bytes that Juman++ takes.
"""

from __future__ import annotations

import sys
from pathlib import Path

LEXICON = (
    "昨日",
    "東京",
    "タワー",
    "ラーメン",
    "食べました",
    "小説",
    "図書館",
    "ＧＰＵ",
    "２０２０",
    "斉藤",
    "眠って",
    "いる",
    "とても",
    "面白かった",
    "ＢＥＲＴ",
    "GPU",
)
VERSION = "Juman++ Version: 2.0.0-rc4 / Dictionary: a small lexicon / LM: none"

_PROGRAM = """#!{python}
import sys
LEXICON = {lexicon!r}
if "--version" in sys.argv:
    print({version!r})
    raise SystemExit
for line in sys.stdin.buffer:
    if len(line) > 4096:
        sys.exit("the input is longer than 4096 bytes")
    text, position = line.decode().rstrip("\\n"), 0
    while position < len(text):
        rest = text[position:]
        word = max((word for word in LEXICON if rest.startswith(word)), key=len, default=rest[0])
        position += len(word)
        kind = "特殊 1 空白 6" if word.isspace() else "名詞 6 普通名詞 1"
        print(f'{{word}} {{word}} {{word}} {{kind}} * 0 * 0 "代表表記:{{word}}/{{word}}"')
        if word == "図書館":  # another reading of the same word
            print(f'@ {{word}} {{word}} {{word}} 名詞 6 固有名詞 3 * 0 * 0 NIL')
    print("EOS", flush=True)
"""


def install(folder: Path) -> str:
    """Write the program `jumanpp` into `folder`, to be put on the PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "jumanpp"
    program.write_text(_PROGRAM.format(python=sys.executable, lexicon=LEXICON, version=VERSION), encoding="utf-8")
    program.chmod(0o755)
    return str(folder)


def words(text: str) -> list[str]:
    """The segmentation by the program of a text without white space."""
    segments = []
    while text:
        word = max((word for word in LEXICON if text.startswith(word)), key=len, default=text[0])
        segments.append(word)
        text = text[len(word) :]
    return segments
