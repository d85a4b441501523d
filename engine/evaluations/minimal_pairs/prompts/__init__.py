"""Sentences in templates: in-template log-probability, the answer to a question, and the vote of both."""
