"""Tables, figures and statistics of results: comparisons, scores of systems, and a page of HTML."""
