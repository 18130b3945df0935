"""Chunk rules: what becomes of each word of a dependency tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from optsum.chunks.parse import Parse
from optsum.chunks.rules.patterns import NamePattern, Pattern
from optsum.chunks.rules.reattach import TreeStep
from optsum.chunks.working import WorkingTree

__all__ = ["Action", "ChunkRule", "Rules"]


class Action(Enum):
    """The fate of a word that is not the root."""

    MERGE = "MERGE"
    """It belongs to the chunk of its head."""
    REQ = "REQ"
    """It begins a chunk that lives and dies with the chunk of its head."""
    SEP = "SEP"
    """It begins a chunk that can be left out."""


@dataclass(frozen=True, slots=True)
class ChunkRule:
    """One line of the table."""

    pattern: Pattern
    action: Action
    note: str = ""


_OTHERWISE = ChunkRule(Pattern(), Action.SEP, "no rule fits")


@dataclass(frozen=True)
class Rules:
    """A table of chunk rules.

    Attributes
    ----------
    name : str
        The label scheme or the file.
    steps : tuple of TreeStep
        Re-attachment, in order.
    rules : tuple of ChunkRule
        The first that fits a word decides; where none does, the word can be left out.
    known_by : NamePattern
        Relations that only this label scheme has.
    digest : str
        Differs when the table does, all that it extends and all lists of words included.
    """

    name: str
    steps: tuple[TreeStep, ...]
    rules: tuple[ChunkRule, ...]
    known_by: NamePattern
    digest: str = ""
    _by_relation: dict[str, tuple[ChunkRule, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def prepare(self, parse: Parse) -> WorkingTree:
        """Return the tree of a parse after re-attachment."""
        tree = WorkingTree(parse)
        for step in self.steps:
            step.apply(tree)
        return tree

    def decide(self, tree: WorkingTree, word: int) -> ChunkRule:
        """Return the rule that a word falls under; not for the root."""
        relation = tree.relation[word]
        if (candidates := self._by_relation.get(relation)) is None:
            candidates = tuple(
                rule for rule in self.rules if rule.pattern.relation is None or rule.pattern.relation.match(relation)
            )
            self._by_relation[relation] = candidates
        return next((rule for rule in candidates if rule.pattern.match(tree, word)), _OTHERWISE)
