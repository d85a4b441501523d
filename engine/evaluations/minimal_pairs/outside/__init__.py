"""Models that were scored elsewhere: their scores come with the data, from a file."""
