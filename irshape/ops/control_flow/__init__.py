"""Control flow: operations that run a network inside themselves, once (If) or many times (Loop,
TensorIterator).
"""
