"""Named sizes: expressions over symbols, and known facts about them."""
