"""The formats of topics, systems and rows; `optsum.corpus.topics` recognises a file by its content."""
