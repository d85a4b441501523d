"""Pages in Streamlit's test harness, redrawn as a browser redraws them."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from plotly import basedatatypes
from streamlit.testing.v1 import AppTest

from dashboard import pages
from dashboard.streamlit_internals import open_at
from tests import streamlit_internals
from tests.waiting import SECONDS

APP = Path(__file__).parents[2] / "dashboard" / "app.py"

streamlit_internals.scan_components_once()  # as a server does: what is installed does not change under the tests
# plotly takes the names of a figure's properties ("xaxis_title_text") apart whenever one is read or set.
basedatatypes._str_to_dict_path_full = functools.cache(basedatatypes._str_to_dict_path_full)


def visit(page: str, **query: str | Sequence[str] | None) -> AppTest:
    """A page of the app, opened by a link with this query; what is None is not in it."""
    app = at(page)
    for name, value in query.items():
        if value is not None:
            app.query_params[name] = value
    return drawn(app)


def at(page: str) -> AppTest:
    """The app before it is drawn, at the address of a page.

    `switch_page` finds a page with a `url_path` of its own only after a first run, and that would be the home page's.
    """
    app = AppTest.from_file(str(APP), default_timeout=SECONDS)
    assert (APP.parent / pages.path(page)).is_file()
    open_at(app, page)
    return app


def drawn(app: AppTest) -> AppTest:
    """Draw the page; no exception reaches it."""
    app.run()
    assert not app.exception, (app.exception[0].message, *app.exception[0].stack_trace)
    return app


def until(app: AppTest, condition: Callable[[AppTest], object]) -> AppTest:
    """Draw the page again, as its polling does, until `condition` is true."""
    end = time.monotonic() + SECONDS
    while not condition(app):
        assert time.monotonic() < end, words(app)
        time.sleep(0.05)
        drawn(app)
    return app


def evaluated(app: AppTest, form: str) -> AppTest:
    """Submit what the page is set to, and wait for its downloads or an error; the button's key begins with `form`."""
    app.button(key=f"{form}-submit").click()
    return until(drawn(app), lambda app: app.download_button or app.error)


def words(app: AppTest) -> str:
    """All text of the page, without the escapes of Markdown."""
    parts = (app.title, app.subheader, app.markdown, app.caption, app.info, app.error, app.warning)
    text = "\n".join(str(element.value) for elements in parts for element in elements)
    return text.replace("\\", "").replace("\u2060", "")
