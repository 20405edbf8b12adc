"""Image processing operations."""
