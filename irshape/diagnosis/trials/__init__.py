"""What a change would do: a body as it is looked at, and the part of it that is inferred again."""
