"""Judges without running a model whether devices can compile it: facts, verdicts, memory."""
