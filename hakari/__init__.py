"""Hakari from Python: evaluates pretrained language models without fine-tuning them.

import hakari
hakari.evaluate("minimal-pairs", "pairs.csv", models="builtin/gpt2-mini-ja").tables["summary"]
"""

__all__ = ["ROLES", "EngineError", "Evaluated", "InputError", "evaluate"]


def __getattr__(name: str) -> object:
    """The names of `engine.notebook` and of the errors, imported when they are first asked for."""
    if name == "__version__":
        from engine.version import VERSION

        return VERSION
    if name in ("EngineError", "InputError"):
        from engine import errors

        return getattr(errors, name)
    if name in __all__:
        from engine import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
