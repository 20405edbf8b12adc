"""Tests of the reports and their formats."""
