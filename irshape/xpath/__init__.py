"""XPath over models, for `irshape query` and a team's own rules.

It is limited in time and memory, and runs in a separate process.
"""
