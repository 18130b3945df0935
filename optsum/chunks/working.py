"""A dependency tree that can be changed: what rules look at, and what re-attachment works on."""

from __future__ import annotations

from optsum.chunks.parse import Parse, Token

_BRACKETS = {"-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-"}  # How the Penn Treebank writes brackets.


class WorkingTree:
    """The words of a parse, their heads and relations; punctuation is no part of the tree.

    `root`: number of the root among the tokens; always a word. `words`: the tokens that are words, in order: all but
    punctuation. `head`: for each token its head, a word; -1 for the root and for punctuation.
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
        """Give a word another head (-1 makes it the root), and perhaps another relation."""
        self.head[word] = head
        if relation is not None:
            self.relation[word] = relation
        if head == -1:
            self.root = word
        self._children = None

    def below(self, word: int) -> set[int]:
        """Return the word and all words that depend on it."""
        found, new = {word}, [word]
        while new:
            new = [child for each in new for child in self.children(each)]
            found.update(new)
        return found

    def lemma(self, word: int) -> str:
        """Return the lemma in lower case; the form, where the parse has none."""
        token = self.parse.tokens[word]
        return (token.lemma or token.form).lower()


def is_punctuation(token: Token) -> bool:
    """Return whether a token has the label or the tag, and no letter or digit that would make it a word after all."""
    named = token.upos == "PUNCT" or token.deprel.partition(":")[0] == "punct"
    return named and (token.form in _BRACKETS or not any(map(str.isalnum, token.form)))
