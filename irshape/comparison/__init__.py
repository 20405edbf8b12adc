"""Compares results with those of OpenVINO, onnxruntime, oneDNN, or another model."""
