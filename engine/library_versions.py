"""The libraries whose version can change a number, by what they compute.

Keys of cached pieces take the ones of their operation, keys of runs take all of them, signatures print a few. A library
that makes numbers is named here once, by its distribution; those that others call in its place are named too: numba and
pynndescent by umap-learn, mecab-python3 and ipadic by sacrebleu, jaconv by pykakasi.
"""

from __future__ import annotations

from engine.version import library_version

# Token ids, vectors and probabilities of texts under a model, and the words that models are given.
MODELS = (
    "torch",
    "transformers",
    "tokenizers",
    "sentencepiece",
    "safetensors",
    "gguf",
    "compressed-tensors",
    "peft",
    "sentence-transformers",
    "numpy",
    "fugashi",
    "unidic-lite",
    "ipadic",
    "jumandic",
    "rhoknp",
)
# Maps, neighbours, cluster measures and classifiers of vectors.
ARRAYS = ("umap-learn", "pynndescent", "numba", "scikit-learn", "scipy", "numpy")
# SentBLEU and chrF.
SURFACE = ("sacrebleu", "mecab-python3", "ipadic", "numpy")
# Readings and their distances.
READINGS = ("pykakasi", "jaconv", "rapidfuzz", "fugashi", "unidic-lite", "numpy")
# Tables, correlations and tests.
TABLES = ("pandas", "scipy", "numpy")

# What the cache holds: pieces that workers compute.
PIECES = tuple(sorted({*MODELS, *ARRAYS, *SURFACE}))
ALL = tuple(sorted({*PIECES, *READINGS, *TABLES}))
# Those that every signature prints; an evaluation adds its own.
SIGNED = ("torch", "transformers", "tokenizers", "numpy")


def library_versions(names: tuple[str, ...]) -> dict[str, str]:
    """Installed versions by name, without importing anything; "absent" where there is none.

    >>> library_versions(("no-such-library",))
    {'no-such-library': 'absent'}
    """
    return {name: library_version(name) for name in names}
