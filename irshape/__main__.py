"""`python -m irshape`."""

from irshape.cli import main

main()
