"""The browser of the browser tests."""

from __future__ import annotations

from tests.browser.conftest import chromium, page

__all__ = ["chromium", "page"]
