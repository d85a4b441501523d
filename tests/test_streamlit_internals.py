"""What Hakari takes of Streamlit beyond what it publishes is there, and does what is taken for granted.

After an upgrade of Streamlit this is the first test to run: it imports nothing of the dashboard before it has looked for
every name, and says in a sentence which one is gone or does something else.
"""

from __future__ import annotations

import ast
import importlib
import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import streamlit as st
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient, WebSocketTestSession
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[1]
OURS, TESTS = "dashboard/streamlit_internals.py", "tests/streamlit_internals.py"
PAGE_PARTS = ("dashboard/page_frame.css", "dashboard/page_frame.js")
CLAIMS = {"email": "ann@lab.example", "is_logged_in": True}


@contextmanager
def promised(name: str, user: str = OURS) -> Iterator[None]:
    """One sentence where what the block does with `name` fails."""
    try:
        yield
    except Exception as error:
        what = (str(error) or repr(error)).partition("\n")[0]
        said = f"Streamlit {version('streamlit')}: {name} is not what {user} takes it for: {what}"
        raise pytest.fail.Exception(said, pytrace=False) from None


def imported(file: str) -> list[tuple[str, str]]:
    """The names that a file imports of Streamlit, with their modules."""
    return [
        (str(node.module), alias.name)
        for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "streamlit"
        for alias in node.names
    ]


@pytest.mark.parametrize(
    ("file", "module", "name"), [(file, *names) for file in (OURS, TESTS) for names in imported(file)]
)
def test_every_name_is_there(file: str, module: str, name: str) -> None:
    with promised(f"{module}.{name}", file):
        found = importlib.import_module(module)
        assert hasattr(found, name) or importlib.import_module(f"{module}.{name}"), "there is no such name"


@pytest.fixture
def internals() -> ModuleType:
    return importlib.import_module("dashboard.streamlit_internals")


@pytest.fixture
def of_tests() -> ModuleType:
    return importlib.import_module("tests.streamlit_internals")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A server of Streamlit's in this process, with a page that says who asked for it and how."""
    (tmp_path / "page.py").write_text(
        "import streamlit as st\n"
        "from dashboard.streamlit_internals import is_drawing\n"
        "is_pressed = st.button('Press', key='press')\n"
        "st.text(f'{is_drawing()} {st.query_params.to_dict()} {is_pressed}')\n",
        encoding="utf-8",
    )
    with promised("streamlit.runtime.Runtime._instance", __name__):
        from streamlit.runtime import Runtime

        monkeypatch.setattr(Runtime, "_instance", None)
    with TestClient(st.App(tmp_path / "page.py")) as client:
        yield client


def drawn(page: WebSocketTestSession, request: bytes, internals: ModuleType, of_tests: ModuleType) -> list[Any]:
    """The elements of a page after a request."""
    page.send_bytes(request)
    elements = []
    while True:
        sent = page.receive_bytes()
        if internals.ends_drawing(sent):
            return elements
        message = of_tests.ForwardMsg.FromString(sent)
        if message.WhichOneof("type") == "delta":
            elements.append(message.delta.new_element)


def test_a_page_is_drawn_anew_by_its_websocket(server: TestClient, internals: ModuleType, of_tests: ModuleType) -> None:
    with (
        promised("the messages of a page's websocket (streamlit.proto, get_script_run_ctx)"),
        server.websocket_connect("/_stcore/stream", subprotocols=["streamlit"]) as page,
    ):
        asked = of_tests.BackMsg()
        asked.rerun_script.query_string = "run=1"
        button, text = drawn(page, asked.SerializeToString(), internals, of_tests)
        assert text.text.body == "True {'run': '1'} False"
        asked.rerun_script.widget_states.widgets.append(of_tests.WidgetState(id=button.button.id, trigger_value=True))
        pressed = asked.SerializeToString()
        assert drawn(page, pressed, internals, of_tests)[1].text.body == "True {'run': '1'} True"
        assert internals.asks_to_draw(pressed)
        again = internals.drawing_anew(pressed)
        assert internals.asks_to_draw(again)
        assert drawn(page, again, internals, of_tests)[1].text.body == "True {'run': '1'} False"
        assert drawn(page, internals.drawing_anew(b""), internals, of_tests)[1].text.body == "True {} False"
        assert not internals.asks_to_draw(of_tests.BackMsg(stop_script=True).SerializeToString())
        assert not internals.asks_to_draw(b"no message of Streamlit's" * 9)
        assert not internals.ends_drawing(
            of_tests.ForwardMsg(script_finished=of_tests.ForwardMsg.FINISHED_EARLY_FOR_RERUN).SerializeToString()
        )


