"""The tables of a minimal-pairs run as benchmarks print them."""
