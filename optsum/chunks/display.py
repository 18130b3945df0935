"""Chunks for people: ``[The dog]1! [that]2``, the tree below, and which rule made each."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from optsum.chunks.parse import Parse
from optsum.chunks.rules.files import rules_for
from optsum.chunks.rules.rules import Rules

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["bracketed", "explained", "indented"]


def bracketed(parse: Parse, tree: nx.DiGraph) -> str:
    """Return the words of a sentence in the brackets of their chunks.

    The number is that of the chunk; "!" stands at the first bracket of a chunk that lives and dies with its parent.

    Parameters
    ----------
    tree : networkx.DiGraph
        The `chunk_tree` of it.
    """
    seen: set[int] = set()
    pieces = []
    for chunk, words in _pieces(parse, tree):
        pieces.append(f"[{' '.join(words)}]{chunk if chunk in seen else _numbered(tree, chunk)}")
        seen.add(chunk)
    return " ".join(pieces)


def indented(parse: Parse, tree: nx.DiGraph) -> str:
    """Return the tree, a chunk a line, children two blanks to the right of their parent; "..." stands in gaps."""
    texts: dict[int, list[str]] = {}
    for chunk, words in _pieces(parse, tree):
        texts.setdefault(chunk, []).append(" ".join(words))
    lines = []
    waiting = [(tree.graph["root"], 0)]
    while waiting:
        chunk, depth = waiting.pop()
        lines.append(f"{'  ' * depth}{_numbered(tree, chunk)} {' ... '.join(texts[chunk])}")
        waiting += [(child, depth + 1) for child in sorted(tree.successors(chunk), reverse=True)]
    return "\n".join(lines)


def explained(parse: Parse, rules: Rules | None = None) -> str:
    """Return a line for each word: word, relation and head after re-attachment, action, and the rule's note."""
    rules = rules or rules_for(parse)
    tree = rules.prepare(parse)
    rows = []
    for word in tree.words:
        head = parse.tokens[tree.head[word]].form if tree.head[word] != -1 else ""
        rule = rules.decide(tree, word) if word != tree.root else None
        decision = [rule.action.value, rule.note] if rule else ["", "the root"]
        rows.append([parse.tokens[word].form, tree.relation[word], head, *decision])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _pieces(parse: Parse, tree: nx.DiGraph) -> list[tuple[int, list[str]]]:
    """Return the runs of tokens of one chunk, in the order of the text."""
    chunk_of = {token: chunk for chunk, tokens in tree.nodes(data="tokens") for token in tokens}
    runs = groupby(range(len(parse.tokens)), key=chunk_of.__getitem__)
    return [(chunk, [parse.tokens[token].form for token in run]) for chunk, run in runs]


def _numbered(tree: nx.DiGraph, chunk: int) -> str:
    required = any(required for *_, required in tree.in_edges(chunk, data="required"))
    return f"{chunk}!" if required else str(chunk)
