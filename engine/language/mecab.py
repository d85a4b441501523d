"""MeCab with one of several dictionaries: those that are installed as packages, or a directory of the user's."""

from __future__ import annotations

import importlib
import os
import shlex
import subprocess
import sys
import threading
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.language.pieces import pieces
from engine.version import ABSENT, library_version

# Name of a dictionary -> the module of the package that holds it.
PACKAGES = {"ipadic": "ipadic", "unidic-lite": "unidic_lite", "jumandic": "jumandic"}
NEOLOGD = "neologd"
NEOLOGD_VARIABLE = "HAKARI_NEOLOGD_DIR"
# What a compiled dictionary consists of.
FILES = ("char.bin", "dicrc", "matrix.bin", "sys.dic", "unk.dic")
# MeCab's time is quadratic in a run of one script, and some 150,000 words at once end the process.
PIECE_CHARACTERS = 4_000
PROBE_SECONDS = 60

# Opens the dictionary and uses it, in a process of its own: MeCab checks sizes, not contents, and reads beyond the
# memory that is its own where they are damaged.
_PROBE = """
import sys, fugashi
tagger = fugashi.GenericTagger(sys.argv[1])
print(len(tagger(sys.argv[2])), len(tagger.dictionary_info), tagger.dictionary_info[0]["charset"])
"""
_PROBED = "昨日、私は東京タワーでラーメンを食べました。ＧＰＵ GPU 2020年のｶﾞ 龘 😀 <b>it's</b> " * 3
_lock = threading.Lock()


def surfaces(text: str, dictionary: str) -> list[str]:
    """The words of `text` in order, as MeCab cuts it; white space between them is dropped.

    text: no white space but single spaces, no NUL and no surrogates (see `segmenters.word_spans`). dictionary: a name
    of PACKAGES, "neologd", or the path of a directory. Raises ModelError when it is not there or cannot be used.
    """
    with _lock:
        tagger = _tagger_of(dictionary)
        # A dictionary may hold words with a space in them; for a vocabulary they are several.
        return [word for piece in pieces(text, PIECE_CHARACTERS) for node in tagger(piece)
                for word in node.surface.split()]


def directory(dictionary: str) -> Path:
    """Where a dictionary lies: **every** path of a dictionary passes here. Raises ModelError when it is not there."""
    if dictionary in PACKAGES:
        if library_version(dictionary) == ABSENT:
            raise ModelError(f"The MeCab dictionary {dictionary} is not installed. Install the package {dictionary}.")
        return Path(importlib.import_module(PACKAGES[dictionary]).DICDIR)
    named = dictionary
    if dictionary == NEOLOGD:
        named = os.environ.get(NEOLOGD_VARIABLE, "").strip()
        if not named:
            raise ModelError(
                "The MeCab dictionary NEologd comes in no package. Compile it "
                f"(github.com/neologd/mecab-ipadic-neologd) and set {NEOLOGD_VARIABLE} to the directory that holds its "
                "sys.dic.")
    where = Path(named).expanduser()
    missing = [name for name in FILES if not (where / name).is_file()]
    if missing:
        what = "is no directory" if not where.is_dir() else f"holds no {', '.join(missing)}"
        raise ModelError(f"There is no MeCab dictionary in {where}: it {what}. Give the directory of a compiled "
                         f"dictionary, which holds {', '.join(FILES)}.")
    return where.resolve()


def identity(dictionary: str) -> str:
    """MeCab and the dictionary, in words that change when either does. Raises ModelError as `directory`.

    A dictionary that was written again is opened again after this was asked.
    """
    _tagger_of.cache_clear()
    engine = f"fugashi {library_version('fugashi')}"
    if dictionary in PACKAGES:
        directory(dictionary)
        return f"{engine}, {dictionary} {library_version(dictionary)}"
    return f"{engine}, dictionary {_content(directory(dictionary), state(dictionary))[:16]}"


def state(dictionary: str) -> str:
    """What can be said of a dictionary at a glance, without reading it; changes when its files are written again."""
    if dictionary in PACKAGES:
        return library_version(dictionary)
    where = directory(dictionary)
    return f"{where} " + " ".join(f"{(where / name).stat().st_size}:{(where / name).stat().st_mtime_ns}"
                                  for name in FILES)


@lru_cache(maxsize=8)
def _content(where: Path, _state: str) -> str:
    digest = sha256()
    for name in FILES:
        with (where / name).open("rb") as file:
            digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()


@lru_cache(maxsize=8)
def _tagger_of(dictionary: str) -> Any:
    # Its files are looked at once, not for every sentence.
    return _tagger(directory(dictionary), state(dictionary), probed=dictionary not in PACKAGES)


@lru_cache(maxsize=4)
def _tagger(where: Path, _state: str, *, probed: bool) -> Any:
    import fugashi

    # An empty rc file: no system setting counts.
    options = f"-r /dev/null -d {shlex.quote(str(where))}"
    if probed:
        _probe(where, options)
    return fugashi.GenericTagger(options)


def _probe(where: Path, options: str) -> None:
    """Raise ModelError where a dictionary that comes in no package cannot be used."""
    try:
        done = subprocess.run([sys.executable, "-c", _PROBE, options, _PROBED], capture_output=True, text=True,
                              timeout=PROBE_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"MeCab does not get through one sentence with the dictionary in {where}. "
                         "Compile or copy it again.") from error
    said = done.stdout.split()
    if done.returncode or len(said) != 3 or not int(said[0]):
        # The last line of MeCab's own words says which file it stumbled over; a crash leaves none.
        words = [line.strip() for line in done.stderr.splitlines() if line.strip(" -")]
        why = words[-1] if words else f"it crashes (exit code {done.returncode})"
        raise ModelError(f"MeCab cannot use the dictionary in {where}: {why}. Compile or copy it again.")
    if said[1] != "1":
        raise ModelError(f"The dicrc in {where} names user dictionaries as well, which lie elsewhere. Compile them all "
                         "into one dictionary.")
    if said[2].lower().replace("-", "") != "utf8":
        raise ModelError(f"The dictionary in {where} was compiled for {said[2]}, in which no text of ours is found. "
                         "Compile it for UTF-8 (mecab-dict-index -t utf-8).")
