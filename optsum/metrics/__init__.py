"""Units that are counted: n-grams, skip-bigrams, common subsequences, and the official scores of a finished text."""
