"""Tables and statistics about results: comparisons, scores of systems, what can be chosen."""
