"""Rules that assign each word of a dependency tree to a chunk: their classes, patterns and tables."""
