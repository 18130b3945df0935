"""Steps that move words of a dependency tree before it is cut into chunks, so that what is left stays a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Protocol

from optsum.chunks.rules.patterns import NamePattern
from optsum.chunks.working import WorkingTree


class TreeStep(Protocol):
    """One step; its fields are lists of relations, other than said."""

    def apply(self, tree: WorkingTree) -> None:
        """Move the words that it is about."""


def _with(tree: WorkingTree, word: int, relation: NamePattern) -> list[int]:
    """Return the children of a word that have the relation."""
    return [each for each in tree.children(word) if relation.match(tree.relation[each])]


@dataclass(frozen=True)
class Preconjunction:
    """Of "both A and B" or "either A or B" the first word moves from A to the last conjunct."""

    relation: NamePattern
    conjunct: NamePattern

    def apply(self, tree: WorkingTree) -> None:
        """Move them."""
        for word in tree.words:
            if tree.head[word] != -1 and self.relation.match(tree.relation[word]):
                conjuncts = _with(tree, tree.head[word], self.conjunct)
                if conjuncts:
                    tree.attach(word, conjuncts[-1])


@dataclass(frozen=True)
class Chain:
    """A chain A -> B -> C of conjuncts, for "A, B and C": all move to A, as far as the first with a coordinator."""

    conjunct: NamePattern
    coordinator: NamePattern

    def apply(self, tree: WorkingTree) -> None:
        """Move them."""
        for word in tree.words:
            for last in _with(tree, word, self.conjunct):
                here = last
                while not _with(tree, here, self.coordinator):
                    behind = [each for each in _with(tree, here, self.conjunct) if each > here]
                    if not behind:
                        break
                    here = behind[0]
                    tree.attach(here, word)


@dataclass(frozen=True)
class Coordinator:
    """A coordinator that hangs on the conjunct in front of it moves to the one behind it."""

    relation: NamePattern
    conjunct: NamePattern

    def apply(self, tree: WorkingTree) -> None:
        """Move them."""
        for word in tree.words:
            head = tree.head[word]
            if head != -1 and head < word and self.relation.match(tree.relation[word]):
                behind = [each for each in _with(tree, head, self.conjunct) if each > word]
                if behind:
                    tree.attach(word, behind[0])


@dataclass(frozen=True)
class MiddleConjunct:
    """Of "A, B and C" B, which has no coordinator, moves from A to C, the last that has one.

    "A and C" is then left when B is dropped, and "A, B" never.
    """

    conjunct: NamePattern
    coordinator: NamePattern

    def apply(self, tree: WorkingTree) -> None:
        """Move them."""
        for word in tree.words:
            conjuncts = _with(tree, word, self.conjunct)
            joined = [each for each in conjuncts if _with(tree, each, self.coordinator)]
            for each in conjuncts:
                if joined and each < joined[-1] and each not in joined:
                    tree.attach(each, joined[-1])


@dataclass(frozen=True)
class Attribution:
    """Of "X, he said", if X is a clause of "said", X takes its place, and "he said" becomes an aside of X.

    The clause stands in front of the verb and of the verb's other dependents, but for those named by `along`, which go
    with X. It ends in punctuation, and no subordinator opens it.

    Attributes
    ----------
    clause, along, subordinator : NamePattern
    becomes : str
        The relation of "said" to X.
    """

    clause: NamePattern
    along: NamePattern
    subordinator: NamePattern
    becomes: str

    def apply(self, tree: WorkingTree) -> None:
        """Move them."""
        for word in tree.words:
            verb = tree.head[word]
            if verb == -1 or not self.clause.match(tree.relation[word]):
                continue
            inside = tree.below(word)
            movable = _with(tree, verb, self.along)
            outside = tree.below(verb) - inside - {each for one in movable for each in tree.below(one)}
            opened = _with(tree, word, self.subordinator)
            if min(outside) < max(inside) or opened or not _breaks(tree, max(inside)):
                continue
            above, relation = tree.head[verb], tree.relation[verb]
            tree.attach(word, above, relation)
            tree.attach(verb, word, self.becomes)
            for each in movable:
                if each < word:
                    tree.attach(each, word)


def _breaks(tree: WorkingTree, word: int) -> bool:
    """Return whether punctuation other than a hyphen follows a word."""
    tokens = tree.parse.tokens
    return word + 1 < len(tokens) and word + 1 not in tree.words and tokens[word + 1].form not in {"-", "(", "["}


@dataclass(frozen=True)
class Degree:
    """Of "hated him enough to leave", "ran so fast that he fell" the clause moves from the verb to the adverb.

    Attributes
    ----------
    clause, adverb : NamePattern
    markers : mapping of str to tuple of str
        Lemma of the adverb -> lemmas of words that open the clause. The adverb depends on what the clause does, or on
        a dependent of that, and stands in front of the clause.
    """

    clause: NamePattern
    adverb: NamePattern
    markers: Mapping[str, tuple[str, ...]] = field(hash=False)

    def apply(self, tree: WorkingTree) -> None:
        """Move them."""
        for word in tree.words:
            head = tree.head[word]
            if head == -1 or not self.clause.match(tree.relation[word]):
                continue
            opening = {tree.lemma(each) for each in tree.children(word)}
            near = [each for each in tree.children(head) if each != word]
            for adverb in [*near, *(below for each in near for below in tree.children(each))]:
                if (
                    adverb < word
                    and self.adverb.match(tree.relation[adverb])
                    and opening.intersection(self.markers.get(tree.lemma(adverb), ()))
                ):
                    tree.attach(word, adverb)
                    break


STEPS: Final[Mapping[str, type[Any]]] = MappingProxyType(
    {
        "preconjunction": Preconjunction,
        "chain": Chain,
        "coordinator": Coordinator,
        "middle-conjunct": MiddleConjunct,
        "attribution": Attribution,
        "degree": Degree,
    }
)
"""Name in a file of rules -> class; the fields are what the file sets."""
