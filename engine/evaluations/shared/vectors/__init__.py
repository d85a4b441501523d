"""Vectors of sentences as evaluations ask for them: the settings, the requests, and those that come with the data."""
