"""Tests of named sizes."""
