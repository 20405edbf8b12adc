"""Runs the command line: `python -m irshape`."""

from .cli import main

main()
