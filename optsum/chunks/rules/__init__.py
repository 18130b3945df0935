"""Rules that say what becomes of each word of a dependency tree: what one is, its patterns, and their files."""
