"""All optima of topics and what is near them, and rows that carry them for people to look at."""
