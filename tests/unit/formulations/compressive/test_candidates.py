"""Test the candidates of n-grams in compressions, on the paper's Figure 1 and against brute force."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compressive_instances import draw
from optsum.formulations.compressive import Candidate, TrimmableSentence, candidates, members, trimmable

FIGURE_1 = ["fig1-S1", "fig1-S2", "fig1-S3"]


def figure(shared_data: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = shared_data / "chunks"
    printed = json.loads((folder / "fig1_bigrams.json").read_text(encoding="utf-8"))
    trees = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return printed, {tree["sent_id"]: tree for tree in trees}


def as_bits(groups: list[int]) -> int:
    return sum(1 << group for group in groups)


def possible(owners: list[int]) -> list[tuple[int, int, int, int]]:
    """Return all feasible pairs of positions, each with its sets V and U."""
    return [
        (p, q, as_bits(sorted({owners[p], owners[q]})), as_bits(sorted(set(owners[p + 1 : q]))))
        for p, q in combinations(range(len(owners)), 2)
        if {owners[p], owners[q]}.isdisjoint(owners[p + 1 : q])
    ]


@pytest.mark.parametrize("name", FIGURE_1)
def test_the_paper_s_figure(shared_data: Path, name: str) -> None:
    printed, trees = figure(shared_data)
    words = trees[name]["text"].rstrip(".").lower().split()
    owners = [0] * len(words)
    for chunk in trees[name]["chunks"]:
        for word in chunk["words"]:
            owners[word - 1] = chunk["u"] - 1
    parents = [printed[name]["parents"][str(chunk + 1)] - 1 for chunk in range(max(owners) + 1)]
    needs = []
    for chunk in range(len(parents)):
        needs.append(0)
        while chunk >= 0:
            needs[-1] |= 1 << chunk
            chunk = parents[chunk]  # noqa: PLW2901
    listed = printed[name]["bigrams"]
    ours = possible(owners)
    assert [words[p] + " " + words[q] for p, q, _, _ in ours] == [bigram["gram"] for bigram in listed]
    assert [[p + 1, q + 1] for p, q, _, _ in ours] == [bigram["pq"] for bigram in listed]
    assert [(stay, go) for _, _, stay, go in ours] == [
        (as_bits([v - 1 for v in bigram["V"]]), as_bits([u - 1 for u in bigram["U"]])) for bigram in listed
    ]
    every = set(combinations(words, 2))
    found = list(candidates(list(zip(words, owners, strict=True)), needs, every, 2))
    feasible = [one for one, bigram in zip(ours, listed, strict=True) if bigram["feasible"]]
    assert [(*one.positions, one.stay, one.go) for one in found] == feasible
    live_in = [number for number, bigram in enumerate(listed, 1) if bigram["gram"] == "live in"]
    assert [[FIGURE_1.index(name) + 1, v] for v in live_in] == [
        way for way in printed["T_live_in"] if way[0] == FIGURE_1.index(name) + 1
    ]


def sentences(seed: int, *, strict: bool) -> list[tuple[TrimmableSentence, list[tuple[str, int]]]]:
    drawn = draw(np.random.default_rng(seed), strict=strict)
    made = []
    for number, (parse, tree) in enumerate(zip(drawn.parses, drawn.trees, strict=True)):
        sentence = trimmable(number, parse.text, parse, tree)
        made.append((sentence, [(str(place), group) for place, group in enumerate(sentence.group_of_word)]))
    return made


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("strict", [True, False])
def test_the_candidates_are_the_n_grams_of_all_compressions(size: int, *, strict: bool) -> None:
    """Check this with unique tokens: an n-gram of a compression has one candidate, and no candidate is superfluous."""
    gaps = 0
    for seed in range(60):
        for sentence, tokens in sentences(seed, strict=strict):
            every = set(combinations([token for token, _ in tokens], size))
            found = list(candidates(tokens, sentence.needs, every, size))
            assert len({one.positions for one in found}) == len(found)
            seen: set[tuple[int, ...]] = set()
            for kept in range(1 << len(sentence.chunks)):
                if any(sentence.needs[group] & ~kept for group in members(kept)):
                    continue
                left = [place for place, (_, group) in enumerate(tokens) if kept >> group & 1]
                there = {tuple(left[start : start + size]) for start in range(len(left) - size + 1)}
                said = {one.positions for one in found if holds(one, sentence.needs, kept)}
                assert said == there
                assert said == {one.positions for one in found if one.stay & ~kept == 0 and one.go & kept == 0}
                seen |= there
            assert seen == {one.positions for one in found}, "an impossible candidate was made"
            gaps += sum(one.go != 0 for one in found)
    assert gaps > 40


def holds(one: Candidate, needs: tuple[int, ...], kept: int) -> bool:
    """Whether a candidate occurs in a compression, decided by its reduced sets."""
    return all(kept >> group & 1 for group in one.least_needed(needs)) and not any(
        kept >> group & 1 for group in one.topmost_gone(needs)
    )


def test_a_discontinuous_chunk_has_a_gap() -> None:
    """Test [in a]0 [long]1 [meeting]0, where the printed rule sees no gap between "a" and "meeting"."""
    tokens = [("in", 0), ("a", 0), ("long", 1), ("meeting", 0)]
    (found,) = candidates(tokens, [1, 3], {("a", "meeting")}, 2)
    assert (found.positions, found.stay, found.go) == ((1, 3), 1, 2)
    assert not list(candidates(tokens, [1, 3], {("in", "long")}, 2)), "what is long needs its article"
