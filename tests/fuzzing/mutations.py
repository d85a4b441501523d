"""Damaged copies of real files: bytes, JSON values and members of archives, drawn by a seed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

# What readers tend to trip over, as bytes.
ODD_BYTES = [
    b"",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n\n",
    b"\r\n",
    b'"',
    b'""',
    b"'",
    b"=",
    b"'=",
    b",",
    b"\t",
    b"[" * 2000,
    b"{" * 500,
    b'{"a":' * 500,
    b"9" * 5000,
    b"1e999",
    b"-0",
    b"NaN",
    b"Infinity",
    b"null",
    b"\\ud800",
    b"\\u0000",
    b"\x1b$B",
    b"\x82",
    b"\x83\x41",
    b"\xa4\xa2",
    b"\xe3\x81\x82",
    b"\xf0\x9f\x90\xbc",
    b"\xed\xa0\x80",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"&#0;",
    b"&b;",
    b"]]>",
    b"../",
    b"PK\x03\x04",
    b"\x1f\x8b",
    "　".encode(),
    "\u2028".encode(),
    "\u202e".encode(),
    b"a" * 140_000,
]
ODD_VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    2**63,
    10**400,
    1e308,
    -0.0,
    float("nan"),
    "",
    " ",
    "\0",
    "x" * 10_000,
    "\ud800",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"card": [1]},
    [1, "a"],
    "../../etc/passwd",
    "/dev/null",
    "paper/mecab",
    "=1+1",
]
MAX_EDITS = 4


def damaged(raw: bytes, random: Random) -> bytes:
    """Bytes with one to MAX_EDITS edits: cut, repeated, moved, replaced or odd ones put in."""
    content = bytearray(raw)
    for _ in range(random.randint(1, MAX_EDITS)):
        start = random.randint(0, len(content))
        end = min(len(content), start + int(random.expovariate(1 / 12)) + 1)
        part = bytes(content[start:end])
        edit = random.randrange(7)
        if edit == 0:
            del content[start:end]
        elif edit == 1:
            content[start:start] = part * random.choice([1, 2, 50])
        elif edit == 2:
            content[start:end] = random.choice(ODD_BYTES)
        elif edit == 3:
            content[start:start] = random.choice(ODD_BYTES)
        elif edit == 4 and part:
            content[start] ^= 1 << random.randrange(8)
        elif edit == 5:
            del content[start:]
        else:
            other = random.randint(0, len(content))
            content[other:other] = part
    return bytes(content)


def damaged_json(value: Any, random: Random) -> Any:
    """A JSON value with one place of it replaced, removed, renamed or repeated."""
    if random.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return random.choice(ODD_VALUES)
    if isinstance(value, list):
        position, edit = random.randrange(len(value)), random.randrange(3)
        if edit == 0:
            return value[:position] + value[position + 1 :]
        if edit == 1:
            return value[:position] + [value[position]] * random.choice([2, 100]) + value[position + 1 :]
        return [*value[:position], damaged_json(value[position], random), *value[position + 1 :]]
    key, edit = random.choice(list(value)), random.randrange(5)
    rest = {name: item for name, item in value.items() if name != key}
    if edit == 0:
        return rest
    if edit == 1:
        return rest | {random.choice(["", "card", "Ünknown", key.upper(), "x" * 5000]): value[key]}
    return value | {key: damaged_json(value[key], random)}


def damaged_json_bytes(raw: bytes, random: Random) -> bytes:
    """A JSON file with another value, with a key written twice, or with damaged bytes."""
    choice = random.random()
    if choice < 0.25:
        return damaged(raw, random)
    value = json.loads(raw)
    if choice < 0.35 and isinstance(value, dict) and value:
        key = random.choice(list(value))
        return raw.rstrip()[:-1] + b"," + json.dumps({key: random.choice(ODD_VALUES[:5])}).encode()[1:]
    for _ in range(random.randint(1, 2)):
        value = damaged_json(value, random)
    return json.dumps(value, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")


def damaged_zip(raw: bytes, random: Random) -> bytes:
    """A zip whose bytes, or one of whose members, is damaged, renamed, or there twice."""
    if random.random() < 0.3:
        return damaged(raw, random)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    position = random.randrange(len(members))
    name, content = members[position]
    edits: list[Callable[[], tuple[str, bytes]]] = [
        lambda: (name, damaged(content, random)),
        lambda: (name, damaged(content, random)),
        lambda: (name, b""),
        lambda: (random.choice(["../a", "/a", "a\\b", "", "a/", "C:/a", "表.txt", ".hidden"]), content),
    ]
    members[position] = random.choice(edits)()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for member, data in members:
            archive.writestr(zipfile.ZipInfo(member), data)
    return packed.getvalue()
