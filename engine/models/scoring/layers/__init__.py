"""What a model would say if it ended after one of its layers."""
