"""Topics and systems in, rows out.

Readers open a file at once and then hand out what it holds one by one; a part that cannot be used comes out
as a `BadTopic` or `BadSystem` in its place, so that one broken document never costs the others.
"""
