"""The page: rows as one HTML file that shows what was found, topic by topic, without any server."""
