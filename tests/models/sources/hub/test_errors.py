"""What the hub answers, status and headers as it sends them, and the advice that follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.sources.test_model_location import SMALL_FILES, locate_apart
from tests.support.fake_hub import TOKEN_VARIABLE, FakeHub

FILES = {**SMALL_FILES, "model.safetensors": b"s"}
NAME = "someone/small-bert"
GATED = "GatedRepo"
TERMS = (403, GATED, f"Access to model {NAME} is restricted and you are not in the authorized list.")
CASES = {
    "no token": (
        "",
        (401, GATED, f"Access to model {NAME} is restricted. You must be authenticated."),
        ["asks for consent", "no token is set here", "huggingface.co/settings/tokens"],
    ),
    "terms not accepted": ("hf_mine", TERMS, ["has not accepted its terms", f"https://huggingface.co/{NAME}"]),
    "request pending": (
        "hf_mine",
        (403, GATED, f"Your request to access model {NAME} is awaiting a review."),
        ["Your request is not decided yet"],
    ),
    "request rejected": (
        "hf_mine",
        (403, GATED, f"Your request to access model {NAME} has been rejected."),
        ["has rejected your request"],
    ),
    "fine-grained token": (
        "hf_mine",
        (
            403,
            "",
            "Please enable access to public gated repositories in your "
            "fine-grained token settings to view this repository.",
        ),
        ["lacks the right to read", "access to public gated repositories"],
    ),
    "forbidden": ("hf_mine", (403, "", "Forbidden"), ["lacks the right to read"]),
    "invalid token": (
        "hf_mine",
        (401, "", "Invalid credentials in Authorization header"),
        ["does not accept your token", "mistyped, expired or revoked"],
    ),
    "invalid token, gated": ("hf_mine", (401, GATED, "Access is restricted."), ["does not accept your token"]),
    "private, no token": (
        "",
        (401, "RepoNotFound", "Invalid username or password."),
        ["There is no model", "it is private: set HF_TOKEN"],
    ),
    "private, without a right": (
        "hf_mine",
        (404, "RepoNotFound", "Repository not found"),
        ["There is no model", "your token (HF_TOKEN) has no right to it"],
    ),
    "disabled": ("", (403, "", "Access to this resource is disabled."), ["was disabled"]),
    "failing": ("", (503, "", "Service unavailable"), ["cannot be reached"]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("files_only", [False, True])
def test_each_refusal_has_its_advice(
    case: str, files_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """files_only: the list of files is public, as it is for gated models, and the files are refused."""
    token, answer, words = CASES[case]
    if token:
        monkeypatch.setenv(TOKEN_VARIABLE, token)
    hub = FakeHub(FILES, refusal=lambda sent, path: None if files_only and path.startswith("/api") else answer)
    try:
        [found] = locate_apart(tmp_path, (NAME,), endpoint=hub.endpoint)
    finally:
        hub.shutdown()
        hub.server_close()
    assert all(word in found["error"] for word in words), found["error"]
    others = [listed for _, _, listed in CASES.values() if not set(listed) <= set(words)]
    refused = [listed for listed in others if all(word in found["error"] for word in listed)]
    # Forbidden without a word about fine-grained tokens has the same advice, and an invalid token is one, gated or not.
    assert not refused or case in ("forbidden", "invalid token, gated", "invalid token", "fine-grained token")


def test_an_accepted_token_is_sent_and_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "hf_mine")
    hub = FakeHub(FILES, refusal=lambda sent, _: None if sent == "hf_mine" else TERMS)
    try:
        [found] = locate_apart(tmp_path, (NAME,), endpoint=hub.endpoint)
    finally:
        hub.shutdown()
        hub.server_close()
    assert "error" not in found
