"""Slips in the text of a file: what is not well-formed, and what stands in the wrong place."""
