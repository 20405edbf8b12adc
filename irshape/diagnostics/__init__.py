"""Diagnostics, the reports that contain them, and the formats of reports."""
