"""What is computed of each kind of minimal-pair data."""
