"""Each once: a second item of the same name is refused where it stands, and the others are done."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from optsum.corpus.topic import BadTopic, Topic

T = TypeVar("T")


def unique(items: Iterable[T], name: Callable[[T], Hashable], again: Callable[[T], T]) -> Iterator[T]:
    """Pass items on; one whose name an earlier one had is replaced.

    Parameters
    ----------
    items : iterable
    name : callable
        Returns by what an item is known; None for one that has no name, which is passed on.
    again : callable
        Returns what takes the place of an item whose name was there before.
    """
    seen: set[Hashable] = set()
    for item in items:
        known = name(item)
        if known is not None and known in seen:
            yield again(item)
            continue
        if known is not None:
            seen.add(known)
        yield item


def unique_topics(
    topics: Iterable[Topic | BadTopic], sentence: str = "a second topic has the id {!r}; give each its own"
) -> Iterator[Topic | BadTopic]:
    """Pass topics on; one whose id an earlier one had becomes a `BadTopic` with `sentence`."""

    def again(topic: Topic | BadTopic) -> BadTopic:
        return BadTopic(topic.id, topic.source, sentence.format(topic.id))

    return unique(topics, lambda topic: topic.id if isinstance(topic, Topic) else None, again)
