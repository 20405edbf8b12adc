"""Image processing operations: resizing, sampling and colour conversion."""
