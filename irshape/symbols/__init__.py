"""Named sizes: expressions over symbols, and what is known of them."""
