"""The BabyLM challenge: its tasks, its numbers beside ours, and its files of predictions."""
