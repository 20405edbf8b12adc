"""Any bytes in: mutants of every kind of file that irshape reads, through every command."""
