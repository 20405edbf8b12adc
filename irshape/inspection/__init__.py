"""The contents of a model and their costs, derived without running the model."""
