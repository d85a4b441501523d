"""`python -m dashboard.prepare_samples`: evaluate the built-in models on the samples before the first visitor comes.

The pages open on these runs. One that was already done by the same code on the same files is reused.
"""

from __future__ import annotations

import sys

from dashboard.shared.inputs.inputs import FORMS
from dashboard.shared.samples import OWNER, SAMPLE_RUNS
from engine.errors import EngineError
from engine.runs.open import open_engine


def main() -> int:
    """Submit the sample runs and wait for them; returns the exit code."""
    try:
        with open_engine(resume=False) as engine:
            for sample in SAMPLE_RUNS:
                submitted = engine.runs.submit(sample.kind, sample.settings(), FORMS[sample.kind].sample(), owner=OWNER,
                                               name=sample.name)
                view = engine.runs.wait(submitted.run_id)
                if view.state != "done":
                    print(f"{sample.name}: {view.message or view.state}", file=sys.stderr)
                    return 1
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)  # untranslated
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
