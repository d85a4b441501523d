"""The endpoints of HAKARI_ENDPOINTS: models behind a completions address, which the operator alone names.

    HAKARI_ENDPOINTS="llama=https://gpu1:8000/v1 model=meta-llama/Llama-3.1-8B key=LLAMA_KEY; gpt2=http://127.0.0.1:8001/v1
                      model=gpt2 bos=<|endoftext|>"

Entries are separated by semicolons, the fields of an entry by white space: NAME=ADDRESS, then model=, and where needed
key= (the variable that holds the API key), bos=, requests= and timeout=. A user names the model endpoint/NAME.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from engine.errors import InputError
from engine.messages.message import Message, list_of
from engine.models.sources.endpoint_names import ENDPOINT_PREFIX, is_endpoint

ENDPOINTS = "HAKARI_ENDPOINTS"
DEFAULT_REQUESTS, MOST_REQUESTS = 4, 64
DEFAULT_TIMEOUT, LONGEST_TIMEOUT = 120.0, 3600.0  # seconds

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FIELDS = ("model", "key", "bos", "requests", "timeout")


@dataclass(frozen=True)
class Endpoint:
    """One entry: a model that a server serves.

    name: what users type after "endpoint/". address: of the server's API, without a slash at its end, such as
    https://gpu1:8000/v1. model: as the server calls it. key: of the API, "" for none; never shown. bos: the spelling of
    a token that is put before each sentence where the server puts none, "" for none. requests: how many are in flight
    at once. timeout: seconds for one request.
    """

    name: str
    address: str
    model: str
    key: str = field(default="", repr=False)
    bos: str = ""
    requests: int = DEFAULT_REQUESTS
    timeout: float = DEFAULT_TIMEOUT

    @property
    def host(self) -> str:
        """Host, and the port where the address names one.

        >>> Endpoint("x", "https://gpu1:8000/v1", "m").host
        'gpu1:8000'
        """
        return urlsplit(self.address).netloc

    @property
    def full_name(self) -> str:
        """The name of the model in settings and results.

        >>> Endpoint("x", "https://gpu1:8000/v1", "m").full_name
        'endpoint/x'
        """
        return f"{ENDPOINT_PREFIX}{self.name}"


def endpoints(environment: Mapping[str, str] | None = None) -> dict[str, Endpoint]:
    """The endpoints by full name ("endpoint/NAME"), in the operator's order; none where the variable is not set.

    Raises InputError for an entry that cannot be, without repeating what may be secret in it.
    """
    environment = os.environ if environment is None else environment
    by_name: dict[str, Endpoint] = {}
    for entry in environment.get(ENDPOINTS, "").split(";"):
        if not entry.strip():
            continue
        endpoint = _endpoint(entry.split(), environment)
        if endpoint.full_name in by_name:
            raise InputError(Message("{ENDPOINTS} names {name} twice.", ENDPOINTS=ENDPOINTS, name=endpoint.name))
        by_name[endpoint.full_name] = endpoint
    return by_name


def endpoint_state(name: str) -> str:
    """What decides which model an endpoint's name stands for: address, model and bos; "" for any other text."""
    endpoint = endpoints().get(name) if is_endpoint(name) else None
    return f"{endpoint.address} {endpoint.model} {endpoint.bos}" if endpoint else ""


def _endpoint(words: list[str], environment: Mapping[str, str]) -> Endpoint:
    name, equals, address = words[0].partition("=")
    if not equals or not _NAME.fullmatch(name):
        raise InputError(
            Message(
                "An entry of {ENDPOINTS} begins with NAME=ADDRESS, the name of Latin letters, "
                "digits, '.', '_' and '-', such as llama=https://gpu1:8000/v1; further fields follow "
                "after a space.",
                ENDPOINTS=ENDPOINTS,
            )
        )
    values: dict[str, str] = {}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals or not value or key not in _FIELDS or key in values:
            shown = key if key in _FIELDS else Message("another one")
            raise InputError(
                Message(
                    "{ENDPOINTS}: the fields of {name} are {_FIELDS}, each at most once and with a "
                    "value without spaces; got {shown}.",
                    ENDPOINTS=ENDPOINTS,
                    name=name,
                    _FIELDS=list_of(f"{known}=" for known in _FIELDS),
                    shown=shown,
                )
            )
        values[key] = value
    if "model" not in values:
        raise InputError(
            Message(
                "{ENDPOINTS}: {name} lacks model=, the name under which the server serves the model.",
                ENDPOINTS=ENDPOINTS,
                name=name,
            )
        )
    return Endpoint(
        name,
        _address(name, address),
        values["model"],
        _key(name, values.get("key", ""), environment),
        values.get("bos", ""),
        int(_number(name, "requests", values.get("requests", str(DEFAULT_REQUESTS)), MOST_REQUESTS, whole=True)),
        _number(name, "timeout", values.get("timeout", str(DEFAULT_TIMEOUT)), LONGEST_TIMEOUT, whole=False),
    )


def _address(name: str, address: str) -> str:
    expected = Message(
        "{ENDPOINTS}: the address of {name} is http:// or https:// with a host and the path of the "
        "API, such as https://gpu1:8000/v1, without user, password, query or fragment (a key is named "
        "by key=).",
        ENDPOINTS=ENDPOINTS,
        name=name,
    )
    try:
        parts: SplitResult = urlsplit(address)
        is_valid = parts.port != 0 and parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        raise InputError(expected) from None
    if not is_valid or "@" in parts.netloc or parts.query or parts.fragment or "?" in address or "#" in address:
        raise InputError(expected)
    return address.rstrip("/")


def _key(name: str, variable: str, environment: Mapping[str, str]) -> str:
    if not variable:
        return ""
    if not _VARIABLE.fullmatch(variable):  # most likely the key itself, which is not repeated
        raise InputError(
            Message(
                "{ENDPOINTS}: key= of {name} is the name of an environment variable that holds the "
                "key, not the key itself.",
                ENDPOINTS=ENDPOINTS,
                name=name,
            )
        )
    key = environment.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise InputError(
            Message(
                "{ENDPOINTS}: {name} takes its key from {variable}, which is not set.",
                ENDPOINTS=ENDPOINTS,
                name=name,
                variable=variable,
            )
            if not key
            else Message(
                "{ENDPOINTS}: {name} takes its key from {variable}, which holds characters that a header cannot have.",
                ENDPOINTS=ENDPOINTS,
                name=name,
                variable=variable,
            )
        )
    return key


def _number(name: str, key: str, text: str, most: float, *, whole: bool) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= most or (whole and number != int(number)):
        raise InputError(
            Message(
                "{ENDPOINTS}: {key}= of {name} is a whole number above 0 and at most {most:g}; got {text!r}.",
                ENDPOINTS=ENDPOINTS,
                key=key,
                name=name,
                most=most,
                text=text,
            )
            if whole
            else Message(
                "{ENDPOINTS}: {key}= of {name} is a number above 0 and at most {most:g}; got {text!r}.",
                ENDPOINTS=ENDPOINTS,
                key=key,
                name=name,
                most=most,
                text=text,
            )
        )
    return number
