"""Turns paths into reports: single files, many files, the cache, baselines, and fixes."""
