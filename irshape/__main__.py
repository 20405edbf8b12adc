"""`python -m irshape`."""

from .cli import main

main()
