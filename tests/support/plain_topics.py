"""Make random small topics and options for `plain_oracle` that together cover every kind of objective."""

from __future__ import annotations

import random
from typing import Any

from plain_oracle import Trimmed

RAW = ["a", "A", "b", "b-a", "c,", "d.", "e's", "f", "über", "—", "C", "a"]
METRICS = [
    *("rouge-1", "rouge-1", "rouge-2", "rouge-2", "rouge-3", "rouge-su0", "rouge-su1", "rouge-su4"),
    *("rouge-l", "rouge-1+rouge-2", "rouge-1+rouge-su1", "ngram-1-2"),
]


def random_sentence(rng: random.Random, most: int) -> str:
    """Return a sentence of 1 to `most` words; one in twenty or so may be empty."""
    return " ".join(rng.choice(RAW) for _ in range(rng.randint(0 if rng.random() < 0.1 else 1, most)))


def random_references(rng: random.Random) -> list[list[str]]:
    """Return one to three references of one to three sentences; the first has two n-grams of every kind at least."""
    references = [[random_sentence(rng, 7) for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(1, 3))]
    references[0].insert(0, "a b c a f")
    return references


def extract_topic(rng: random.Random, *, tokens: bool) -> dict[str, Any]:
    """Return a topic of one to six sentences in one to three documents, some of them repeated."""
    sentences = [random_sentence(rng, 6) for _ in range(rng.randint(1, 6))]
    if rng.random() < 0.3:
        sentences[-1] = sentences[0]
    cut = rng.randint(0, len(sentences))
    documents: list[Any] = [sentences[:cut], sentences[cut:]]
    references: list[Any] = random_references(rng)
    if tokens:
        documents = [[sentence.split() for sentence in document] for document in documents]
        references = [[sentence.split() for sentence in reference] for reference in references]
    return {"id": "extract", "documents": documents, "references": references}


def limits(rng: random.Random, topic: dict[str, Any], unit: str) -> dict[str, int]:
    """Return a maximum length, and in a quarter of the cases a minimum length."""
    count = sum(len(document) for document in topic["documents"])
    largest = {"words": 4 * count + 1, "characters": 9 * count, "sentences": count + 1}[unit]
    most = rng.randint(0 if rng.random() < 0.05 else 1, max(1, largest))
    return {"max_length": most, **({"min_length": rng.randint(0, most)} if rng.random() < 0.25 else {})}


def extract_options(rng: random.Random, topic: dict[str, Any], *, tokens: bool) -> dict[str, Any]:
    """Return options that the extractive formulation serves."""
    metric = rng.choice(METRICS)
    unit = rng.choice(["words", "words", "characters", "sentences"])
    options: dict[str, Any] = {"metric": metric, "length_unit": unit, **limits(rng, topic, unit)}
    options["references"] = rng.choice(["pooled", "pooled", "mean", "best", "first"])
    mean = metric.startswith("ngram")
    if mean and options["references"] == "mean":
        options["references"] = "pooled"
    if not mean:
        options["measure"] = rng.choice(["recall", "recall", "precision", "f1"])
    recall = options.get("measure", "recall") == "recall"
    if metric != "rouge-l":
        options["counts"] = rng.choice(["clipped", "clipped", "set"])
        if rng.random() < 0.35 and metric in {"rouge-1", "rouge-2", "rouge-1+rouge-2", "ngram-1-2"}:
            options["boundaries"] = "joined" if recall or options["counts"] == "clipped" else "sentence"
        elif recall and rng.random() < 0.2:
            options["model_units"] = "sentences"
    if not recall and rng.random() < 0.3:
        del options["max_length"]
        options.pop("min_length", None)
    if rng.random() < 0.2:
        options["keep_unmatched"] = True
    if not tokens:
        options["tokenizer"] = rng.choice(["rouge", "rouge", "blank", "unicode", "presumm"])
    if rng.random() < 0.15:
        options["dropped"] = ["b", "d"]
    return options


def compressive_topic(rng: random.Random) -> tuple[dict[str, Any], list[Trimmed], str]:
    """Return a topic of one or two parsed sentences, these with their chunks, and the chunk profile."""
    profile = rng.choice(["strict", "paper"])
    parses, trimmed = [], []
    for _ in range(rng.randint(1, 2)):
        parse, sentence = _parsed(rng, rng.randint(1, 6), profile)
        parses.append(parse)
        trimmed.append(sentence)
    documents = [[" ".join(sentence.words) for sentence in trimmed]]
    return (
        {"id": "compression", "documents": documents, "references": random_references(rng), "parses": parses},
        trimmed,
        profile,
    )


