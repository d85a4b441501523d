"""Models that were scored elsewhere."""
