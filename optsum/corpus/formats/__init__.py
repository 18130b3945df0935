"""The formats in which topics, systems and rows come; `optsum.corpus.topics` recognises a file by its content."""
