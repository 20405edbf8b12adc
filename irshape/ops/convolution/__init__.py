"""Convolution operations: dense, grouped, transposed, deformable and binary."""
