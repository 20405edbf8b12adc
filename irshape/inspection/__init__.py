"""What a model consists of and what it costs, from inference alone: nothing is executed."""
