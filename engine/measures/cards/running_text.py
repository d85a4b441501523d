"""The cards of what is measured on running text."""

from __future__ import annotations

from engine.measures.cards.card import MeasureCard

TEXT_CARDS = (
    MeasureCard(
        "perplexity",
        "Perplexity",
        "PPL",
        "PPL = exp(−(1 / N) Σ log P(w_i | …)),  N the scored tokens",
        "[1, ∞)",
        "",
        "lower",
        "Between how many equally probable tokens would the model have had to choose, on average? Only models with one "
        "tokenizer can be compared by it; of a masked model it is a pseudo-perplexity, which no causal one has.",
        "Jelinek, Mercer, Bahl, Baker 1977; of masked models Salazar et al. 2020 (ACL), section 2.3; windows as in the "
        "documentation of Hugging Face transformers (Perplexity of fixed-length models)",
        digits=2,
    ),
    MeasureCard(
        "bits_per_byte",
        "Bits per byte",
        "BPB",
        "BPB = −Σ log₂ P(w_i | …) / bytes of the text in UTF-8",
        "[0, ∞)",
        "bits per byte",
        "lower",
        "How many bits does the model need for each byte of the text? The same unit under every tokenizer.",
        "Gao et al. 2020 (The Pile), section 3.1",
    ),
    MeasureCard(
        "bits_per_character",
        "Bits per character",
        "BPC",
        "BPC = −Σ log₂ P(w_i | …) / characters of the text",
        "[0, ∞)",
        "bits per character",
        "lower",
        "How many bits does the model need for each character of the text? It depends on the script: a kanji says more "
        "than a letter.",
        "Shannon 1951; Graves 2013",
    ),
)
