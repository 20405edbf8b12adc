"""The contents of a model and their costs, from inference alone: nothing is run."""
