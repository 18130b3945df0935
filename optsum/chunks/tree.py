"""Convert the dependency tree of a sentence to the tree of its chunks, by rules in files, and print chunks.

A compression keeps or drops a chunk as a whole (section 3.1 of Hirao et al. 2017, compressive).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Final

from optsum.chunks.parse import Parse, WorkingTree, is_punctuation
from optsum.chunks.rules.rules import Action, ChunkRule, Rules, rules_for
from optsum.errors import InputError, unknown_name

if TYPE_CHECKING:
    import networkx as nx

PROFILES: Final = ("strict", "paper")
"""Profiles: ``strict`` keeps the obligatory parts of a clause with it; ``paper`` lets every chunk but the root be
dropped.
"""


def chunk_tree(parse: Parse, profile: str = "strict", rules: Rules | None = None) -> nx.DiGraph:
    """Return the tree of the chunks of a sentence.

    Every token is in exactly one chunk, whatever the profile (`PROFILES`); a chunk need not be contiguous. `rules`: by
    default those of the label scheme of the parse. In the result, edges lead from parent to child. Nodes are the
    numbers of the chunks, from 1, in the order of their first words. They have ``tokens``, a sorted tuple of token
    numbers from 0 (a mark belongs to the word before it, an opening one to the word after it), and ``head``, the token
    on which the others depend. Edges have ``required``, whether parent and child are kept or dropped together,
    ``relation``, the relation of the child's head after re-attachment, and ``note``, the note of the rule. The graph
    has ``text``, ``profile``, ``rules`` (their name) and ``root``.

    >>> from optsum.chunks.parse import parse_conllu
    >>> (parse,) = parse_conllu('''1 Some  some  DET  DT  _  2  det
    ... 2  cats  cat  NOUN  NNS  _  3  nsubj
    ... 3  sleep  sleep  VERB  VBP  _  0  root
    ... 4  often  often  ADV  RB  _  3  advmod'''.replace("1 ", "1  "))
    >>> tree = chunk_tree(parse)
    >>> sorted(tree.nodes(data="tokens")), sorted(tree.edges(data="required"))
    ([(1, (0, 1)), (2, (2,)), (3, (3,))], [(2, 1, True), (2, 3, False)])
    """
    import networkx as nx

    if profile not in PROFILES:
        raise unknown_name("chunk profile", profile, PROFILES)
    rules = rules or rules_for(parse)
    tree = rules.prepare(parse)
    decided = {word: rules.decide(tree, word) for word in tree.words if word != tree.root}
    top = _tops(tree, decided)
    number = {head: n for n, head in enumerate(dict.fromkeys(top[word] for word in tree.words), start=1)}
    tokens: dict[int, list[int]] = {n: [] for n in number.values()}
    for token, word in enumerate(owners(parse, tree.words)):
        tokens[number[top[word]]].append(token)
    graph = nx.DiGraph(text=parse.text, profile=profile, rules=rules.name, root=number[tree.root])
    for head, n in number.items():
        graph.add_node(n, tokens=tuple(tokens[n]), head=head)
    for head, n in number.items():
        if head != tree.root:
            rule = decided[head]
            graph.add_edge(
                number[top[tree.head[head]]],
                n,
                required=rule.action is Action.REQ and profile == "strict",
                relation=tree.relation[head],
                note=rule.note,
            )
    if not nx.is_arborescence(graph):
        raise InputError(
            f"{parse.source or parse.text[:40]!r}: its chunks do not form a tree by the rules {rules.name}: "
            f"correct the rules"
        )
    return graph


def _tops(tree: WorkingTree, decided: Mapping[int, ChunkRule]) -> dict[int, int]:
    """Return for each word the top word of its chunk."""
    top: dict[int, int] = {}
    for word in tree.words:
        way, here = [word], word
        while here not in top and here in decided and decided[here].action is Action.MERGE:
            here = tree.head[here]
            way.append(here)
        for each in way:
            top[each] = top.get(here, here)
    return top


_OPENERS = {"(", "[", "{", "“", "‘", "„", "‚", "«", "‹", "¿", "¡", "``", "`", "-LRB-", "-LSB-", "-LCB-"}
_EITHER = {'"', "'"}  # Marks that open and close.


def owners(parse: Parse, words: Sequence[int]) -> list[int]:
    """Return the word that each token belongs to: the next one for an opening mark, the one before for other marks."""
    is_word = [False] * len(parse.tokens)
    for word in words:
        is_word[word] = True
    seen: Counter[str] = Counter()
    found: list[int] = []
    waiting: list[int] = []  # tokens of the next word
    before = -1
    for number in range(len(parse.tokens)):
        if is_word[number]:
            before = number
            for each in waiting:
                found[each] = number
            waiting.clear()
        elif before == -1 or waiting or _opens(parse, number, seen):  # marks behind an opening one go on with it
            waiting.append(number)
        found.append(before)
        seen[parse.tokens[number].form] += 1
    for each in waiting:
        found[each] = before if before != -1 else words[0]
    return found


def _opens(parse: Parse, number: int, seen: Counter[str]) -> bool:
    token = parse.tokens[number]
    if token.form in _OPENERS:
        return True
    if token.form not in _EITHER:
        return False
    if token.xpos in {"``", "''"}:
        return token.xpos == "``"
    blank_before = token.start == 0 or parse.text[token.start - 1].isspace()
    blank_behind = parse.text[token.end : token.end + 1].strip() == ""
    if blank_before != blank_behind:
        return blank_before
    return seen[token.form] % 2 == 0  # blanks do not tell: they open and close by turns


# Chunks for people: ``[The dog]1! [that]2``, the tree below, and which rule made each.


def bracketed(parse: Parse, tree: nx.DiGraph) -> str:
    """Return a sentence with its chunks in numbered brackets; "!" marks a chunk that is tied to its parent."""
    seen: set[int] = set()
    pieces = []
    for chunk, words in _pieces(parse, tree):
        pieces.append(f"[{' '.join(words)}]{chunk if chunk in seen else _numbered(tree, chunk)}")
        seen.add(chunk)
    return " ".join(pieces)


def indented(parse: Parse, tree: nx.DiGraph) -> str:
    """Return the tree, one chunk to a line, with children indented by two blanks and "..." for gaps."""
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
    """Return a line for each word: word, relation and head after re-attachment, action, and the note of the rule."""
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

    Each is the words in lower case joined by an underscore, and a line with the words, V (the chunks of the words), U
    (the chunks of all words between them), and whether something that must be kept (V, its ancestors, and chunks tied
    to them) must be dropped. Pairs that split a chunk are left out.
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
