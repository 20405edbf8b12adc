"""The input formats, a folder for each, and the writing of files."""
