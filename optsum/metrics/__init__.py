"""Metrics: n-grams, skip-bigrams, common subsequences and similarities; and the official scores of summaries."""
