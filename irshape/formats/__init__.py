"""Reads the input formats, one folder for each, and writes files."""
