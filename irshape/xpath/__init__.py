"""XPath over models, for `irshape query` and a team's own rules.

It is bounded in time and memory, and runs in a process of its own.
"""
