"""Judges before a run whether devices can compile a model: facts, verdicts, memory."""
