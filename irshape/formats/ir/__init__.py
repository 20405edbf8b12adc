"""The IR: its reader, its writer, edits of its text, layers on their own."""
