"""Topics with the shape of DUC-2004 and DUC-2006, made from real texts.

The documents are one story (shape of DUC-2004) or several (DUC-2006), with sentences joined until they are as long as
newswire sentences. The references are four human answers to one question about the story, cut to the length limit. In
DUC many documents report the same event. To imitate this, a share of the words of every sentence and every reference is
replaced by phrases drawn from the story, with a Zipf distribution of frequencies. The shares are set so that the mean
oracle recall is close to Table 2 of Hirao et al. 2017 (ROUGE-1 stemmed, without stop words; ROUGE-2 stemmed, with stop
words).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.answer import topics_of

import optsum


@dataclass(frozen=True)
class Shape:
    """The shape of a set of topics."""

    sentences: int
    words: float
    max_length: int
    phrases: int
    span: tuple[int, int]
    in_source: float
    in_reference: float
    zipf: float


DUC_2004 = Shape(218, 22.3, 100, phrases=150, span=(1, 3), in_source=0.3, in_reference=0.65, zipf=0.8)
DUC_2006 = Shape(732, 21.8, 250, phrases=300, span=(1, 3), in_source=0.3, in_reference=0.65, zipf=0.8)


def _joined(sentences: Sequence[object], shape: Shape, rng: random.Random) -> list[str]:
    """Join neighbouring sentences up to lengths around the mean."""
    out: list[str] = []
    line: list[str] = []
    goal = rng.gauss(shape.words, 8)
    for sentence in map(str, sentences):
        line += sentence.split()
        if len(line) >= goal - 5:
            out.append(" ".join(line[:60]))
            line = []
            goal = rng.gauss(shape.words, 8)
    return out


def _mixed(
    words: list[str], share: float, phrases: list[list[str]], weights: list[float], rng: random.Random
) -> list[str]:
    """Replace a share of the words by phrases, without changing the number of words."""
    out: list[str] = []
    while len(out) < len(words):
        phrase = rng.choices(phrases, weights)[0]
        if rng.random() < share:
            out += phrase
        else:
            out += words[len(out) : len(out) + len(phrase)]
    return out[: len(words)]


def synthetic_topics(data: Path, shape: Shape, count: int, seed: int = 1) -> Iterator[optsum.Topic]:
    """Yield `count` topics.

    Parameters
    ----------
    data : the folder that holds ``squality/topics.jsonl``
    """
    rng = random.Random(seed)
    stories = list(topics_of(data / "squality" / "topics.jsonl"))
    for number in range(count):
        chosen = [stories[number % len(stories)], *rng.sample(stories, 6)]
        sentences: list[str] = []
        for story in chosen:
            sentences += _joined(story.sentences, shape, rng)
            if len(sentences) >= shape.sentences:
                break
        size = round(rng.gauss(shape.sentences, shape.sentences / 6))
        sentences = sentences[: max(size, 50)]
        questions = [chosen[0].references, *(q["references"] for q in chosen[0].meta["other_questions"])]
        texts = [" ".join(r) for r in questions[number // len(stories) % len(questions)]]
        phrases = []
        for _ in range(shape.phrases):
            words = rng.choice(sentences).split()
            at = rng.randrange(len(words))
            phrases.append(words[at : at + rng.randint(*shape.span)])
        weights = [(rank + 1) ** -shape.zipf for rank in range(shape.phrases)]
        references = []
        for text in texts:
            words = (text.split() * (shape.max_length // len(text.split()) + 1))[: shape.max_length]
            references.append((" ".join(_mixed(words, shape.in_reference, phrases, weights, rng)),))
        mixed = (" ".join(_mixed(s.split(), shape.in_source, phrases, weights, rng)) for s in sentences)
        yield optsum.Topic(f"synthetic-{number}", (tuple(mixed),), tuple(references))
