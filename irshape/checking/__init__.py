"""From a path to a report: one file, many files, what is remembered, baselines, fixes."""
