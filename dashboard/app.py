"""The dashboard's entry: navigation, nothing else.

    python -m streamlit run dashboard/app.py

The whole body is under the guard, because a worker process imports this file again under another name.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # `streamlit run` puts only this folder on the path; `engine` and `dashboard` are one above, if not installed.
    ROOT = Path(__file__).resolve().parents[1]
    if not (ROOT / "__init__.py").exists() and str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))

    from engine.processes.import_path import keep_folders_in_packages

    keep_folders_in_packages()

    import streamlit as st

    from dashboard import language, page_frame, sign_in
    from dashboard.pages import navigation
    from dashboard.shared import drawing_turns
    from dashboard.shared.address.page_address import SAMPLE
    from dashboard.shared.wording import show_error
    from engine.errors import EngineError
    from engine.messages.languages import in_language
    from engine.messages.languages import language as reader_language

    # An icon of our own: a Material one would be fetched from the internet for the browser's tab.
    st.set_page_config(page_icon=Path(__file__).with_name("icon.svg"), layout="wide", initial_sidebar_state=230)
    language.follow_reader()
    page_frame.draw()
    st.session_state.pop(SAMPLE, None)  # of the page shown before
    try:
        visitor = sign_in.visitor()
        page = st.navigation(navigation(), position="sidebar" if visitor.admitted else "hidden")
        if sign_in.admit(visitor, page):
            # asked once for the page, not at each of its thousand texts
            with drawing_turns.turn(visitor.id), in_language(reader_language()):
                page.run()
    except EngineError as error:  # such as a data directory that cannot be written
        show_error(error)
