"""What several findings, or several causes, have in common: told once, and cured together."""
