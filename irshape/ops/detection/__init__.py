"""Detection operations, one module a family.

Priors, proposals, pooling of regions, and suppression of overlapping boxes.
"""
