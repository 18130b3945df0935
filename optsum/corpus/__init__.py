"""Reading of topics and systems, and writing of rows: one by one; an unusable part is a `BadTopic` in its place."""
