"""Refusals of the Hugging Face Hub, told apart by what would help: a token, its rights, consent, or another name."""

from __future__ import annotations

from typing import Any

from engine.errors import ModelError
from engine.messages.message import Message, list_of, together
from engine.models.sources import cards

ALTERNATIVES = Message(
    "Give a local directory in Hugging Face layout, or a built-in model ({BUILT_IN}).",
    BUILT_IN=list_of(cards.BUILT_IN),
)
_SETTINGS = "huggingface.co/settings/tokens"


def refusal(repository: str, revision: str | None, error: Exception) -> ModelError | None:
    """What the hub's answer means, with advice; None where the hub was not reached or failed itself.

    error: of huggingface_hub, as it was raised; the hub's answer may be its cause.
    """
    from huggingface_hub import errors, get_token

    answer = _answer(error)
    if isinstance(error, errors.RevisionNotFoundError) or isinstance(answer, errors.RevisionNotFoundError):
        return ModelError(
            Message(
                "{repository} has no revision {revision!r} on the Hugging Face Hub. Give a branch, "
                "a tag or a commit that it has.",
                repository=repository,
                revision=revision,
            )
        )
    if isinstance(error, errors.HFValidationError):
        return ModelError(
            Message(
                "There is no directory {repository!r}, and it is no Hugging Face id: {error} {ALTERNATIVES}",
                repository=repository,
                error=error,
                ALTERNATIVES=ALTERNATIVES,
            )
        )
    if answer is None:
        return None
    message = (answer.server_message or "").lower()
    status = getattr(answer.response, "status_code", None)
    has_token = bool(get_token())
    if isinstance(answer, errors.DisabledRepoError):
        return ModelError(
            Message("{repository} was disabled on the Hugging Face Hub. Choose another model.", repository=repository)
        )
    if "fine-grained" in message or (status == 403 and not isinstance(answer, errors.RepositoryNotFoundError)):
        return ModelError(
            Message(
                "Your token (HF_TOKEN) lacks the right to read {repository}. At {_SETTINGS} give a "
                "fine-grained token access to public gated repositories, or to this one, or create "
                "a token of the type “read”. The Hugging Face Hub says: {answer}",
                repository=repository,
                _SETTINGS=_SETTINGS,
                answer=_said(answer),
            )
        )
    if isinstance(answer, errors.GatedRepoError):
        return _gated(repository, message, has_token=has_token and status != 401, invalid=has_token and status == 401)
    if status == 401 and has_token and not isinstance(answer, errors.RepositoryNotFoundError):
        return ModelError(_invalid_token(repository))
    if isinstance(answer, errors.RepositoryNotFoundError):
        of_token = (
            Message("or it is private and your token (HF_TOKEN) has no right to it")
            if has_token
            else Message("or it is private: set HF_TOKEN")
        )
        return ModelError(
            Message(
                "There is no model {repository!r} on the Hugging Face Hub ({of_token}), and no "
                "directory of that name. {ALTERNATIVES}",
                repository=repository,
                of_token=of_token,
                ALTERNATIVES=ALTERNATIVES,
            )
        )
    return None


def _gated(repository: str, message: str, *, has_token: bool, invalid: bool) -> ModelError:
    page = f"https://huggingface.co/{repository}"
    gated = Message("{repository} is on the Hugging Face Hub but asks for consent.", repository=repository)
    if invalid:
        return ModelError(together(" ", (gated, _invalid_token(repository))))
    if not has_token:
        return ModelError(
            Message(
                "{gated} Accept its terms at {page}, create a token at {_SETTINGS} and set HF_TOKEN "
                "to it; no token is set here.",
                gated=gated,
                page=page,
                _SETTINGS=_SETTINGS,
            )
        )
    if "awaiting" in message or "pending" in message:
        return ModelError(
            Message(
                "{gated} Your request is not decided yet: its publisher reviews requests one by "
                "one. Try again later, or choose another model.",
                gated=gated,
            )
        )
    if "rejected" in message:
        return ModelError(
            Message("{gated} Its publisher has rejected your request. Choose another model.", gated=gated)
        )
    return ModelError(
        Message(
            "{gated} The account of your token (HF_TOKEN) has not accepted its terms. Accept them "
            "at {page} with that account.",
            gated=gated,
            page=page,
        )
    )


def _invalid_token(repository: str) -> Message:
    return Message(
        "The Hugging Face Hub does not accept your token (HF_TOKEN), so {repository} cannot be read: it is "
        "mistyped, expired or revoked. Create another at {_SETTINGS}, or unset HF_TOKEN for public models.",
        repository=repository,
        _SETTINGS=_SETTINGS,
    )


def _answer(error: BaseException | None) -> Any:
    """The hub's answer that led to an error: the error itself, or one in the chain of its causes."""
    from huggingface_hub import errors

    for _ in range(8):
        if error is None or isinstance(error, errors.HfHubHTTPError):
            return error
        error = error.__cause__
    return None


def _said(answer: Any) -> str:
    return " ".join((answer.server_message or f"{answer.response.status_code} Forbidden").split())[:300]
