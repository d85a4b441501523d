"""The page of minimal pairs for each kind of data."""
