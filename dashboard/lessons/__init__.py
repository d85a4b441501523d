"""Guided lessons on the samples: what each step says and asks comes from the results as they are now."""
