"""Slips in single elements, and the changes that take them back: one module a kind of element."""
