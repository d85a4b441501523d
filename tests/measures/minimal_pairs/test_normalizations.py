"""The records of normalisations: what each is called after."""

from __future__ import annotations

from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS


def test_a_score_of_a_published_work_cites_it() -> None:
    """Sums, and what divides them by a length of the text, are of no single work."""
    assert {str(name): score.cites for name, score in NORMALIZATIONS.items()} == {
        "LP": (),
        "MeanLP": ("ueda2024",),
        "PenLP": ("ueda2024",),
        "SLOR": ("pauls2012", "lau2017"),
        "per character": (),
        "SLLN-LP": ("liu2026",),
        "bits per byte": (),
        "MORCELA": ("tjuatja2025",),
        "WordLP": ("pimentel2024", "oh2024"),
        "MeanWordLP": ("pimentel2024", "oh2024"),
        "in-template LP": ("ide2025",),
        "Yes/No": ("ide2025",),
        "prompt vote": ("ide2025",),
    }
