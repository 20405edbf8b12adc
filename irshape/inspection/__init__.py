"""The parts of a model and their costs, from inference alone: nothing is executed."""
