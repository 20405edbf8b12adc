"""Generation operations, which make tensors from a few numbers."""
