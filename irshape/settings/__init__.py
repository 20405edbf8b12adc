"""What a user sets: the configuration, which findings stay, the baseline."""
