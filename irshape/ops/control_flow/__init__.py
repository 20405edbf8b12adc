"""Operations that run a network of their own, once (If) or repeatedly (Loop, TensorIterator)."""
