"""Print the upper bound of a data set for several lengths: python upper_bound.py [TOPICS]."""

import sys
from pathlib import Path
from statistics import fmean

import optsum

NEWS = Path(__file__).parent / "data" / "news.jsonl"

topics = list(optsum.read_topics(sys.argv[1] if len(sys.argv) > 1 else NEWS))
print("words  ROUGE-1  ROUGE-2")
for length in (25, 50, 75, 100):
    means = [
        fmean(result.objective or 0.0 for result in optsum.solve_all(topics, metric=metric, max_length=length))
        for metric in ("rouge-1", "rouge-2")
    ]
    print(f"{length:5}  {means[0]:7.4f}  {means[1]:7.4f}")
