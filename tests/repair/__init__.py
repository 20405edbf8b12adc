"""Tests of the possible causes of findings, and of `irshape fix`."""
