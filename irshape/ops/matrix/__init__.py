"""Matrix operations: products of matrices in several forms, attention, and the inverse."""
