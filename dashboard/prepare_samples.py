"""`python -m dashboard.prepare_samples`: evaluate the built-in models on the samples before the first visitor comes.

The pages open on these runs. One that was already done by the same code on the same files is reused.
"""

from __future__ import annotations

import sys

from dashboard.streamlit_internals import expect_no_server
from engine.datasets import sample_data
from engine.errors import EngineError
from engine.runs.open import open_engine


def main() -> int:
    """Submit the sample runs and wait for them; returns the exit code."""
    expect_no_server()
    from dashboard.faces import FACES
    from dashboard.shared import samples

    try:
        with open_engine(resume=False) as engine:
            for face in FACES.values():
                if face.sample is None:
                    continue
                for language in sample_data.LANGUAGES:
                    view = engine.runs.wait(samples.submit(engine.runs, face, face.sample, language))
                    if view.state != "done":
                        print(f"{face.sample.name}: {view.message or view.state}", file=sys.stderr)
                        return 1
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)  # untranslated
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
