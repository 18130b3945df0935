"""Chunks for people: ``[The dog]1! [that]2``, the tree below, and which rule made each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, groupby
from typing import TYPE_CHECKING

from optsum.chunks.parse import Parse, is_punctuation
from optsum.chunks.rules.files import rules_for
from optsum.chunks.rules.rules import Rules

if TYPE_CHECKING:
    import networkx as nx


def bracketed(parse: Parse, tree: nx.DiGraph) -> str:
    """Return a sentence with its chunks in numbered brackets; "!" marks one that lives and dies with its parent."""
    seen: set[int] = set()
    pieces = []
    for chunk, words in _pieces(parse, tree):
        pieces.append(f"[{' '.join(words)}]{chunk if chunk in seen else _numbered(tree, chunk)}")
        seen.add(chunk)
    return " ".join(pieces)


def indented(parse: Parse, tree: nx.DiGraph) -> str:
    """Return the tree, a chunk a line, children two blanks to the right of their parent; "..." stands in gaps."""
    import networkx as nx

    texts: dict[int, list[str]] = {}
    for chunk, words in _pieces(parse, tree):
        texts.setdefault(chunk, []).append(" ".join(words))
    depth = nx.shortest_path_length(tree, tree.graph["root"])
    return "\n".join(
        f"{'  ' * depth[chunk]}{_numbered(tree, chunk)} {' ... '.join(texts[chunk])}"
        for chunk in nx.dfs_preorder_nodes(tree, tree.graph["root"])  # children in the order of their first words
    )


def explained(parse: Parse, rules: Rules | None = None) -> str:
    """Return a line for each word: word, relation and head after re-attachment, action, and the rule's note."""
    from rich.cells import cell_len, set_cell_size  # Chinese characters take two places

    rules = rules or rules_for(parse)
    tree = rules.prepare(parse)
    rows = []
    for word in tree.words:
        head = parse.tokens[tree.head[word]].form if tree.head[word] != -1 else ""
        rule = rules.decide(tree, word) if word != tree.root else None
        decision = [rule.action.value, rule.note] if rule else ["", "the root"]
        rows.append([parse.tokens[word].form, tree.relation[word], head, *decision])
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(set_cell_size(*cell) for cell in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def word_sequences(parse: Parse, tree: nx.DiGraph) -> Iterator[tuple[str, str]]:
    """Yield the pairs of words that a compression can make neighbours: w(i, v) of Figure 1 of Hirao et al. 2017.

    Each is the words in lower case, with a low line between them, and a line that has them too: V, the chunks of the
    words, U, those of all words between them, and whether something that must stay (V, its ancestors, and what is tied
    to them) must go. Left out are those that tear a chunk apart.
    """
    import networkx as nx

    chunk_of = {token: chunk for chunk, tokens in tree.nodes(data="tokens") for token in tokens}
    words = [place for place, token in enumerate(parse.tokens) if not is_punctuation(token)]
    tied = nx.Graph((one, other) for one, other, required in tree.edges(data="required") if required)
    tied.add_nodes_from(tree)
    together = {chunk: set(group) for group in nx.connected_components(tied) for chunk in group}
    needs: dict[int, set[int]] = {}
    for chunk in nx.topological_sort(tree):
        needs[chunk] = together[chunk].union(*(needs[above] for above in tree.predecessors(chunk)))
    for one, other in combinations(range(len(words)), 2):
        stay = {chunk_of[words[one]], chunk_of[words[other]]}
        go = {chunk_of[word] for word in words[one + 1 : other]}
        if stay.isdisjoint(go):
            gram = "_".join(parse.tokens[words[place]].form.lower() for place in (one, other))
            needed = set().union(*(needs[chunk] for chunk in stay))
            shown = [f"{{{', '.join(map(str, sorted(chunks)))}}}" for chunks in (stay, go)]
            torn = "" if needed.isdisjoint(go) else "  not feasible"
            yield gram, f"{gram}  V={shown[0]}  U={shown[1]}{torn}"


def _pieces(parse: Parse, tree: nx.DiGraph) -> list[tuple[int, list[str]]]:
    chunk_of = {token: chunk for chunk, tokens in tree.nodes(data="tokens") for token in tokens}
    runs = groupby(range(len(parse.tokens)), key=chunk_of.__getitem__)
    return [(chunk, [parse.tokens[token].form for token in run]) for chunk, run in runs]


def _numbered(tree: nx.DiGraph, chunk: int) -> str:
    required = any(required for *_, required in tree.in_edges(chunk, data="required"))
    return f"{chunk}!" if required else str(chunk)
