"""What is copied from a page is the text itself, such as a setting that an error names."""

from __future__ import annotations

from playwright.sync_api import Page

from dashboard.page_frame import script
from dashboard.shared.wording import JOINER, verbatim

SETTING = "/srv/models/ours@sha256:ff8783"
COPIED = """(id) => {
    const range = document.createRange();
    range.selectNodeContents(document.getElementById(id));
    document.getSelection().removeAllRanges();
    document.getSelection().addRange(range);
    const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
    document.dispatchEvent(event);
    return [event.defaultPrevented, event.clipboardData.getData("text/plain")];
}"""


def test_word_joiners_are_left_out_of_what_is_copied(page: Page) -> None:
    shown = verbatim(SETTING).replace("\\", "")
    assert JOINER in shown
    page.set_content(f'<p id="setting">{shown}</p><p id="other">as it is</p>')
    page.evaluate(script())
    page.evaluate(script())  # again with every language
    assert page.evaluate(COPIED, "setting") == [True, SETTING]
    assert page.evaluate(COPIED, "other") == [False, ""]  # the browser's own doing
