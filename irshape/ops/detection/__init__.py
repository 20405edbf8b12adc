"""Detection operations, with one module for each family.

The families are prior boxes, proposals, pooling of regions, and suppression of overlapping boxes.
"""
