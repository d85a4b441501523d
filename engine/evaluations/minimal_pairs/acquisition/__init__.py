"""Words in contexts over checkpoints: when a model learns each word, beside when children do."""
