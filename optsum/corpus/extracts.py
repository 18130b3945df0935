"""Which sentences of the source a summary took."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

from optsum.corpus.systems import System
from optsum.corpus.topic import Topic
from optsum.text.lengths import joined
from optsum.text.tokenizers import Sentence

__all__ = ["Extract", "extract_of"]


@dataclass(frozen=True)
class Extract:
    """The sentences of a summary, as far as the source has them.

    Attributes
    ----------
    units : tuple of int
        Sentences of the source, in order.
    others : int
        Sentences of the summary that are none of the source.
    """

    units: tuple[int, ...]
    others: int

    @property
    def names(self) -> set[int | str]:
        """What an oracle is compared with: sentences of the source, and for each other one a name that none has."""
        return {*self.units, *(f"other {number}" for number in range(self.others))}


def extract_of(topic: Topic, system: System) -> Extract | None:
    """Return which sentences of the source a summary consists of; None if its text is not known.

    A sentence is one of the source if their letters and digits are the same, whatever their case and what stands
    between. The first that is still free is meant where the source has a sentence several times.
    """
    if system.selection is not None:
        units = {unit for unit in system.selection if isinstance(unit, int)}
        if len(units) == len(system.selection):
            return Extract(tuple(sorted(units)), 0)
    if system.summary is None:
        return None
    places: defaultdict[str, deque[int]] = defaultdict(deque)
    for unit, sentence in enumerate(topic.sentences):
        places[_letters(sentence)].append(unit)
    found: list[int] = []
    others = 0
    for letters in filter(None, map(_letters, system.summary)):
        if places[letters]:
            found.append(places[letters].popleft())
        else:
            others += 1
    return Extract(tuple(sorted(found)), others)


def _letters(sentence: Sentence) -> str:
    text = joined([sentence])
    return "".join(filter(str.isalnum, (text if isinstance(text, str) else " ".join(text)).casefold()))
