"""HAKARI_ENDPOINTS: what it names, and that no key and no malformed value is ever shown."""

from __future__ import annotations

import pytest

from engine.errors import InputError
from engine.inference.endpoint.settings import ENDPOINTS, Endpoint, endpoint_state, endpoints

KEY = "sk-secret-0123"


def named(value: str, **variables: str) -> dict[str, Endpoint]:
    return endpoints({ENDPOINTS: value, **variables})


def test_entries_are_named_in_the_operators_order() -> None:
    by_name = named(
        "b=https://gpu1:8000/v1/ model=org/B key=B_KEY bos=<|endoftext|> requests=8 timeout=30;\n"
        " a=http://127.0.0.1:8001/v1 model=a ;",
        B_KEY=f" {KEY} ",
    )
    assert list(by_name) == ["endpoint/b", "endpoint/a"]
    assert by_name["endpoint/b"] == Endpoint("b", "https://gpu1:8000/v1", "org/B", KEY, "<|endoftext|>", 8, 30.0)
    assert by_name["endpoint/a"] == Endpoint("a", "http://127.0.0.1:8001/v1", "a", "", "", 4, 120.0)
    assert by_name["endpoint/b"].host == "gpu1:8000"
    assert named("") == {} == endpoints({})


def test_the_key_is_in_no_representation() -> None:
    assert KEY not in repr(named("x=http://h/v1 model=m key=K", K=KEY))


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("llama", "begins with NAME=ADDRESS"),
        ("a/b=http://h model=m", "begins with NAME=ADDRESS"),
        ("=http://h model=m", "begins with NAME=ADDRESS"),
        ("x=http://h", "lacks model="),
        ("x=http://h model=", "each at most once and with a value"),
        ("x=http://h model=m model=n", "each at most once"),
        ("x=http://h model=m token=sk-secret-0123", "got another one"),
        ("x=http://user:sk-secret-0123@h/v1 model=m", "without user, password"),
        ("x=http://h/v1?api_key=sk-secret-0123 model=m", "without user, password"),
        ("x=http://h/v1#sk-secret-0123 model=m", "without user, password"),
        ("x=file:///etc/passwd model=m", "http:// or https://"),
        ("x=gpu1:8000/v1 model=m", "http:// or https://"),
        ("x=http:///v1 model=m", "http:// or https://"),
        ("x=http://h:99999/v1 model=m", "http:// or https://"),
        ("x=http://h model=m key=sk-secret-0123", "the name of an environment variable"),
        ("x=http://h model=m key=MISSING", "takes its key from MISSING, which is not set"),
        ("x=http://h model=m key=ODD", "holds characters that a header cannot have"),
        ("x=http://h model=m requests=0", "requests= of x is a whole number above 0 and at most 64"),
        ("x=http://h model=m requests=2.5", "whole number"),
        ("x=http://h model=m timeout=nan", "timeout= of x is a number above 0"),
        ("x=http://h model=m;x=http://i model=m", "names x twice"),
    ],
)
def test_an_entry_that_cannot_be_is_refused_without_its_secrets(value: str, says: str) -> None:
    with pytest.raises(InputError, match=ENDPOINTS) as caught:
        named(value, ODD="sk-\r\nX: y")
    assert says in str(caught.value) and KEY not in str(caught.value)


def test_the_state_of_a_name_changes_with_what_it_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    states = []
    for value in (
        "x=http://h/v1 model=m",
        "x=http://h/v1 model=n",
        "x=http://i/v1 model=m",
        "x=http://h/v1 model=m bos=<s>",
    ):
        monkeypatch.setenv(ENDPOINTS, value)
        states.append(endpoint_state("endpoint/x"))
    assert len(set(states)) == 4 and all(states)
    assert endpoint_state("endpoint/y") == "" == endpoint_state("owner/name")
    monkeypatch.setenv(ENDPOINTS, "x=http://h/v1 model=m key=K")
    monkeypatch.setenv("K", KEY)
    assert KEY not in endpoint_state("endpoint/x")
