"""Whether an instance is hosted, so that members sign in to it: one fact, asked here wherever it matters."""

from __future__ import annotations

import os
from collections.abc import Mapping

MEMBERS_FILE = "HAKARI_MEMBERS_FILE"
ADDRESSES, DOMAINS, ADMINS = "HAKARI_ALLOWED_EMAILS", "HAKARI_ALLOWED_DOMAINS", "HAKARI_ADMINS"


def is_hosted(environment: Mapping[str, str] | None = None) -> bool:
    """Whether an environment, by default that of this process, names members or a file of them, be it an empty one."""
    environment = os.environ if environment is None else environment
    return bool(environment.get(MEMBERS_FILE, "").strip()) or any(
        listed(environment, variable) for variable in (ADDRESSES, DOMAINS, ADMINS)
    )


def listed(environment: Mapping[str, str], variable: str) -> set[str]:
    """The entries of a variable, which commas or white space separate.

    >>> sorted(listed({"HAKARI_ADMINS": "a@lab.example, b@lab.example"}, "HAKARI_ADMINS"))
    ['a@lab.example', 'b@lab.example']
    """
    return set(environment.get(variable, "").replace(",", " ").split())
