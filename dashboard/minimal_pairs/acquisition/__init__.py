"""The page of words in contexts: when a model learns them, beside when children do."""
