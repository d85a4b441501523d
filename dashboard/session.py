"""Who is asking, and the engine's handle: one for the whole server."""

from __future__ import annotations

import streamlit as st

from engine.runs import open as opening

LOCAL_USER = "local"


@st.cache_resource(show_spinner="Opening the engine …", on_release=lambda engine: engine.close())
def engine() -> opening.Engine:
    """The engine, opened at the first visit and shared by all sessions."""
    return opening.open_engine()


def user() -> str:
    """The owner of the runs this session submits. Without accounts there is one: "local"."""
    return LOCAL_USER
