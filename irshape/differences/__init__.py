"""The structural difference of two models: their layers matched, and what was changed."""
