"""Topics that are still lines of a file: whoever works on them decodes and checks them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from optsum.corpus.formats.columns import Columns, parse_columns
from optsum.corpus.formats.lines import Line, RawLine, decode
from optsum.corpus.formats.sources import open_source
from optsum.corpus.topic import AS_IS, BadTopic, Reading, Topic
from optsum.corpus.topics import Say, topics_of_line, topics_of_source, topics_read, watched
from optsum.corpus.unique import Names, unique_topics
from optsum.system.files import PathLike, name_of

_OTHER_IDS: Final = (b'"article_id"', b'"guid"', b'"docid"')
"""Names of ids in well-known sets, beside "id"."""

_SPELLED: Final = re.compile(rb"\\u00[2-7]")
"""An escape for a character that a name may be made of."""

_PLAIN: Final = rb'"(?= *[!#-[\]-~])([ !#-[\]-~]+)"'
"""A string of printable ASCII, without escapes, that is not blank."""

_OWN: Final = re.compile(rb'\s*\{\s*"id"\s*:\s*' + _PLAIN + rb'\s*,\s*"(?:documents|references|cover)"\s*:')
"""How a line of optsum's own begins, as most are written."""


class Unread(NamedTuple):
    """The one topic of a line.

    Attributes
    ----------
    raw : bytes
    source : str
        ``file:line``.
    number : int
        Of the line among those that are not blank, from 0.
    mapped : Columns or None
        What ``--map`` says.
    reading : Reading
    """

    raw: bytes
    source: str
    number: int
    mapped: Columns | None
    reading: Reading

    def read(self, say: Callable[[Columns], None] = lambda _: None) -> Topic | BadTopic:
        """Return the topic, or what is wrong with it; `say` as for `optsum.corpus.topics.topics_of_line`."""
        (topic,) = topics_of_line(decode(self.raw, self.source), self.number, self.mapped, self.reading, say)
        return topic

    def name(self) -> str | bytes | None:
        """Return the id; of a topic that cannot be used there may be none."""
        place = ("id",) if self.mapped is None else self.mapped.paths.get("id", ())
        if not place:
            return str(self.number)
        if (
            self.mapped is None
            and (own := _OWN.match(self.raw)) is not None
            and self.raw.find(b'"id"', own.end()) < 0
            and (b"\\" not in self.raw or not _SPELLED.search(self.raw))
        ):
            return own[1]
        if not _SPELLED.search(self.raw) and not (self.mapped is None and any(key in self.raw for key in _OTHER_IDS)):
            key = json.dumps(place[0]).encode()
            if self.mapped is None and key not in self.raw:
                return str(self.number)
            if len(place) == 1 and (found := _plain_name(self.raw, key)) is not None:
                return found
        topic = self.read()
        return topic.id if isinstance(topic, Topic) else None


def unread_topics(
    path: PathLike,
    reading: Reading = AS_IS,
    columns: str | Mapping[str, str] | None = None,
    told: Callable[[str], None] | None = None,
) -> Iterator[Unread | Topic | BadTopic]:
    """Do what `optsum.read_topics` does, but leave to others what they can do by themselves.

    A line of JSON Lines that is one topic is passed on as it stands in the file; `Unread.read` makes of it what
    `optsum.read_topics` would have. Only its id is looked for, because a second topic with the same one is refused;
    from the first repetition on, lines are read here, because it depends on whether the first one could be used.
    """
    mapped = None if columns is None else parse_columns(columns)
    say = Say(name_of(path), told)
    source = open_source(path, split=reading.split, columns=mapped.names if mapped is not None else ())
    several = mapped is not None and any("[]" in place for place in mapped.paths.values())
    first = next(source, None)
    if first is None or not isinstance(first, RawLine) or not Path(path).is_file() or several:
        rest: Any = source if first is None else chain([first], source)
        return watched(path, unique_topics(topics_of_source(rest, mapped, reading, say)))
    lines = cast("Iterator[Line | RawLine]", chain([first], source))
    return watched(path, _unread(lines, mapped, reading, say, lambda: topics_read(path, reading, columns)))


def _unread(
    lines: Iterator[Line | RawLine],
    mapped: Columns | None,
    reading: Reading,
    say: Say,
    anew: Callable[[], Iterator[Topic | BadTopic]],
) -> Iterator[Unread | Topic | BadTopic]:
    """Pass lines on while no id comes again, and then topics of `anew`, which reads all from the beginning."""
    seen, usable = Names(), False
    for number, line in enumerate(lines):
        if not isinstance(line, RawLine):
            yield from topics_of_line(line, number, mapped, reading, say)
            continue
        unread = Unread(line.raw, line.source, number, mapped, reading)
        if usable:
            name = unread.name()
        else:  # which columns there are is said when the first is read
            topic = unread.read(say)
            usable = isinstance(topic, Topic)
            name = topic.id if isinstance(topic, Topic) else None
        if name is not None and not seen.add(name):
            yield from islice(anew(), number, None)
            return
        yield unread


@lru_cache(maxsize=32)
def _pair_of(key: bytes) -> re.Pattern[bytes]:
    """Return what a key with plain text as its value looks like."""
    return re.compile(re.escape(key) + rb"\s*:\s*" + _PLAIN + rb"\s*")


def _plain_name(raw: bytes, key: bytes) -> bytes | None:
    """Return what stands behind a key in the outermost object of a line, if that can be seen without decoding it.

    It can if the key is there once, with printable ASCII as its value, as the first or the last of all.
    """
    at = raw.find(key)
    if at < 0 or raw.find(key, at + 1) >= 0 or (pair := _pair_of(key).match(raw, at)) is None:
        return None
    if raw[:at].strip() == b"{" or raw[pair.end() :].strip() == b"}":
        return pair[1]
    return None
