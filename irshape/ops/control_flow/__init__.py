"""Control flow: operations that contain a network and run it once (If) or many times (Loop,
TensorIterator).
"""
