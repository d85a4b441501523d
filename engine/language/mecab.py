"""MeCab with one of several dictionaries: those that are installed as packages, or a directory of the user."""

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
from engine.messages.message import Message, list_of
from engine.version import ABSENT, library_version

# Name of a dictionary -> the module of the package that holds it.
PACKAGES = {"ipadic": "ipadic", "unidic-lite": "unidic_lite", "jumandic": "jumandic"}
NEOLOGD = "neologd"
NEOLOGD_VARIABLE = "HAKARI_NEOLOGD_DIR"
# The files of a compiled dictionary.
FILES = ("char.bin", "dicrc", "matrix.bin", "sys.dic", "unk.dic")
# MeCab's time is quadratic in a run of one script, and some 150,000 words at once crash the process.
PIECE_CHARACTERS = 4_000
PROBE_SECONDS = 60
# How an analysis is written as text: each word and its features, none for a word that the dictionary lacks.
FORMAT = '-O "" -F "%m\\t%H\\n" -U "%m\\t\\n" -E "EOS\\n"'

# Opens and uses the dictionary in a separate process: MeCab checks the sizes of its files, not their contents, and
# reads out of bounds where these are damaged.
_PROBE = Message(
    "\nimport sys, fugashi\ntagger = fugashi.GenericTagger(sys.argv[1])\nprint(len(tagger(sys.argv[2])), "
    'len(tagger.dictionary_info), tagger.dictionary_info[0]["charset"])\n'
)
_PROBE_TEXT = "昨日、私は東京タワーでラーメンを食べました。ＧＰＵ GPU 2020年のｶﾞ 龘 😀 <b>it's</b> " * 3
_lock = threading.Lock()


def surfaces(text: str, dictionary: str) -> list[str]:
    """The words of `text` in order, by MeCab; white space between them is dropped.

    text: no white space but single spaces, no NUL and no surrogates (see `segmenters.word_spans`). dictionary: a name
    of PACKAGES, "neologd", or the path of a directory. Raises ModelError when it is not there or cannot be used.
    """
    with _lock:
        tagger = _tagger_of(dictionary, os.environ.get(NEOLOGD_VARIABLE))
        # A dictionary may hold words with a space in them; a vocabulary holds their parts.
        return [
            word for piece in pieces(text, PIECE_CHARACTERS) for node in tagger(piece) for word in node.surface.split()
        ]


def whole_words(text: str, dictionary: str, n: int) -> list[tuple[str, ...]]:
    """The features of a text as one word of the dictionary, of each of its n best analyses that takes it for one.

    text: as in `surfaces`, without white space. Raises ModelError as `surfaces`.

    >>> [features[7] for features in whole_words("菅野", "ipadic", 2)]
    ['カンノ', 'スガノ']
    """
    with _lock:
        tagger = _tagger_of(dictionary, os.environ.get(NEOLOGD_VARIABLE))
        try:
            analyses = tagger.nbest(text, n)  # as text: the nodes of fugashi's n best point into a text that is gone
        except UnicodeDecodeError:  # jumandic 1.0.0 has entries that are no UTF-8 (ことね)
            return []
    words: list[list[str]] = [[]]  # of each analysis
    for line in analyses.splitlines():
        if "\t" in line:
            words[-1].append(line.partition("\t")[2])
        else:
            words.append([])
    return [tuple(of_one[0].split(",")) for of_one in words if len(of_one) == 1 and of_one[0]]


