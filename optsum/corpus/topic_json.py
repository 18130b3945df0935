"""A topic as JSON: the other direction of `optsum.corpus.topic.as_topic`."""

from __future__ import annotations

from typing import Any

from optsum.corpus.topic import Text, Topic

__all__ = ["topic_to_json"]


def topic_to_json(topic: Topic) -> dict[str, Any]:
    """Return the JSON form of a topic, one line of a topics file.

    ``as_topic(topic_to_json(topic))`` is the same topic; only `source`, where it was read, is not written.

    Examples
    --------
    >>> topic_to_json(Topic("t", (("A cat .",),), (), cover=(((0,), ("s1", "s2")),)))
    {'id': 't', 'documents': [['A cat .']], 'references': [], 'cover': [[[0], ['s1', 's2']]]}
    """
    found: dict[str, Any] = {
        "id": topic.id,
        "documents": _texts(topic.documents),
        "references": _texts(topic.references),
    }
    if topic.cover is not None:
        found["cover"] = [[list(chosen) for chosen in alternatives] for alternatives in topic.cover]
    if topic.parses is not None:
        found["parses"] = list(topic.parses)
    if topic.meta:
        found["meta"] = dict(topic.meta)
    return found


def _texts(texts: tuple[Text, ...]) -> list[list[str | list[str]]]:
    return [[text if isinstance(text, str) else list(text) for text in sentences] for sentences in texts]
