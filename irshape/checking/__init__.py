"""Checks and fixes models: one file, many files, the cache of reports, and baselines."""
