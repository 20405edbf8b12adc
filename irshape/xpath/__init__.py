"""Evaluates XPath expressions over models, for `irshape query` and rules in the configuration.

This happens in a separate process with limited time and memory.
"""
