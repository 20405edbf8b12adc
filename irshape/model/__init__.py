"""A model as its file describes it: layers, ports, edges, bodies and constants."""
