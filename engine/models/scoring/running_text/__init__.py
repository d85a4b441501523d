"""Texts that may be longer than a model reads, scored in windows."""
