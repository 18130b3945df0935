"""Topics and systems in, rows out.

Readers open a file at once and then hand out what it holds one by one; a part that cannot be used comes out
as a `BadTopic` or `BadSystem` in its place, so that one broken document never costs the others.
"""

from optsum.corpus.cover_table import parse_cover_table, read_cover_table
from optsum.corpus.jsonl import BadTopic, read_topics, refuse_repeated
from optsum.corpus.rows import RowWriter, read_rows
from optsum.corpus.sentences import split_sentences
from optsum.corpus.systems import BadSystem, System, as_system, read_systems
from optsum.corpus.topic import Topic, as_topic
from optsum.corpus.topic_json import topic_to_json

__all__ = [
    "BadSystem",
    "BadTopic",
    "RowWriter",
    "System",
    "Topic",
    "as_system",
    "as_topic",
    "parse_cover_table",
    "read_cover_table",
    "read_rows",
    "read_systems",
    "read_topics",
    "refuse_repeated",
    "split_sentences",
    "topic_to_json",
]
