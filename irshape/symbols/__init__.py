"""Named sizes: expressions over symbols, such as `past + seq`, and facts about them."""
