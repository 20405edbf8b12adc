"""Evaluates XPath expressions over models, for `irshape query` and rules in the configuration.

A separate process with limited time and memory evaluates them.
"""
