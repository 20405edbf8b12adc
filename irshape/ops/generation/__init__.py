"""Generation operations: tensors made from a few numbers."""
