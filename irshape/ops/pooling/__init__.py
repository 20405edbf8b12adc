"""Pooling operations: one value, the mean or the largest, for each window of the spatial axes."""
