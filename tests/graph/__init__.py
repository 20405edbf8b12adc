"""Tests of graphs that programs change."""
