"""Test the chunks of real sentences: 35 with known chunks, and statistics of a whole treebank."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from optsum.chunks import Parse, chunk_tree, read_conllu
from optsum.chunks.parse import WorkingTree
from optsum.chunks.tree import bracketed
from optsum.corpus.parses import parses_of
from optsum.corpus.topics import read_topics


@pytest.fixture(scope="module")
def known(shared_data: Path) -> list[tuple[Parse, dict[str, Any]]]:
    """Return sentences with their expected chunks."""
    expected = json.loads((shared_data / "chunks" / "expected.json").read_text(encoding="utf-8"))
    parses = list(read_conllu(shared_data / "chunks" / "examples.conllu"))
    assert len(parses) == len(expected) == 35
    return list(zip(parses, expected, strict=True))


def test_the_chunks_are_as_known_in_both_profiles(known: list[tuple[Parse, dict[str, Any]]]) -> None:
    for parse, expected in known:
        assert parse.source.endswith(f"sentence {expected['sent_id']}")
        assert parse.text == expected["text"]
        strict, paper = chunk_tree(parse), chunk_tree(parse, "paper")
        words = WorkingTree(parse).words
        assert bracketed(parse, paper) == expected["bracket"]
        assert re.sub(r"(?<=\]\d)!|(?<=\]\d\d)!", "", bracketed(parse, strict)) == expected["bracket"]
        for chunk in expected["chunks"]:
            number = chunk["u"]
            inside = [token + 1 for token in strict.nodes[number]["tokens"] if token in words]
            assert [inside, strict.nodes[number]["head"] + 1] == [chunk["words"], chunk["head"]]
            edges = [
                (parent, edge["required"], edge["relation"]) for parent, _, edge in strict.in_edges(number, data=True)
            ]
            root = [(0, False, "root")] if number == strict.graph["root"] else []
            assert edges + root == [(chunk["parent"], chunk["required"], chunk["rel"])]
            assert all(not required for *_, required in paper.in_edges(number, data="required"))
        assert len(strict) == len(paper) == len(expected["chunks"])


def test_figure_1_of_the_paper(known: list[tuple[Parse, dict[str, Any]]], shared_data: Path) -> None:
    figure = json.loads((shared_data / "chunks" / "fig1_bigrams.json").read_text(encoding="utf-8"))
    found = {expected["sent_id"]: parse for parse, expected in known}
    for name in ("fig1-S1", "fig1-S2", "fig1-S3"):
        tree = chunk_tree(found[name], "paper")
        assert bracketed(found[name], tree) == figure[name]["chunks"]
        parents = {str(number): next(iter(tree.predecessors(number)), 0) for number in tree}
        assert parents == figure[name]["parents"]


def test_a_treebank_is_cut_into_trees_of_the_known_size(shared_data: Path) -> None:
    sentences = words = chunks = single = apart = free = 0
    for file in sorted((shared_data / "gum" / "conllu").glob("*.conllu")):
        for parse in read_conllu(file):
            tree, paper = chunk_tree(parse), chunk_tree(parse, "paper")
            assert dict(tree.nodes(data=True)) == dict(paper.nodes(data=True))
            assert tree.edges == paper.edges
            assert len(tree.edges) == len(tree) - 1 == len(nx.descendants(tree, tree.graph["root"]))
            tokens = [token for _, each in tree.nodes(data="tokens") for token in each]
            assert sorted(tokens) == [*range(len(parse.tokens))]
            real = WorkingTree(parse).words
            if len(real) < 5:
                continue
            place = {word: number for number, word in enumerate(real)}
            inside = [[place[t] for t in each if t in place] for _, each in tree.nodes(data="tokens")]
            sentences, words, chunks = sentences + 1, words + len(real), chunks + len(tree)
            single += sum(len(each) == 1 for each in inside)
            apart += sum(each[-1] - each[0] >= len(each) for each in inside)
            free += sum(not required for *_, required in tree.edges(data="required"))
    assert (sentences, words) == (1332, 26084)
    # On 2,519 sentences of the same treebank: 10.8 chunks, 48 % of one word, 17 % discontinuous, 6.3 free ones.
    assert chunks / sentences == pytest.approx(11.2, abs=0.1)
    assert single / chunks == pytest.approx(0.48, abs=0.01)
    assert apart / chunks == pytest.approx(0.17, abs=0.01)
    assert free / sentences == pytest.approx(6.6, abs=0.1)


def test_topics_find_their_parses(shared_data: Path) -> None:
    for topic in list(read_topics(shared_data / "gum" / "topics.jsonl"))[::4]:
        parses = parses_of(topic)  # type: ignore[arg-type]
        assert tuple(parse.text for parse in parses) == topic.sentences  # type: ignore[union-attr]
