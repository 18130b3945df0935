"""A parsed sentence: words, heads, labels and positions in the text; parses by spaCy; a tree that can be changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from optsum.errors import InputError


@dataclass(frozen=True, slots=True)
class Token:
    """A syntactic word."""

    # form, lemma, upos, xpos: empty where the parse says nothing.
    form: str
    lemma: str = ""
    upos: str = ""
    xpos: str = ""
    # Morphological features, such as ``PronType`` -> ``Rel``.
    feats: Mapping[str, str] = field(default_factory=dict, hash=False)
    head: int = -1  # Number of the head among the tokens of the `Parse`, from 0; -1 for the root.
    deprel: str = ""  # The relation to the head.
    # start, end: characters ``text[start:end]`` of the parse. Words of a multi-word token share its characters out, the
    # first word holding the first one; a span may be empty.
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Parse:
    """One sentence with its dependency tree, which may be non-projective."""

    tokens: tuple[Token, ...]  # In the order of the text, at least one.
    text: str  # The sentence.
    source: str = ""  # File and sentence, for messages.

    def __post_init__(self) -> None:
        if fault := self._fault():
            raise InputError(f"{self.source or f'the parse of {self.text[:40]!r}'}: {fault}")

    def _fault(self) -> str | None:
        tokens = self.tokens
        if not tokens:
            return "there is no word; give at least one"
        roots = [number for number, token in enumerate(tokens) if token.head == -1]
        at = 0
        for number, token in enumerate(tokens):
            if not -1 <= token.head < len(tokens):
                return f"the head of {self._named(number)} does not exist; heads are words of the sentence"
            if not at <= token.start <= token.end <= len(self.text):
                return f"the characters of {self._named(number)} are not in the text after those before; mend the span"
            at = token.start
        if len(roots) > 1:
            return f"{self._named(roots[0])} and {self._named(roots[1])} are both roots; a tree has one root"
        if not roots:
            return "no word is the root; give one word the head 0"
        # Climbing from every word marks each one once: linear in the number of words.
        state = [0] * len(tokens)  # 1: on the way that is being climbed, 2: known to end at the root
        for number in range(len(tokens)):
            way, here = [], number
            while here != -1 and not state[here]:
                state[here] = 1
                way.append(here)
                here = tokens[here].head
            if here != -1 and state[here] == 1:
                return f"the heads above {self._named(here)} go round in a circle; a tree leads every word to the root"
            for each in way:
                state[each] = 2
        return None

    def _named(self, number: int) -> str:
        return f"word {number + 1} ({self.tokens[number].form!r:.40})"


def parses_of_spacy(doc: Any, source: str = "") -> tuple[Parse, ...]:
    """Return the parses of the sentences of a spaCy document or span; white space is not a word."""
    if not getattr(doc, "doc", doc).has_annotation("DEP"):
        raise InputError(f"{source or 'the document'}: spaCy has not parsed it; use a pipeline with a parser")
    return tuple(_sentences(doc, source))


def _sentences(doc: Any, source: str) -> Iterator[Parse]:
    for number, sentence in enumerate(doc.sents, start=1):
        words = [token for token in sentence if not token.is_space]
        if not words:
            continue
        where = f"{source}: sentence {number}" if source else f"sentence {number}"
        place = {token.i: position for position, token in enumerate(words)}
        begin = words[0].idx
        text = sentence.doc.text[begin : words[-1].idx + len(words[-1].text)]
        tokens = [
            Token(
                form=token.text,
                lemma=token.lemma_,
                upos=token.pos_,
                xpos=token.tag_,
                feats=token.morph.to_dict(),
                head=_head(token, place, where),
                deprel=token.dep_,
                start=token.idx - begin,
                end=token.idx - begin + len(token.text),
            )
            for token in words
        ]
        yield Parse(tuple(tokens), text, where)


def _head(token: Any, place: dict[int, int], where: str) -> int:
    here = token
    while here.head.i != here.i:
        here = here.head
        if here.i in place:
            return place[here.i]
        if not here.is_space:
            raise InputError(f"{where}: the head of {token.text!r:.40} is outside; give whole sentences")
    return -1


# The tree that can be changed: what rules look at, and what re-attachment works on.

_BRACKETS = {"-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-"}  # How the Penn Treebank writes brackets.


class WorkingTree:
    """The words of a parse (`words`: all tokens except punctuation), their heads and relations.

    `root`: always a word. `head`: the head of each token, a word; -1 for the root and for punctuation.
    """

    def __init__(self, parse: Parse) -> None:
        self.parse = parse
        tokens = parse.tokens
        is_word = [not is_punctuation(token) for token in tokens]
        self.head = [-1] * len(tokens)
        self.relation = [token.deprel for token in tokens]
        tops = []
        for number, token in enumerate(tokens):
            above = token.head
            while above != -1 and not is_word[above]:  # words may hang on a bracket or dash: climb over it
                above = tokens[above].head
            self.head[number] = above
            if above == -1 and is_word[number]:
                tops.append(number)
        if tops:
            self.root = tops[0]
            for number in tops[1:]:  # the root was punctuation: its first word takes its place
                self.head[number] = self.root
        else:  # nothing but punctuation
            self.root = next(number for number, token in enumerate(tokens) if token.head == -1)
            is_word[self.root] = True
        self.words = [number for number, word in enumerate(is_word) if word]
        for number, word in enumerate(is_word):
            if not word or number == self.root:
                self.head[number] = -1
        self._children: list[list[int]] | None = None

    def children(self, word: int) -> list[int]:
        """Return the dependents of a word, in the order of the text."""
        if self._children is None:
            self._children = [[] for _ in self.head]
            for number in self.words:
                if self.head[number] != -1:
                    self._children[self.head[number]].append(number)
        return self._children[word]

    def attach(self, word: int, head: int, relation: str | None = None) -> None:
        """Give a word another head (-1 makes it the root) and optionally another relation."""
        self.head[word] = head
        if relation is not None:
            self.relation[word] = relation
        if head == -1:
            self.root = word
        self._children = None

    def below(self, word: int) -> set[int]:
        """Return a word and all words that depend on it."""
        found, new = {word}, [word]
        while new:
            new = [child for each in new for child in self.children(each)]
            found.update(new)
        return found

    def lemma(self, word: int) -> str:
        """Return the lemma in lower case, or the form if the parse has no lemma."""
        token = self.parse.tokens[word]
        return (token.lemma or token.form).lower()


def is_punctuation(token: Token) -> bool:
    """Return whether a token has the label or tag of punctuation, and contains no letter or digit."""
    named = token.upos == "PUNCT" or token.deprel.partition(":")[0] == "punct"
    return named and (token.form in _BRACKETS or not any(map(str.isalnum, token.form)))
