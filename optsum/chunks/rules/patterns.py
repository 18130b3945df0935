"""Patterns of words: the conditions of a chunk rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from optsum.chunks.working import WorkingTree


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A list of names with signs, as it stands in a file of rules.

    ``obl`` is that name alone, ``obl:*`` itself and every subtype, ``*`` any name, ``!obl`` not that one. A name
    matches if one without "!" fits, or there are only such with "!", and none with "!" fits.
    """

    wanted: frozenset[str]
    refused: frozenset[str]
    _plain: bool = field(init=False, repr=False, compare=False)  # only names without signs: no need to look for them

    def __post_init__(self) -> None:
        plain = bool(self.wanted) and not self.refused and not any("*" in name for name in self.wanted)
        object.__setattr__(self, "_plain", plain)

    @classmethod
    def of(cls, names: tuple[str, ...]) -> NamePattern:
        """Return the list from its text."""
        return cls(
            frozenset(name for name in names if not name.startswith("!")),
            frozenset(name[1:] for name in names if name.startswith("!")),
        )

    def match(self, name: str) -> bool:
        """Return whether a name is meant."""
        if self._plain:
            return name in self.wanted
        return (not self.wanted or _among(name, self.wanted)) and not _among(name, self.refused)

    def match_any(self, names: list[str]) -> bool:
        """Return whether one of the names is wanted and none is refused."""
        wanted = not self.wanted or any(_among(name, self.wanted) for name in names)
        return wanted and not any(_among(name, self.refused) for name in names)


def _among(name: str, names: frozenset[str]) -> bool:
    return bool(names) and (name in names or "*" in names or f"{name.partition(':')[0]}:*" in names)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A word's required features; whatever is None may be anything.

    Attributes
    ----------
    relation, upos, xpos, lemma, form, feats : NamePattern or None
        Lemma and form are compared in lower case; a feature is written ``PronType=Rel``.
    head, child, sibling : Pattern or None
        What the head, some child, and some other child of the head must be like.
    no_child, no_sibling : Pattern or None
        What no child, and no other child of the head may be like.
    takes : mapping of str to NamePattern, or None
        Prepositions by the lemma of the head (``depend``: ``on``): one of them must be a ``case`` child of the word (of
        a verb, a ``mark`` that is a preposition: *to convening*), or the word itself if it has none. A key of two words
        (``come up``) wants a child of the head beside it.
    hyphen : bool
        Whether the word must be joined to its head by a hyphen, without blanks.
    side : str or None
        "left" or "right": where the word must stand, seen from its head.
    """

    relation: NamePattern | None = None
    upos: NamePattern | None = None
    xpos: NamePattern | None = None
    lemma: NamePattern | None = None
    form: NamePattern | None = None
    feats: NamePattern | None = None
    head: Pattern | None = None
    child: Pattern | None = None
    no_child: Pattern | None = None
    sibling: Pattern | None = None
    no_sibling: Pattern | None = None
    takes: Mapping[str, NamePattern] | None = field(default=None, hash=False)
    hyphen: bool = False
    side: str | None = None

    def match(self, tree: WorkingTree, word: int) -> bool:
        """Return whether a word of a tree is like that."""
        return self._is(tree, word) and self._stands(tree, word)

    def _is(self, tree: WorkingTree, word: int) -> bool:
        token = tree.parse.tokens[word]
        return not (
            (self.relation is not None and not self.relation.match(tree.relation[word]))
            or (self.upos is not None and not self.upos.match(token.upos))
            or (self.xpos is not None and not self.xpos.match(token.xpos))
            or (self.lemma is not None and not self.lemma.match(tree.lemma(word)))
            or (self.form is not None and not self.form.match(token.form.lower()))
            or (self.feats is not None and not self.feats.match_any(_values(token.feats)))
        )

    def _stands(self, tree: WorkingTree, word: int) -> bool:
        """Return whether the words around it are as they must be."""
        head = tree.head[word]
        if self.child is not None and not any(self.child.match(tree, each) for each in tree.children(word)):
            return False
        if self.no_child is not None and any(self.no_child.match(tree, each) for each in tree.children(word)):
            return False
        if head == -1:
            return not (self.head or self.sibling or self.takes or self.hyphen or self.side)
        if self.side is not None and (self.side == "left") != (word < head):
            return False
        others = [each for each in tree.children(head) if each != word]
        return not (
            (self.head is not None and not self.head.match(tree, head))
            or (self.sibling is not None and not any(self.sibling.match(tree, each) for each in others))
            or (self.no_sibling is not None and any(self.no_sibling.match(tree, each) for each in others))
            or (self.takes is not None and not _takes(self.takes, tree, word, head))
            or (self.hyphen and not _hyphenated(tree, word, head))
        )


def _values(feats: Mapping[str, str]) -> list[str]:
    """Return ``name=value`` for each value of each feature: ``PronType=Int,Rel`` has two."""
    return [f"{name}={value}" for name, values in feats.items() for value in values.split(",")]


def _takes(table: Mapping[str, NamePattern], tree: WorkingTree, word: int, head: int) -> bool:
    cases = [tree.lemma(each) for each in tree.children(word) if _is_preposition(tree, each)] or [tree.lemma(word)]
    verb = tree.lemma(head)
    for key in [verb, *(f"{verb} {tree.lemma(each)}" for each in tree.children(head))]:
        if key in table and any(table[key].match(case) for case in cases):
            return True
    return False


def _is_preposition(tree: WorkingTree, word: int) -> bool:
    """Return whether a word is a preposition of its head: of a verb, a ``mark`` other than the *to* of infinitives."""
    return tree.relation[word] == "case" or (
        tree.relation[word] == "mark" and tree.parse.tokens[word].upos in {"ADP", "SCONJ"}
    )


def _hyphenated(tree: WorkingTree, word: int, head: int) -> bool:
    first, last = sorted((word, head))
    tokens = tree.parse.tokens
    between = tree.parse.text[tokens[first].end : tokens[last].start]
    return any(sign in between for sign in "-‐‑–") and not any(sign.isspace() for sign in between)
