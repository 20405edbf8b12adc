"""Compares irshape's results with OpenVINO, onnxruntime, oneDNN, or another model."""
