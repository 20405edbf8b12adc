"""The structural difference of two models: their matched layers, and what changed."""
