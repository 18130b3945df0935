"""Make random small topics with random chunk trees, and find their best compressions by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
from trying import best_of

from optsum.chunks.parse import Parse, Token
from optsum.corpus.topic import Topic, as_topic
from optsum.metrics.rouge import parse_metric, rouge
from optsum.text.analyzer import Analyzer

WORDS = ["the", "a", "sun", "Sun", "sea", "see", "seas", "well-known", "didn't", "x", "of", "running", "—", "red"]


@dataclass(frozen=True)
class Draw:
    """A topic with the parses and chunk trees of its sentences."""

    topic: Topic
    parses: tuple[Parse, ...]
    trees: tuple[nx.DiGraph, ...]

    def compressions(self, sentence: int) -> Iterator[tuple[int, ...]]:
        """Yield the sets of chunks of a sentence that may be kept, found by trying all subsets."""
        tree = self.trees[sentence]
        chunks = sorted(tree)
        for kept in product((False, True), repeat=len(chunks)):
            held = dict(zip(chunks, kept, strict=True))
            if all(
                held[parent] >= held[child] and (not edge["required"] or held[parent] == held[child])
                for parent, child, edge in tree.edges(data=True)
            ):
                yield tuple(chunk for chunk in chunks if held[chunk])

    def text(self, sentence: int, chunks: tuple[int, ...]) -> str:
        """Return the counted tokens of a sentence that lie in the given chunks, as text."""
        owner = {word: chunk for chunk, words in self.trees[sentence].nodes(data="tokens") for word in words}
        pieces = []
        for piece, start in Analyzer().spans(self.topic.sentences[sentence]):
            word = max(place for place, token in enumerate(self.parses[sentence].tokens) if token.start <= start)
            if owner[word] in chunks:
                pieces.append(piece)
        return " ".join(pieces)

    def words(self, sentence: int, chunks: tuple[int, ...]) -> int:
        """Return the number of blank-separated words that begin in the given chunks."""
        owner = {word: chunk for chunk, words in self.trees[sentence].nodes(data="tokens") for word in words}
        text = self.parses[sentence].text
        return sum(
            owner[place] in chunks
            for place, token in enumerate(self.parses[sentence].tokens)
            if token.start == 0 or text[token.start - 1] == " "
        )

    def best(self, options: dict[str, Any], max_length: int) -> Fraction:
        """Return the best value of all compressions within the length."""
        choices = [list(self.compressions(number)) for number in range(len(self.parses))]
        best = best_of(
            (
                chosen
                for chosen in product(*choices)
                if sum(self.words(number, chunks) for number, chunks in enumerate(chosen)) <= max_length
            ),
            lambda chosen: text_value(
                [self.text(number, chunks) for number, chunks in enumerate(chosen) if chunks], self.topic, options
            ),
        ).best
        assert best is not None  # the empty summary always fits
        return best


def text_value(summary: Any, topic: Topic, options: dict[str, Any]) -> Fraction:
    """Return the objective of a text, computed by `rouge`."""
    scores = [
        rouge(
            summary,
            topic.references,
            part,
            stem=options.get("stem", False),
            stopwords=options.get("stopwords", "keep"),
            tokenizer=options.get("tokenizer", "rouge"),
            counts=options.get("counts", "clipped"),
            references_mode=options.get("references", "pooled"),
            boundaries="sentence",
            last_unigram=True,
        ).exact(options.get("measure", "recall"))
        for part in parse_metric(options["metric"]).components
    ]
    return sum(scores, Fraction(0)) / len(scores)


def draw(rng: np.random.Generator, *, strict: bool, sentences: int = 2, words: int = 8) -> Draw:
    """Return a random topic with many discontinuous chunks, and with references whose n-grams need compressions."""
    parses, trees = [], []
    for _ in range(int(rng.integers(1, sentences + 1))):
        count = int(rng.integers(1, words + 1))
        forms = [WORDS[int(rng.integers(0, len(WORDS)))] for _ in range(count)]
        tokens, text = [], ""
        for place, form in enumerate(forms):
            if place and rng.random() < 0.85:
                text += " "
            elif place:
                text += "-"  # the length counts it with the word before
            tokens.append(Token(form, form, "X", start=len(text), end=len(text) + len(form), head=place - 1))
            text += form
        parses.append(Parse(tuple(tokens), text))
        trees.append(_tree(rng, count, strict=strict))
    documents = [[parse.text for parse in parses]]
    source = Draw(as_topic({"id": "r", "documents": documents, "references": [["x"]]}), tuple(parses), tuple(trees))
    references = [_reference(rng, source) for _ in range(int(rng.integers(1, 3)))]
    return replace(source, topic=replace(source.topic, references=tuple(map(tuple, references))))


def _tree(rng: np.random.Generator, words: int, *, strict: bool) -> nx.DiGraph:
    chunks = int(rng.integers(1, min(words, 6) + 1))
    of_word = [*range(chunks), *rng.integers(0, chunks, words - chunks).tolist()]
    rng.shuffle(of_word)
    number = {chunk: place + 1 for place, chunk in enumerate(dict.fromkeys(of_word))}
    tree = nx.DiGraph()
    for chunk in range(chunks):
        tree.add_node(number[chunk], tokens=tuple(word for word, own in enumerate(of_word) if own == chunk))
    order = rng.permutation(chunks).tolist()
    for place in range(1, chunks):
        parent = order[int(rng.integers(0, place))]
        tree.add_edge(number[parent], number[order[place]], required=bool(strict and rng.random() < 0.4))
    return tree


def _reference(rng: np.random.Generator, source: Draw) -> list[str]:
    """Return sentences of words from random compressions and random others, and perhaps one of unknown words."""
    words = []
    for number, parse in enumerate(source.parses):
        choices = list(source.compressions(number))
        words += source.text(number, choices[int(rng.integers(0, len(choices)))]).split()
        words += [word for word in parse.text.split() if rng.random() < 0.2]
    return [" ".join(words) or "sun", *(["the sea of x"] if rng.random() < 0.4 else [])]
