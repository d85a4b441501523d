"""Hakari's engine: evaluates pretrained language models without fine-tuning them.

import engine
engine.evaluate("minimal-pairs", "pairs.csv", models="builtin/gpt2-mini-ja").tables["summary"]
"""

__all__ = ["Evaluated", "evaluate"]


def __getattr__(name: str) -> object:
    """What `engine.notebook` has, imported when it is first asked for: a package imports nothing by itself."""
    if name in __all__:
        from engine import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
