"""Sequence operations: recurrent cells and sequences, CTC, and OneHot."""
