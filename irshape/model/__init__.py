"""The contents of a model file: layers, ports, edges, bodies and constants, not yet inferred."""
