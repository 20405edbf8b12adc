"""What devices make of a model before anything runs there: facts, verdicts, memory."""
