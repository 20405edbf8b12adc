"""The structural difference of two models: which layers correspond, and what changed."""
