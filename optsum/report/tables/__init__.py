"""Tables: one class, its formats (text, Markdown, LaTeX, CSV), and the tables of results and frontiers."""
