"""The examples in the documentation of the pages' functions give what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

PAGES = Path(__file__).parents[2] / "dashboard"
SCRIPTS = {"page.py", "app.py", "server.py", "prepare_samples.py", "__main__.py"}  # which draw or start when imported


def test_examples_give_what_they_say() -> None:
    wrong, n_tried = [], 0
    for path in sorted(PAGES.rglob("*.py")):
        if path.name in SCRIPTS or ">>> " not in path.read_text(encoding="utf-8"):
            continue
        name = ".".join(path.relative_to(PAGES.parent).with_suffix("").parts).removesuffix(".__init__")
        failed, tried = doctest.testmod(importlib.import_module(name))
        n_tried += tried
        if failed:
            wrong.append(name)
    assert wrong == [] and n_tried > 50, n_tried
