"""The formats in which topics, systems and rows come; `records` recognises a file by its content."""
