"""Find the optimum of a small topic in plain Python, from its text alone, without any code of the package.

Tokens, n-grams and counts follow the definitions in the documentation, and every selection is tried (`trying`), so that
a mistake of the package stays unnoticed only if it is made here as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from trying import Truth, best_of, every_set

Tokens = list[str]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


# --- text ---------------------------------------------------------------------------------------------------------


def tokens_of(sentence: str | list[str], options: dict[str, Any]) -> Tokens:
    """Return the tokens that are counted, without the stop words in ``options["dropped"]``."""
    tokenizer = options.get("tokenizer", "rouge")
    if isinstance(sentence, list):
        found = list(sentence)
    elif tokenizer == "rouge":
        found = "".join(letter if letter in LETTERS else " " for letter in _small(sentence)).split()
    elif tokenizer == "unicode":
        found = _words(sentence.lower())
    elif tokenizer == "presumm":
        words = sentence.lower().split()
        found = [bare for word in words if (bare := "".join(letter for letter in word if letter in LETTERS))]
    else:
        assert tokenizer == "blank"
        found = sentence.lower().split()
    return [token for token in found if token not in options.get("dropped", ())]


def _words(text: str) -> list[str]:
    """Return the words of a text by UAX 29, for texts of letters and of the few signs in the assertion.

    An apostrophe or a full stop between two letters does not separate words (MidNumLetQ); every other sign does.
    """
    assert all(letter.isalpha() or letter in " '.,-—" for letter in text), text
    kept = [
        letter.isalpha()
        or (letter in "'." and 0 < place < len(text) - 1 and text[place - 1].isalpha() and text[place + 1].isalpha())
        for place, letter in enumerate(text)
    ]
    return "".join(letter if here else " " for letter, here in zip(text, kept, strict=True)).split()


def _small(text: str) -> str:
    return "".join(chr(ord(letter) + 32) if "A" <= letter <= "Z" else letter for letter in text)


def length_of(sentence: str | list[str], unit: str) -> int:
    """Return the length of a whole sentence."""
    if unit == "sentences":
        return 1
    words = sentence if isinstance(sentence, list) else sentence.split()
    if unit == "words":
        return len(words)
    return len(" ".join(words)) if isinstance(sentence, list) else len(sentence)


# --- counting -----------------------------------------------------------------------------------------------------


def grams(tokens: Tokens, metric: str) -> list[tuple[str, ...]]:
    """Return the n-grams of rouge-N, or the tokens and skip-bigrams of rouge-suK, with repetitions."""
    name = metric.removeprefix("rouge-")
    size = len(tokens)
    if name.startswith("su"):
        reach = int(name[2:]) + 1
        pairs = [(tokens[i], tokens[j]) for i in range(size) for j in range(i + 1, size) if j - i <= reach]
        return [(token,) for token in tokens] + pairs
    n = int(name)
    return [tuple(tokens[i : i + n]) for i in range(size - n + 1)]


def common(reference: Tokens, summary: Tokens) -> set[int]:
    """Return the positions in the reference of the longest common subsequence that ROUGE-1.5.5 takes."""
    rows, columns = len(reference), len(summary)
    longest = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows):
        for j in range(columns):
            here = longest[i][j] + 1 if reference[i] == summary[j] else max(longest[i][j + 1], longest[i + 1][j])
            longest[i + 1][j + 1] = here
    found = set()
    i, j = rows, columns
    while i and j:
        if reference[i - 1] == summary[j - 1]:
            i, j = i - 1, j - 1
            found.add(i)
        elif longest[i - 1][j] >= longest[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found


def _longest(summary: list[Tokens], reference: list[Tokens]) -> tuple[int, int, int]:
    """Return the hits of ROUGE-L, the tokens of the reference, and the tokens of the summary."""
    held = Counter(token for sentence in summary for token in sentence)
    covered: Counter[str] = Counter()
    for sentence in reference:
        positions = set().union(*(common(sentence, chosen) for chosen in summary))
        covered.update(sentence[position] for position in positions)
    hits = sum(min(count, held[token]) for token, count in covered.items())
    return hits, sum(map(len, reference)), sum(held.values())


def _counted(
    summary: list[Tokens], reference: list[Tokens], metric: str, options: dict[str, Any]
) -> tuple[int, int, int]:
    """Return the clipped hits, the n-grams of the reference, and the n-grams of the summary."""
    if metric == "rouge-l":
        return _longest(summary, reference)
    texts = [_flat(summary)] if options.get("boundaries") == "joined" else summary
    have = Counter(gram for text in texts for gram in grams(text, metric))
    units = reference if options.get("model_units") == "sentences" else [_flat(reference)]
    once = options.get("counts") == "set"
    if once:
        have = Counter(set(have))
    hits = total = 0
    for unit in units:
        wanted = Counter(grams(unit, metric))
        if once:
            wanted = Counter(set(wanted))
        hits += sum(min(count, have[gram]) for gram, count in wanted.items())
        total += sum(wanted.values())
    return hits, total, sum(have.values())


def value_of(summary: list[Tokens], references: list[list[Tokens]], options: dict[str, Any]) -> Fraction:
    """Return the exact objective of a summary; of a geometric mean, the product under the root."""
    if options.get("references") == "best":
        return max(value_of(summary, [one], {**options, "references": "pooled"}) for one in references)
    if options.get("references") == "first":
        references = references[:1]
    values = []
    for metric in parts_of(options["metric"]):
        counted = [_counted(summary, one, metric, options) for one in references]
        if options.get("references") != "mean":
            counted = [(sum(one[0] for one in counted), sum(one[1] for one in counted), sum(one[2] for one in counted))]
        ratios = [_ratio(options.get("measure", "recall"), *one) for one in counted]
        values.append(sum(ratios, Fraction(0)) / len(ratios))
    if options["metric"].startswith("ngram"):
        whole = Fraction(1)
        for value in values:
            whole *= value
        return whole
    return sum(values, Fraction(0)) / len(values)


def parts_of(metric: str) -> list[str]:
    """Return the metrics that a sum or a geometric mean is made of."""
    if metric.startswith("ngram-"):
        first, last = map(int, metric.removeprefix("ngram-").split("-"))
        return [f"rouge-{size}" for size in range(first, last + 1)]
    return metric.split("+")


def _ratio(measure: str, hits: int, wanted: int, have: int) -> Fraction:
    top = 2 * hits if measure == "f1" else hits
    bottom = {"recall": wanted, "precision": have, "f1": wanted + have}[measure]
    return Fraction(top, bottom) if bottom else Fraction(0)


def _flat(sentences: list[Tokens]) -> Tokens:
    return [token for sentence in sentences for token in sentence]


# --- brute force --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trimmed:
    """A sentence of single words from which chunks may be left out.

    `chunk` numbers each word's chunk from 1. `parent` maps each chunk to its parent, or to 0 for a root. A chunk in
    `tied` is kept exactly if its parent is.
    """

    words: tuple[str, ...]
    chunk: tuple[int, ...]
    parent: dict[int, int]
    tied: frozenset[int]

    def choices(self) -> Iterator[frozenset[int]]:
        """Yield every set of chunks that may be kept."""
        chunks = sorted(self.parent)
        for kept in product((False, True), repeat=len(chunks)):
            held = {number for number, here in zip(chunks, kept, strict=True) if here}
            if all(
                (child not in held or not above or above in held)
                and (child not in self.tied or (child in held) == (above in held))
                for child, above in self.parent.items()
            ):
                yield frozenset(held)

    def text(self, kept: frozenset[int]) -> str:
        """Return the words of the kept chunks."""
        return " ".join(word for word, number in zip(self.words, self.chunk, strict=True) if number in kept)

    def length(self, kept: frozenset[int], unit: str) -> int:
        """Return the length of the kept chunks; in characters, a blank counts with the word before it."""
        if unit == "sentences":
            return int(bool(kept))
        last = len(self.words) - 1
        return sum(
            1 if unit == "words" else len(word) + (place < last)
            for place, (word, number) in enumerate(zip(self.words, self.chunk, strict=True))
            if number in kept
        )


class Plain:
    """A topic all of whose selections can be tried.

    Parameters
    ----------
    topic : dict
        The topic in its JSON form, with documents and references as lists of sentences.
    options : dict
        The options of `optsum.solve`, with the stop words as `dropped`.
    trimmed : sequence of Trimmed
        The sentences, for compressions; empty for extracts.
    """

    def __init__(self, topic: dict[str, Any], options: dict[str, Any], trimmed: Sequence[Trimmed] = ()) -> None:
        self.options = options
        self.trimmed = trimmed
        self.sentences = [sentence for document in topic["documents"] for sentence in document]
        self.references = [[tokens_of(one, options) for one in reference] for reference in topic["references"]]
        self.unit = options.get("length_unit", "words")
        most = options.get("max_length")
        self.most = 10**9 if most is None else most
        self.least = options.get("min_length", 0)
        self.document = [number for number, document in enumerate(topic["documents"]) for _ in document]
        own = (topic.get("meta") or {}).get("constraints", {})
        self.require = {*_numbers(options.get("require")), *own.get("require", ())}
        self.forbid = {*_numbers(options.get("forbid")), *own.get("forbid", ())}
        self.groups = [set(group) for group in own.get("groups", ())]
        self.cliques = [set(clique) for clique in own.get("exclusive", ())]
        self.rows = own.get("rows", ())
        self.asks = bool(self.require or self.groups or any(row.get("low") for row in self.rows))
        if (alike := options.get("exclusive")) is not None:
            self.cliques += [
                {one, other}
                for one, other in combinations(range(len(self.sentences)), 2)
                if _jaccard(self.sentences[one], self.sentences[other], options) >= Fraction(alike)
            ]

    def keeps(self, chosen: Sequence[int], characters: int) -> bool:
        """Whether the sentences of which something is chosen satisfy the side constraints."""
        held, options = set(chosen), self.options
        of_document = Counter(self.document[number] for number in held)
        return (
            len(held) <= options.get("max_sentences", 10**9)
            and characters <= options.get("max_characters", 10**9)
            and all(count <= options.get("per_document", 10**9) for count in of_document.values())
            and held >= self.require
            and not held & self.forbid
            and all(held & group for group in self.groups)
            and all(len(held & clique) <= 1 for clique in self.cliques)
            and all(
                row.get("low", 0)
                <= sum(number for one, number in zip(row["sentences"], row["coefficients"], strict=True) if one in held)
                <= row.get("high", 10**9)
                for row in self.rows
            )
        )

    def value(self, selection: Sequence[Any]) -> Fraction:
        """Return the objective of a selection in the package's numbering."""
        if self.trimmed:
            texts = [self.trimmed[number].text(kept) for number, kept in self._by_sentence(selection)]
        else:
            texts = [self.sentences[number] for number in selection]
        return value_of([tokens_of(text, self.options) for text in texts], self.references, self.options)

    def fits(self, selection: Sequence[Any]) -> bool:
        """Whether a selection is feasible."""
        if self.trimmed:
            chosen = self._by_sentence(selection)
            allowed = all(kept in set(self.trimmed[number].choices()) for number, kept in chosen)
            length = sum(self.trimmed[number].length(kept, self.unit) for number, kept in chosen)
            characters = sum(self.trimmed[number].length(kept, "characters") for number, kept in chosen)
            kept_all = self.keeps([number for number, _ in chosen], characters)
            return allowed and self.least <= length <= self.most and kept_all
        length = sum(length_of(self.sentences[number], self.unit) for number in selection)
        characters = sum(length_of(self.sentences[number], "characters") for number in selection)
        return self.least <= length <= self.most and self.keeps(selection, characters)

    def truth(self) -> Truth:
        """Return the best value of all feasible selections, and those that reach it."""
        return best_of(filter(self.fits, self._selections()), self.value)

    def values(self) -> dict[tuple[Any, ...], Fraction]:
        """Return the value of every feasible selection."""
        return {selection: self.value(selection) for selection in filter(self.fits, self._selections())}

    def units(self) -> set[int]:
        """Return the participating sentences: short enough, and with an n-gram of a reference unless all are kept."""
        metrics = ["rouge-1" if one == "rouge-l" else one for one in parts_of(self.options["metric"])]
        first = self.options.get("references") == "first"
        references = self.references[:1] if first else self.references
        whole = self.options.get("model_units") != "sentences"
        texts = [text for one in references for text in ([_flat(one)] if whole else one)]
        wanted = [{gram for text in texts for gram in grams(text, metric)} for metric in metrics]
        keep = self.options.get("keep_unmatched", False) or self.least > 0 or self.asks
        return {
            number
            for number, sentence in enumerate(self.sentences)
            if length_of(sentence, self.unit) <= self.most
            and (
                keep
                or any(
                    keys.intersection(grams(tokens_of(sentence, self.options), metric))
                    for keys, metric in zip(wanted, metrics, strict=True)
                )
            )
        }

    def _selections(self) -> Iterator[tuple[Any, ...]]:
        if self.trimmed:
            for chosen in product(*(list(one.choices()) for one in self.trimmed)):
                yield tuple((number, chunk) for number, kept in enumerate(chosen) for chunk in sorted(kept))
            return
        yield from every_set(len(self.sentences))

    def _by_sentence(self, selection: Sequence[Any]) -> list[tuple[int, frozenset[int]]]:
        kept: dict[int, set[int]] = {}
        for number, chunk in selection:
            kept.setdefault(number, set()).add(chunk)
        return [(number, frozenset(kept[number])) for number in sorted(kept)]


def _numbers(text: str | None) -> list[int]:
    return [int(number) for number in text.split(",")] if text else []


def _jaccard(one: str | list[str], other: str | list[str], options: dict[str, Any]) -> Fraction:
    left, right = set(tokens_of(one, options)), set(tokens_of(other, options))
    return Fraction(len(left & right), len(left | right)) if left and right else Fraction(-1)


def least_cover(clauses: Sequence[Sequence[Sequence[int]]], weight: dict[int, int]) -> Truth:
    """Return the lightest sets of units that contain an alternative of every clause; `weight` maps units to weights."""
    sets = [[frozenset(one) for one in alternatives] for alternatives in clauses]
    units = sorted(weight)
    chosen = (tuple(units[place] for place in places) for places in every_set(len(units)))
    covers = (one for one in chosen if all(any(part.issubset(one) for part in clause) for clause in sets))
    return best_of(covers, lambda cover: Fraction(sum(weight[unit] for unit in cover)), least=True)