def _parsed(rng: random.Random, count: int, profile: str) -> tuple[str, Trimmed]:
    """Return a random tree in CoNLL-U with the relations det (same chunk), obl (free) and obj (tied, if strict)."""
    words = [rng.choice(["a", "A", "b", "b-a", "c", "d", "f"]) for _ in range(count)]
    order = rng.sample(range(count), count)
    head = {order[place]: order[rng.randrange(place)] if place else -1 for place in range(count)}
    relation = {
        word: rng.choice(["det", "obl", "obl", "obj"]) if above >= 0 else "root" for word, above in head.items()
    }
    lines = [
        f"{word + 1}\t{form}\t{form.lower()}\t{'VERB' if head[word] < 0 else 'NOUN'}\t_\t_\t{head[word] + 1}\t"
        f"{relation[word]}\t_\t_"
        for word, form in enumerate(words)
    ]
    top = {}
    for word in range(count):
        here = word
        while relation[here] == "det":
            here = head[here]
        top[word] = here
    number = {one: place for place, one in enumerate(dict.fromkeys(top[word] for word in range(count)), start=1)}
    parent = {number[one]: number[top[head[one]]] if head[one] >= 0 else 0 for one in number}
    tied = {number[one] for one in number if relation[one] == "obj" and profile == "strict"}
    chunk = tuple(number[top[word]] for word in range(count))
    return "\n".join([f"# text = {' '.join(words)}", *lines, ""]), Trimmed(tuple(words), chunk, parent, frozenset(tied))


def compressive_options(rng: random.Random, topic: dict[str, Any], profile: str) -> dict[str, Any]:
    """Return options that the compressive formulation serves."""
    unit = rng.choice(["words", "words", "characters", "sentences"])
    options: dict[str, Any] = {"formulation": "compressive", "chunk_profile": profile, "length_unit": unit}
    count = sum(len(sentence.split()) for sentence in topic["documents"][0])
    largest = {"words": count + 1, "characters": 3 * count, "sentences": 2}[unit]
    options["max_length"] = rng.randint(1, largest)
    if rng.random() < 0.2:
        options["min_length"] = rng.randint(0, options["max_length"])
    options["metric"] = rng.choice(["rouge-1", "rouge-2", "rouge-2", "rouge-3", "rouge-su0", "rouge-1+rouge-2"])
    options["references"] = rng.choice(["pooled", "pooled", "mean", "best", "first"])
    precision = ["precision"] if options["metric"] in {"rouge-1", "rouge-su0"} else []
    measures = ["recall", "recall", "f1", *precision]
    options["measure"] = "recall" if options["metric"] == "rouge-3" else rng.choice(measures)
    options["counts"] = rng.choice(["clipped", "set"])
    if options["measure"] != "recall" and options["metric"] != "rouge-1":
        options["counts"] = "clipped"
    return options


def cover_topic(rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a topic with up to four abstract sentences and up to eight source sentences, and options."""
    count = rng.randint(1, 8)
    sentences = [" ".join(rng.choice("abcdef") for _ in range(rng.randint(1, 4))) for _ in range(count)]
    cover = [
        [sorted(rng.sample(range(count), rng.randint(1, min(3, count)))) for _ in range(rng.randint(1, 3))]
        for _ in range(rng.randint(1, 4))
    ]
    topic = {"id": "cover", "documents": [sentences], "references": [["a b"]], "cover": cover}
    return topic, {"formulation": "cover", "weights": rng.choice(["one", "length"])}


def with_sides(rng: random.Random, topic: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Add random side constraints to the options, and return the topic with some of its own."""
    sentences = range(sum(map(len, topic["documents"])))
    characters = sum(len(str(sentence)) for document in topic["documents"] for sentence in document)

    def some(most: int) -> list[int]:
        return rng.sample(sentences, rng.randint(0, min(most, len(sentences))))

    said = {
        "max_sentences": rng.randint(0, 3),
        "max_characters": rng.randint(0, characters),
        "per_document": rng.randint(0, 2),
        "require": ",".join(map(str, some(1))) or None,
        "forbid": ",".join(map(str, some(2))) or None,
        "exclusive": rng.choice(["0.2", "0.5", "1"]),
    }
    for name in rng.sample(list(said), rng.randint(0, 3)):
        options[name] = said[name]
    numbers = some(4)
    low = rng.randint(0, 2)
    row = {"sentences": numbers, "coefficients": [rng.randint(1, 3) for _ in numbers], "low": low, "high": low + 3}
    own = {"require": some(1), "forbid": some(1), "exclusive": [some(3)], "groups": [some(3) or [0]], "rows": [row]}
    kept = {name: own[name] for name in rng.sample(list(own), rng.randint(0, 2))}
    return {**topic, "meta": {"constraints": kept}} if kept else topic
