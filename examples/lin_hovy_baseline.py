"""Compare the upper bound of Lin & Hovy 2003 with the lead baseline: python lin_hovy_baseline.py [TOPICS]."""

import sys
from pathlib import Path

import optsum

NEWS = Path(__file__).parent / "data" / "news.jsonl"

for topic in optsum.read_topics(sys.argv[1] if len(sys.argv) > 1 else NEWS):
    best = optsum.solve(topic, preset="lin-hovy-100", strategy="branch-and-bound", time_limit=10)
    lead = optsum.solve(topic, preset="lin-hovy-100", strategy="lead", min_length=0)
    if best.objective is None or lead.objective is None:
        print(f"{topic.id:20} no extract has 95 to 105 words")
    else:
        print(f"{topic.id:20} best {best.objective:.4f}  lead {lead.objective:.4f}  ({best.status.value})")
