"""Pooling operations: the mean or the largest element of each window along the spatial axes."""
