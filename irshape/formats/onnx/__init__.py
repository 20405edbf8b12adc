"""ONNX models, read into OpenVINO's operations. One module a family of operators; `declaration` says how one is declared, `reader` puts a model together."""
