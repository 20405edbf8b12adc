"""User settings: the configuration, the selection of rules, comments in files."""
