"""Where and in which order the tests run: as they stand and in C, or as a seed draws it for `make nightly`.

What passes in one order, zone and locale alone is a fault of the tests or of what they test.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass

SEED_VARIABLE = "HAKARI_TEST_PLACE"
ZONES = ("Asia/Tokyo", "America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu", "UTC")
JAPANESE = "ja_JP.utf8"


@dataclass(frozen=True)
class Place:
    """A zone, the variables of the locale, and the seed of the order; None for the order in which tests stand."""

    zone: str | None
    locale: Mapping[str, str]
    order: str | None

    def take(self) -> None:
        """Have this process, and those that it starts, be there."""
        for name in ("LC_ALL", "LANG", "LC_MESSAGES"):
            os.environ.pop(name, None)
        os.environ.update(self.locale)
        if self.zone is not None:
            os.environ["TZ"] = self.zone
            time.tzset()

    def ordered(self, files: list[str]) -> dict[str, int]:
        """The rank of each file of tests."""
        names = sorted(set(files))
        if self.order is not None:
            random.Random(self.order).shuffle(names)
        return {name: rank for rank, name in enumerate(names)}


def here(seed: str | None = os.environ.get(SEED_VARIABLE)) -> Place:
    """The place of a seed. Commands and their processes speak English in each: messages stay those of C.

    >>> here(None)
    Place(zone=None, locale={'LC_ALL': 'C'}, order=None)
    """
    if not seed:
        return Place(None, {"LC_ALL": "C"}, None)
    drawn = random.Random(seed)
    locale = {"LANG": JAPANESE, "LC_MESSAGES": "C"} if JAPANESE in _locales() else {"LC_ALL": "C.UTF-8"}
    return Place(drawn.choice(ZONES), locale, seed)


def _locales() -> list[str]:
    return subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
