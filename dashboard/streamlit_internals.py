"""All that the dashboard takes of Streamlit beyond what Streamlit publishes, under plain names.

An upgrade of Streamlit may change any of it without notice; `tests/test_streamlit_internals.py` names what it changed.
Parts of its pages are also named in `page_frame.css` and `page_frame.js`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, TypeAlias

from google.protobuf.message import DecodeError
from streamlit import get_option, runtime
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.delta_generator import DeltaGenerator
from streamlit.logger import set_log_level
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.stats import CACHE_MEMORY_FAMILY
from streamlit.util import calc_hash
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_routes import _stats_to_text
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

# The server imports pages with caches before it runs, and would be told of each cache that nothing runs yet.
logging.getLogger("streamlit.runtime.caching.cache_data_api").addFilter(
    lambda entry: "No runtime" not in entry.msg  # untranslated
)

Container: TypeAlias = DeltaGenerator  # a place on a page that elements are put into
SIGN_IN_COOKIE: str = USER_COOKIE_NAME

# Paths of the server, below its base path.
CALLBACK, LOGOUT = "/oauth2callback", "/auth/logout"  # what a provider calls after a sign-in; what ends one
DOWNLOADS, UPLOADS = "/media/", "/_stcore/upload_file/"
# Of the page that is served for every address, before a script runs.
SERVED_TITLE, SERVED_LANGUAGE = b"<title>Streamlit</title>", b'<html lang="en">'
METRICS, SCRIPT_HEALTH = "/_stcore/metrics", "/_stcore/script-health-check"
LONGEST_ADDRESS = 2**16  # which the server answers


def expect_no_server() -> None:
    """Have Streamlit say nothing of pages and caches that no server has; before their modules are imported."""
    get_option("logger.level")  # the configuration is read now, and sets the level no more
    set_log_level("error")


def is_drawing() -> bool:
    """Whether this thread draws a page."""
    return get_script_run_ctx(suppress_warning=True) is not None


def open_at(app: Any, url_path: str) -> None:
    """Have an `AppTest` that is not drawn yet open at the address of a page."""
    app._page_hash = calc_hash(url_path)


def metrics() -> str:
    """Streamlit's own metrics as text for Prometheus, but for the size of its caches, which takes seconds to find."""
    if not runtime.exists():
        return ""
    manager = runtime.get_instance().stats_mgr
    families = [family for family in manager.registered_families() if family != CACHE_MEMORY_FAMILY]
    return _stats_to_text(manager.get_stats(families)).removesuffix("# EOF\n") if families else ""


def header_of_tab(tab: str, name: str) -> str | None:
    """A header that an open tab was opened with, "" where it had none; None where no such tab is open."""
    client = runtime.get_instance().get_client(tab)
    if client is None:
        return None
    headers = client.client_context.headers if client.client_context else ()
    return next((value for key, value in headers if key.lower() == name.lower()), "")


def held_by_tab(tab: str) -> tuple[int, int]:
    """Number and bytes of the uploaded files that are held of a tab."""
    files: Any = runtime.get_instance().uploaded_file_mgr
    held = list(files.file_storage.get(tab, {}).values())
    return len(held), sum(len(file.data) for file in held)


def tabs_with_files() -> list[str]:
    """The tabs, open or closed for a short time, of which files are held."""
    files: Any = runtime.get_instance().uploaded_file_mgr
    return list(files.file_storage)


def free_closed_tabs() -> None:
    """Give back what the tabs hold that were closed minutes ago; Streamlit looks only when another one is opened.

    To be called in the event loop.
    """
    if runtime.exists():
        sessions: Any = runtime.get_instance()._session_mgr
        for _, closed in sessions._session_storage._cache.expire():
            closed.session.shutdown()


def open_addresses() -> list[str]:
    """The query strings of the pages that tabs show; of those that are closed none.

    As far as a browser asks for them: it may send any text over the websocket of a page.
    """
    if not runtime.exists():
        return []
    sessions: Any = runtime.get_instance()._session_mgr
    return [str(info.session._client_state.query_string)[:LONGEST_ADDRESS] for info in sessions.list_active_sessions()]


def is_sign_in_cookie(name: str) -> bool:
    """Whether a cookie holds who has signed in, or a part of it where that is long; not the provider's tokens.

    >>> [is_sign_in_cookie(SIGN_IN_COOKIE + end) for end in ("", "_2", "_tokens", "_tokens_1")]
    [True, True, False, False]
    """
    head, _, part = name.partition(f"{SIGN_IN_COOKIE}_")
    return name == SIGN_IN_COOKIE or (not head and part.isdigit())


def claims_of(cookies: Mapping[str, str]) -> dict[str, Any] | None:
    """The claims in the cookie of a sign-in, whose signature is checked; None where it has none or a wrong one."""
    secret = get_cookie_secret()

    def value_of(name: str) -> bytes | None:
        value = cookies.get(name)
        return decode_signed_value(secret, name, value.encode("latin-1")) if value else None

    content = get_cookie_with_chunks(value_of, SIGN_IN_COOKIE)
    try:
        claims = json.loads(content) if content else None
    except ValueError:
        return None
    return claims if isinstance(claims, dict) else None


def asks_to_draw(sent: bytes) -> bool:
    """Whether what a browser sent over the websocket of a page asks for the page to be drawn."""
    message = BackMsg()
    try:
        message.ParseFromString(sent)
    except DecodeError:  # Streamlit closes the connection
        return False
    return bool(message.WhichOneof("type") == "rerun_script")


def drawing_anew(asked: bytes) -> bytes:
    """A request to draw the page of an earlier one, with its query, as after a reload: no widget has been touched.

    asked: the earlier request; b"" for the home page without a query.
    """
    before, request = BackMsg.FromString(asked).rerun_script, BackMsg()
    request.rerun_script.SetInParent()
    request.rerun_script.page_script_hash = before.page_script_hash
    request.rerun_script.query_string = before.query_string
    request.rerun_script.context_info.CopyFrom(before.context_info)
    return bytes(request.SerializeToString())


def ends_drawing(sent: bytes) -> bool:
    """Whether what the server sent over the websocket of a page says that the page is drawn to its end."""
    message = ForwardMsg.FromString(sent)
    kind, how = message.WhichOneof("type"), message.script_finished
    return bool(kind == "script_finished" and how == ForwardMsg.FINISHED_SUCCESSFULLY)
