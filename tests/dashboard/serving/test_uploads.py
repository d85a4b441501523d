"""What one tab may upload, who may upload to it, and when its memory is given back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard import streamlit_internals
from dashboard.serving import uploads
from dashboard.serving.uploads import MIB, MOST_FILES, OF_MEMBER, OF_TAB, TabUploads, most_bytes
from dashboard.shared.session import SIGN_IN_HEADER
from dashboard.streamlit_internals import free_closed_tabs
from engine.hosted import ADDRESSES
from engine.runs.access.member_list import MemberList
from engine.runs.access.membership import Membership
from engine.runs.storage.database import database_url
from engine.runs.storage.store import Store
from tests.streamlit_internals import MemorySessionStorage, MemoryUploadedFileManager, UploadedFileRec
from tests.waiting import finished

CLAIMS = {"iss": "https://accounts.example", "email_verified": True}


class Server:
    """What is asked of Streamlit's runtime: the tabs, by who opened them, and their files."""

    def __init__(self) -> None:
        self.uploaded_file_mgr = MemoryUploadedFileManager("/_stcore/upload_file")
        self.opened_by: dict[str, str] = {}
        self._session_mgr = SimpleNamespace(_session_storage=MemorySessionStorage(ttl_seconds=0))

    def get_client(self, tab: str) -> Any:
        key = self.opened_by.get(tab)
        return key and SimpleNamespace(client_context=SimpleNamespace(headers=[(SIGN_IN_HEADER.lower(), key)]))

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        tab, file = scope["path"].split("/")[-2:]
        if scope["method"] == "PUT":
            n = int(dict(scope["headers"])[b"content-length"])
            self.uploaded_file_mgr.add_file(tab, UploadedFileRec(file, file, "text/plain", bytes(n)))
        else:
            self.uploaded_file_mgr.remove_file(tab, file)
        await send({"type": "http.response.start", "status": 204, "headers": []})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(streamlit_internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(uploads.st, "get_option", {"server.maxUploadSize": 1}.__getitem__)
    return server


@pytest.fixture
def membership(tmp_path: Path) -> Iterator[Membership]:
    with closing(Store(database_url(tmp_path))) as store:
        made = Membership(store, MemberList({ADDRESSES: "ann@lab.example ben@lab.example"}))
        for name, key in (("ann", "a1"), ("ann", "a2"), ("ben", "b1")):
            made.start({**CLAIMS, "sub": name, "email": f"{name}@lab.example"}, key)
        yield made


def status(middleware: TabUploads, method: str, tab: str, file: str, key: str, n_bytes: int | None = 10) -> int:
    length = [] if n_bytes is None else [(b"content-length", str(n_bytes).encode())]
    scope = {
        "type": "http",
        "method": method,
        "path": f"/hakari/_stcore/upload_file/{tab}/{file}",
        "headers": [(SIGN_IN_HEADER.lower().encode(), key.encode()), *length],
    }
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    finished(middleware(scope, None, send))  # type: ignore[arg-type]
    return int(sent[0]["status"])


def test_only_who_has_a_tab_open_uploads_to_it_or_removes_from_it(server: Server, membership: Membership) -> None:
    middleware = TabUploads(server.app, lambda: membership)
    server.opened_by = {"tab": "a1"}
    assert status(middleware, "PUT", "tab", "f", "b1") == 403
    assert status(middleware, "PUT", "tab", "f", "a1") == 204
    assert status(middleware, "PUT", "tab", "g", "a2") == 204  # the same member, signed in again
    for key in ("b1", "none", "unknown"):
        assert status(middleware, "DELETE", "tab", "f", key) == 403
    assert len(server.uploaded_file_mgr.get_files("tab", ["f", "g"])) == 2
    assert status(middleware, "DELETE", "tab", "f", "a1") == 204
    assert len(server.uploaded_file_mgr.get_files("tab", ["f", "g"])) == 1


def test_the_files_of_one_tab_are_bounded_in_bytes_and_number(server: Server) -> None:
    middleware = TabUploads(server.app, lambda: None)
    server.opened_by = {"tab": "none", "other": "none"}
    assert most_bytes(OF_TAB) == 2 * MIB
    assert [status(middleware, "PUT", "tab", f"{n}", "none", MIB) for n in range(3)] == [204, 204, 413]
    assert status(middleware, "PUT", "tab", "c", "none", None) == 413  # which may be as large as the largest
    assert status(middleware, "PUT", "other", "0", "none", MIB) == 204
    assert status(middleware, "DELETE", "tab", "0", "none") == 204
    assert status(middleware, "PUT", "tab", "3", "none", MIB) == 204
    many = [status(middleware, "PUT", "other", f"small {n}", "none", 1) for n in range(MOST_FILES)]
    assert many == [204] * (MOST_FILES - 1) + [413]
    assert not middleware._coming and not middleware._n_coming


def test_the_bounds_are_by_the_largest_file_that_is_read(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_MAX_UPLOAD_MB", "0.5")
    assert most_bytes(OF_TAB) == MIB
    monkeypatch.setenv("HAKARI_MAX_UPLOAD_MB", "500")
    assert most_bytes(OF_TAB) == 2 * MIB
    monkeypatch.setenv("HAKARI_MAX_UPLOAD_MB", "much")
    assert most_bytes(OF_TAB) == 2 * MIB


def test_the_files_of_all_tabs_of_a_member_are_bounded(server: Server, membership: Membership) -> None:
    middleware = TabUploads(server.app, lambda: membership)
    server.opened_by = {"1": "a1", "2": "a1", "3": "a2", "of ben": "b1"}
    assert most_bytes(OF_MEMBER) == 4 * MIB
    filled = [status(middleware, "PUT", tab, f"{n}", "a1", MIB) for tab in "12" for n in range(2)]
    assert filled == [204] * 4
    assert status(middleware, "PUT", "3", "one more", "a2", 1) == 413  # signed in again, the same member
    assert status(middleware, "PUT", "of ben", "0", "b1", MIB) == 204
    del server.opened_by["2"]  # closed, and its files are held for some minutes yet
    assert status(middleware, "PUT", "3", "one more", "a2", 1) == 413
    assert status(middleware, "DELETE", "1", "0", "a1") == 204
    assert status(middleware, "PUT", "3", "one more", "a2", 1) == 204
    server.uploaded_file_mgr.remove_session_files("2")
    assert status(middleware, "PUT", "3", "another", "a2", MIB) == 204
    assert set(middleware._opened_by) == {"1", "3", "of ben"}


def test_a_closed_tab_gives_its_files_back_without_another_one_being_opened(server: Server) -> None:
    files = server.uploaded_file_mgr
    files.add_file("tab", UploadedFileRec("f", "f", "text/plain", bytes(MIB)))
    session = SimpleNamespace(id="tab", shutdown=lambda: files.remove_session_files("tab"))
    server._session_mgr._session_storage.save(SimpleNamespace(session=session))
    free_closed_tabs()
    assert files.file_storage == {}
