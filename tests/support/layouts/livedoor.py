"""A small synthetic corpus in the layout of the livedoor corpus."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

TOPICS = {
    "sports-watch": ("逆転", "決勝", "監督", "先発", "得点", "連勝"),
    "movie-enter": ("監督", "主演", "公開", "試写", "続編", "原作"),
    "it-life-hack": ("端末", "通信", "画面", "設定", "更新", "電池"),
}
N_EACH = 12


def article(category: str, number: int, title: str, body: str = "") -> tuple[str, bytes]:
    text = f"http://example.com/{category}/{number}/\n2012-01-{1 + number % 28:02d}T09:00:00+0900\n{title}\n{body}\n"
    return f"text/{category}/{category}-{4000000 + number}.txt", text.encode()


def files(n_each: int = N_EACH) -> dict[str, bytes]:
    """Articles of three categories, and what is published beside them."""
    contents = {"text/README.txt": b"read me", "text/CHANGES.txt": b"nothing\nnew\nhere\n"}
    for category, words in TOPICS.items():
        contents[f"text/{category}/LICENSE.txt"] = "表示\n改変禁止\nの条件\n".encode()
        for number in range(n_each):
            first_word, second_word = words[number % len(words)], words[(number // len(words) + 1) % len(words)]
            name, raw = article(
                category,
                number,
                f"{first_word}と{second_word}の話題、その{number}",
                f"{first_word}についての記事である。\n\n{second_word}も{number}回出てくる。",
            )
            contents[name] = raw
    return contents


def zipped(contents: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in contents.items():
            archive.writestr(name, raw)
    return packed.getvalue()


def tar_gz(contents: dict[str, bytes]) -> bytes:
    with tarfile.open(fileobj=(packed := io.BytesIO()), mode="w:gz") as archive:
        for name, raw in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            archive.addfile(info, io.BytesIO(raw))
    return packed.getvalue()


def unpacked(contents: dict[str, bytes], folder: Path) -> Path:
    for name, raw in contents.items():
        folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).write_bytes(raw)
    return folder