def directory(dictionary: str) -> Path:
    """The directory of a dictionary, checked for its files. Raises ModelError when it is not there."""
    if dictionary in PACKAGES:
        if library_version(dictionary) == ABSENT:
            raise ModelError(
                Message(
                    "The MeCab dictionary {dictionary} is not installed. Install the package {dictionary}.",
                    dictionary=dictionary,
                )
            )
        return Path(importlib.import_module(PACKAGES[dictionary]).DICDIR)
    path_name = dictionary
    if dictionary == NEOLOGD:
        path_name = os.environ.get(NEOLOGD_VARIABLE, "").strip()
        if not path_name:
            raise ModelError(
                Message(
                    "The MeCab dictionary NEologd comes in no package. Compile it "
                    "(github.com/neologd/mecab-ipadic-neologd) and set {NEOLOGD_VARIABLE} to the directory that "
                    "holds its sys.dic.",
                    NEOLOGD_VARIABLE=NEOLOGD_VARIABLE,
                )
            )
    path = Path(path_name).expanduser()
    missing = [name for name in FILES if not (path / name).is_file()]
    if missing:
        what = (
            Message("is no directory") if not path.is_dir() else Message("holds no {missing}", missing=list_of(missing))
        )
        raise ModelError(
            Message(
                "There is no MeCab dictionary in {path}: it {what}. Give the directory of a compiled "
                "dictionary, which holds {FILES}.",
                path=path,
                what=what,
                FILES=list_of(FILES),
            )
        )
    return path.resolve()


def identity(dictionary: str) -> str:
    """The versions of MeCab and of the dictionary. Raises ModelError as `directory`.

    A dictionary that was written again is opened again after this call.
    """
    _tagger_of.cache_clear()
    engine = Message("fugashi {library_version}", library_version=library_version("fugashi"))
    if dictionary in PACKAGES:
        directory(dictionary)
        return f"{engine}, {dictionary} {library_version(dictionary)}"
    return Message(
        "{engine}, dictionary {dictionary}",
        engine=engine,
        dictionary=_content(directory(dictionary), state(dictionary))[:16],
    )


def state(dictionary: str) -> str:
    """The version of a dictionary, or the sizes and times of its files: changes when they are written again."""
    if dictionary in PACKAGES:
        return library_version(dictionary)
    path = directory(dictionary)
    return f"{path} " + " ".join(f"{(path / name).stat().st_size}:{(path / name).stat().st_mtime_ns}" for name in FILES)


@lru_cache(maxsize=8)
def _content(path: Path, _state: str) -> str:
    digest = sha256()
    for name in FILES:
        with (path / name).open("rb") as file:
            digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()


@lru_cache(maxsize=8)
def _tagger_of(dictionary: str, _neologd: str | None) -> Any:
    # Its files are checked once, not for every sentence.
    return _tagger(directory(dictionary), state(dictionary), needs_probe=dictionary not in PACKAGES)


@lru_cache(maxsize=4)
def _tagger(path: Path, _state: str, *, needs_probe: bool) -> Any:
    import fugashi

    # An empty rc file: no system setting applies.
    options = f"-r /dev/null -d {shlex.quote(str(path))} {FORMAT}"
    if needs_probe:
        _probe(path, options)
    return fugashi.GenericTagger(options)


def _probe(path: Path, options: str) -> None:
    """Raise ModelError if MeCab cannot use a dictionary that was not installed as a package."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE, options, _PROBE_TEXT],
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelError(
            Message(
                "MeCab does not get through one sentence with the dictionary in {path}. Compile or copy it again.",
                path=path,
            )
        ) from error
    counts_and_charset = done.stdout.split()
    if done.returncode or len(counts_and_charset) != 3 or not int(counts_and_charset[0]):
        # The last line of MeCab's messages names the file it failed on; a crash leaves none.
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip(" -")]
        reason = lines[-1] if lines else Message("it crashes (exit code {returncode})", returncode=done.returncode)
        raise ModelError(
            Message(
                "MeCab cannot use the dictionary in {path}: {reason}. Compile or copy it again.",
                path=path,
                reason=reason,
            )
        )
    if counts_and_charset[1] != "1":
        raise ModelError(
            Message(
                "The dicrc in {path} names user dictionaries as well, which lie elsewhere. Compile "
                "them all into one dictionary.",
                path=path,
            )
        )
    if counts_and_charset[2].lower().replace("-", "") != "utf8":
        raise ModelError(
            Message(
                "The dictionary in {path} was compiled for {counts_and_charset}, but texts are in "
                "UTF-8. Compile it for UTF-8 (mecab-dict-index -t utf-8).",
                path=path,
                counts_and_charset=counts_and_charset[2],
            )
        )
