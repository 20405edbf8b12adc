"""Operations that run a body, once (If) or repeatedly (Loop, TensorIterator)."""
