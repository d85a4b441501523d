"""What the tests take of Streamlit beyond what it publishes: the messages of its websocket, and parts of its harness.

What the dashboard takes stands in `dashboard/streamlit_internals.py`; `test_streamlit_internals.py` holds both.
"""

from __future__ import annotations

import functools

from streamlit.components.v2 import manifest_scanner
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.memory_session_storage import MemorySessionStorage as MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager as MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec as UploadedFileRec
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

__all__ = ["BackMsg", "ForwardMsg", "WidgetState", "create_signed_value", "scan_components_once"]


def scan_components_once() -> None:
    """Keep what components are installed, which each AppTest would look for anew, for a quarter of a second."""
    manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)
