"""Reading of topics and systems, and writing of rows.

Readers open a file at once and yield its contents one by one; an unusable part becomes a `BadTopic` or `BadSystem` in
its place, so that the others are still processed.
"""
