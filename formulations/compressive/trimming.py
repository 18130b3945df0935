"""A sentence as the groups of chunks that may be left out of it.

Chunks that live and die together (tied by "required") are contracted into one group. A group may be kept only with
its parent. Every character of the sentence belongs to one group, so every counted token and every word of its length
does: to the group of its first character.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from optsum.chunks.parse import Parse
from optsum.text.analyzer import Analyzer
from optsum.text.lengths import character_count, word_starts
from optsum.text.tokenizers import Sentence

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False)
class TrimmableSentence:
    """One sentence.

    Attributes
    ----------
    number : int
        Of the sentence in its topic.
    sentence : str or tuple of str
        As the topic has it.
    parse : Parse
    chunks : tuple of tuple of int
        The chunks of each group, ascending; groups are ordered so that parents come first.
    top : tuple of int
        The chunk of each group that the others hang on.
    parents : tuple of int
        The parent of each group, -1 for none.
    group_of_word : tuple of int
        The group of each word of the parse.
    """

    number: int
    sentence: Sentence
    parse: Parse
    chunks: tuple[tuple[int, ...], ...]
    top: tuple[int, ...]
    parents: tuple[int, ...]
    group_of_word: tuple[int, ...]

    @cached_property
    def _borders(self) -> tuple[list[int], list[int]]:
        """Return where words begin that hold a character, and their groups."""
        words = [
            (word.start, group)
            for word, group in zip(self.parse.tokens, self.group_of_word, strict=True)
            if word.end > word.start
        ]
        words.sort(key=lambda word: word[0])
        return [start for start, _ in words], [group for _, group in words]

    def owner(self, place: int) -> int:
        """Return the group that a character belongs to; what lies between two words belongs to the first."""
        starts, groups = self._borders
        return groups[max(0, bisect_right(starts, place) - 1)] if groups else 0

    def pieces(self) -> list[tuple[int, int]]:
        """Return where the text passes from one group to another: the first character of each piece, and its group."""
        starts, groups = self._borders
        changes = zip([0, *starts[1:]], groups, [None, *groups], strict=False)
        return [(start, group) for start, group, before in changes if group != before]

    @cached_property
    def needs(self) -> tuple[int, ...]:
        """Each group with its ancestors, as bits."""
        found: list[int] = []
        for group, parent in enumerate(self.parents):
            found.append(1 << group | (found[parent] if parent >= 0 else 0))
        return tuple(found)

    def tokens(self, analyzer: Analyzer) -> list[tuple[str, int]]:
        """Return the counted tokens with their groups, in the order of the text."""
        return [(token, self.owner(start)) for token, start in analyzer.spans(self.sentence)] if self.chunks else []


def trimmable(number: int, sentence: Sentence, parse: Parse, tree: nx.DiGraph) -> TrimmableSentence:
    """Contract the chunks of a sentence that are tied to one another.

    Parameters
    ----------
    number : int
        Of the sentence in its topic.
    sentence : str or tuple of str
    tree : networkx.DiGraph
        As `optsum.chunks.tree.chunk_tree` returns it: nodes with ``tokens``, edges to children with ``required``.
    """
    group_of: dict[int, int] = {}
    chunks: list[list[int]] = []
    parents: list[int] = []
    waiting: list[tuple[int, int | None]] = [(chunk, None) for chunk, above in tree.in_degree() if not above]
    while waiting:  # a heap: of the chunks whose parent is done, the first in the text
        chunk, parent = heappop(waiting)
        for child in tree.successors(chunk):
            heappush(waiting, (child, chunk))
        if parent is not None and tree.edges[parent, chunk]["required"]:
            group_of[chunk] = group_of[parent]
        else:
            group_of[chunk] = len(chunks)
            chunks.append([])
            parents.append(-1 if parent is None else group_of[parent])
        chunks[group_of[chunk]].append(chunk)
    group_of_word = [0] * len(parse.tokens)
    for chunk, words in tree.nodes(data="tokens"):
        for word in words:
            group_of_word[word] = group_of[chunk]
    return TrimmableSentence(
        number,
        sentence,
        parse,
        tuple(tuple(sorted(group)) for group in chunks),
        tuple(group[0] for group in chunks),
        tuple(parents),
        tuple(group_of_word),
    )


def _counted(sentence: TrimmableSentence, places: Sequence[int]) -> list[int]:
    lengths = [0] * len(sentence.chunks)
    for place in places if lengths else ():
        lengths[sentence.owner(place)] += 1
    return lengths


LENGTHS: Mapping[str, Callable[[TrimmableSentence], list[int]]] = {
    "words": lambda sentence: _counted(sentence, word_starts(sentence.sentence)),
    "characters": lambda sentence: _counted(sentence, range(character_count(sentence.sentence))),
    "sentences": lambda sentence: [int(parent < 0) for parent in sentence.parents],
}
"""Length unit -> length of each group; a whole sentence has the length that it has as an extract.

A blank counts with the word before it, and a compressed sentence as one sentence.
"""
