"""Tables: one class with its formats (text, Markdown, LaTeX, CSV), and tables of results and frontiers."""
