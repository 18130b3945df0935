"""Each once: a second item of the same name is refused where it stands, and the others are done."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from struct import Struct
from typing import Final, TypeVar

from optsum.corpus.topic import BadTopic, Topic

T = TypeVar("T")

_HALVES: Final = Struct("=QQ")


class SeenNames:
    """Names that were there: 128 bits of each (BLAKE2b), in a hash table with open addressing.

    A set of a million strings takes 130 MB; this takes 32. Two names of the same digest would have to be made on
    purpose, and nobody knows how.

    Examples
    --------
    >>> names = SeenNames()
    >>> names.add("a"), names.add("b"), names.add("a"), len(names)
    (True, True, False, 2)
    """

    def __init__(self) -> None:
        self._slots = 64  # a power of two
        self._table = array("Q", bytes(16 * self._slots))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, name: str | bytes) -> bool:
        """Add a name, and return whether it is new; text is the same as its UTF-8."""
        raw = name if isinstance(name, bytes) else name.encode("utf-8", "surrogatepass")
        first, second = _HALVES.unpack(blake2b(raw, digest_size=16).digest())
        if not self._put(first, second):
            return False
        self._count += 1
        if 3 * self._count > 2 * self._slots:
            self._grow()
        return True

    def _put(self, first: int, second: int) -> bool:
        table, last = self._table, self._slots - 1
        slot = first & last
        while (held := table[2 * slot]) or table[2 * slot + 1]:
            if held == first and table[2 * slot + 1] == second:
                return False
            slot = (slot + 1) & last
        table[2 * slot], table[2 * slot + 1] = first, second
        return True

    def _grow(self) -> None:
        old, self._slots = self._table, 2 * self._slots
        self._table = array("Q", bytes(16 * self._slots))
        for slot in range(0, len(old), 2):
            if old[slot] or old[slot + 1]:
                self._put(old[slot], old[slot + 1])


def unique(items: Iterable[T], name: Callable[[T], str | None], again: Callable[[T], T]) -> Iterator[T]:
    """Pass items on; one whose name an earlier one had is replaced.

    `name`: returns by what an item is known; None for one that has no name, which is passed on. `again`: returns what
    takes the place of an item whose name was there before.
    """
    seen = SeenNames()
    for item in items:
        known = name(item)
        yield item if known is None or seen.add(known) else again(item)


def unique_topics(
    topics: Iterable[Topic | BadTopic], sentence: str = "a second topic has the id {!r}; give each its own"
) -> Iterator[Topic | BadTopic]:
    """Pass topics on; one whose id an earlier one had becomes a `BadTopic` with `sentence`."""

    def again(topic: Topic | BadTopic) -> BadTopic:
        return BadTopic(topic.id, topic.source, sentence.format(topic.id))

    return unique(topics, lambda topic: topic.id if isinstance(topic, Topic) else None, again)
