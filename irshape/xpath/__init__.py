"""XPath over models, for `irshape query` and a team's own rules: bounded in time and memory, in a process of its own."""
