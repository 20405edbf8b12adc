"""Many files at a time: processes, executors, and what is remembered."""
