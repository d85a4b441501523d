"""Scores of sentences in templates."""
