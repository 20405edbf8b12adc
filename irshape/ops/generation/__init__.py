"""Generation operations: they make tensors from a few numbers, e.g. Range and Eye."""
