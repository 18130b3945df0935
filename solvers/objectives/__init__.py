"""From an instance to programs that the engine can search: recall, one ratio, sums, and the paper's baseline."""
