"""Judges whether devices can compile a model, without running it: facts, verdicts, advice."""
