"""Detection operations, with one module for each family.

Priors, proposals, pooling of regions, and suppression of overlapping boxes.
"""