def test_a_closed_tab_has_no_address(server: TestClient, internals: ModuleType, of_tests: ModuleType) -> None:
    asked = of_tests.BackMsg()
    asked.rerun_script.query_string = "run=1"
    with promised("Runtime._session_mgr, AppSession._client_state"):
        with server.websocket_connect("/_stcore/stream", subprotocols=["streamlit"]) as page:
            drawn(page, asked.SerializeToString(), internals, of_tests)
            assert internals.open_addresses() == ["run=1"]
        assert internals.open_addresses() == []


def test_a_thread_that_draws_no_page_is_told_apart_in_silence(
    internals: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    with promised("streamlit.runtime.scriptrunner.get_script_run_ctx"), caplog.at_level(logging.DEBUG):
        assert internals.is_drawing() is False and not caplog.records


def test_metrics_are_read_without_the_size_of_the_caches(server: TestClient, internals: ModuleType) -> None:
    @st.cache_data
    def kept() -> str:
        return "x"

    with promised("streamlit.runtime.get_instance().stats_mgr"):
        kept()
        families = {family.name for family in text_string_to_metric_families(internals.metrics())}
        assert "active_sessions" in families
        assert internals.CACHE_MEMORY_FAMILY in server.get(internals.METRICS).text
        assert internals.CACHE_MEMORY_FAMILY not in families


def test_the_page_that_is_served_has_one_title_and_one_language(server: TestClient, internals: ModuleType) -> None:
    page = server.get("/runs").content
    assert page.count(internals.SERVED_TITLE) == 1 and page.count(internals.SERVED_LANGUAGE) == 1


def test_without_a_server_there_are_no_metrics(internals: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with promised("streamlit.runtime.exists"):
        from streamlit.runtime import Runtime

        monkeypatch.setattr(Runtime, "_instance", None)
        assert internals.metrics() == ""


def test_the_paths_are_those_of_the_server(
    server: TestClient, internals: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from streamlit import config, runtime
    from streamlit.web.server.starlette.starlette_app import create_streamlit_routes

    option = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: name == "server.scriptHealthCheckEnabled" or option(name))
    routes = [route.path for route in create_streamlit_routes(runtime.get_instance())]
    for name in ("CALLBACK", "LOGOUT", "METRICS", "SCRIPT_HEALTH"):
        with promised(f"the path {name}"):
            assert getattr(internals, name) in routes
    for name in ("DOWNLOADS", "UPLOADS"):
        with promised(f"the path {name}"):
            assert any(route.startswith(f"{getattr(internals, name)}{{") for route in routes)


def incompressible(n: int) -> list[str]:
    return [sha256(bytes([number])).hexdigest() for number in range(n)]


def signed_in(claims: dict[str, Any], name: str, of_tests: ModuleType) -> dict[str, str]:
    """The cookies that Streamlit sets for claims."""
    from streamlit.auth_util import set_cookie_with_chunks

    cookies, secret = {}, st.get_option("server.cookieSecret")
    set_cookie_with_chunks(
        lambda name, value: cookies.update({name: of_tests.create_signed_value(secret, name, value).decode()}),
        lambda name, value: of_tests.create_signed_value(secret, name, value),
        name,
        claims,
        cookie_attr_size=60,
    )
    return cookies


@pytest.mark.parametrize("n_groups", [0, 200])
def test_claims_are_read_from_the_cookie_of_a_sign_in(
    n_groups: int, internals: ModuleType, of_tests: ModuleType
) -> None:
    with promised("the cookie of a sign-in (get_cookie_secret, decode_signed_value, get_cookie_with_chunks)"):
        claims = {**CLAIMS, "groups": incompressible(n_groups)}
        cookies = signed_in(claims, internals.SIGN_IN_COOKIE, of_tests)
        assert (len(cookies) > 2) == (n_groups > 0)
        assert all(internals.is_sign_in_cookie(name) for name in cookies)
        assert internals.claims_of(cookies) == claims
        for name in cookies:
            assert internals.claims_of({**cookies, name: cookies[name] + "x"}) is None


def test_the_tokens_of_a_provider_are_another_cookie(internals: ModuleType, of_tests: ModuleType) -> None:
    from streamlit.web.server.starlette.starlette_server_config import TOKENS_COOKIE_NAME

    with promised("streamlit…starlette_server_config.TOKENS_COOKIE_NAME"):
        cookies = signed_in({"id": incompressible(200)}, TOKENS_COOKIE_NAME, of_tests)
        assert len(cookies) > 2 and not any(internals.is_sign_in_cookie(name) for name in cookies)
        # Together they go when the sign-in is taken out of a request.
        assert all(name.startswith(internals.SIGN_IN_COOKIE) for name in cookies)


def test_a_container_is_what_elements_are_put_into(internals: ModuleType) -> None:
    with promised("streamlit.delta_generator.DeltaGenerator"):
        assert isinstance(st.container(), internals.Container)
        assert all(hasattr(internals.Container, name) for name in ("__enter__", "container", "plotly_chart", "empty"))


def scripts_of_pages() -> str:
    scripts = (Path(st.__file__).parent / "static/static/js").glob("*.js")
    return "".join(path.read_text(encoding="utf-8") for path in scripts)


def test_the_widgets_say_what_is_translated() -> None:
    from dashboard.page_frame import WIDGET_TEXTS

    frontend = scripts_of_pages()
    for text in WIDGET_TEXTS:
        with promised(f"the text {text!r} of a widget", "dashboard/page_frame.py"):
            for part in filter(None, re.split(r"\{\}|(?<=Enter to )", text)):
                assert part in frontend, "no widget says so"


@pytest.mark.parametrize("file", PAGE_PARTS)
def test_the_parts_of_the_pages_have_their_names(file: str) -> None:
    """`data-testid`, `data-tag` and `aria-label` of elements that the style and the script look for."""
    selectors = re.findall(r'\[(data-[a-z]+|aria-[a-z]+)(?:="([^"]+)")?\]', (ROOT / file).read_text(encoding="utf-8"))
    assert selectors
    frontend = scripts_of_pages()
    for attribute, value in selectors:
        with promised(f"the element [{attribute}={value}]", file):
            # The kind of a button is put in by the script.
            written = re.sub(r"^(stBaseButton-).+", r"\1${", value) or attribute
            assert written in frontend, "the pages have none"


def test_the_collection_of_garbage_can_be_turned_off() -> None:
    with promised("the option runner.postScriptGC", ".streamlit/config.toml"):
        assert st.get_option("runner.postScriptGC") in (True, False)


def test_a_page_of_the_harness_opens_at_its_address(internals: ModuleType) -> None:
    def app() -> None:
        import streamlit as st

        def first() -> None:
            st.text("first")

        def second() -> None:
            st.text("second")

        st.navigation([st.Page(first), st.Page(second, url_path="other")]).run()

    with promised("AppTest._page_hash (streamlit.util.calc_hash)"):
        opened = AppTest.from_function(app)
        internals.open_at(opened, "other")
        assert [text.value for text in opened.run().text] == ["second"]


def test_the_messages_have_the_fields_that_a_visitor_without_a_browser_sets(of_tests: ModuleType) -> None:
    with promised("streamlit.proto", "tests/benchmarks/streamlit_client.py"):
        state = of_tests.WidgetState(id="a", trigger_value=True)
        state.string_array_value.data.append("b")
        state.file_uploader_state_value.uploaded_file_info.add(name="c", size=1, file_id="d")
        of_tests.BackMsg().file_urls_request.file_names.append("e")
        assert json.dumps(of_tests.ForwardMsg().file_urls_response.response_id) == '""'


@pytest.mark.parametrize(
    "code",
    [
        "import dashboard.server",
        "from dashboard.streamlit_internals import expect_no_server\n"
        "expect_no_server()\n"
        "import dashboard.shared.samples, streamlit as st\n"
        "st.text(st.session_state.get('a', 'b'))\n",
    ],
    ids=["before it runs", "never"],
)
def test_without_a_server_nothing_is_said_of_it(code: str) -> None:
    """Caches and elements of a process in which none runs warn of that, each time."""
    with promised("streamlit.logger.set_log_level"):
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
