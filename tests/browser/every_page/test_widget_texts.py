"""What Streamlit's widgets say is put into the reader's language and back; what somebody wrote is left as it is."""

from __future__ import annotations

from playwright.sync_api import Page

from dashboard.page_frame import script
from engine.messages.catalogues import ENGLISH, JAPANESE
from engine.messages.languages import in_language

PARTS = """
<div data-testid="stElementToolbarButton"><button aria-label="Search: Format: a.csv">x</button></div>
<div data-testid="stTooltipContent">Format: BLiMP</div>
<div data-testid="stDataFrameColumnMenu"><p>Format</p><button role="menuitem">Format</button></div>
<section data-testid="stFileUploaderDropzone"><div>200MB per file</div><div data-testid="x">
<span data-testid="stFileChip">Upload</span></div></section>
"""
TEXTS = """() => [
    document.querySelector("button").getAttribute("aria-label"),
    ...[...document.querySelectorAll("[data-testid=stTooltipContent], p, [role=menuitem], section > div")].map(
        (part) => part.innerText.trim())]"""
ENGLISH_TEXTS = ["Search: Format: a.csv", "Format: BLiMP", "Format", "Format", "200MB per file", "Upload"]
JAPANESE_TEXTS = ["検索: Format: a.csv", "Format: BLiMP", "Format", "形式", "1ファイル200MBまで", "Upload"]


def test_what_somebody_wrote_is_left_as_it_is(page: Page) -> None:
    page.set_content(PARTS)
    for language, texts in ((JAPANESE, JAPANESE_TEXTS), (ENGLISH, ENGLISH_TEXTS), (JAPANESE, JAPANESE_TEXTS)):
        with in_language(language):
            page.evaluate(script())
        assert page.evaluate(TEXTS) == texts
