"""Holds results against OpenVINO, onnxruntime, oneDNN, or another model."""
