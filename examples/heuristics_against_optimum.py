"""Compare heuristics with the optimum, with five seeds each: python heuristics_against_optimum.py [TOPICS]."""

import sys
from pathlib import Path

import optsum

NEWS = Path(__file__).parent / "data" / "news.jsonl"

table = optsum.compare(
    sys.argv[1] if len(sys.argv) > 1 else NEWS,
    strategies=["greedy", "greedy+ls", "vns", "genetic", "lead", "random"],
    exact="branch-and-bound",
    max_length=75,
    seeds=range(5),
)
print(table)
print()
print(table.details)
