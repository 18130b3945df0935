"""Find the same oracle with every solver that works on this machine: python swap_solver.py [TOPICS]."""

import sys
from pathlib import Path

import optsum

NEWS = Path(__file__).parent / "data" / "news.jsonl"

topic = next(iter(optsum.read_topics(sys.argv[1] if len(sys.argv) > 1 else NEWS)))
for name in optsum.BACKENDS:
    if not optsum.BACKENDS.load(name)().available().usable:
        continue
    try:
        best = optsum.solve(topic, max_length=75, strategy="milp", backend=name, time_limit=10)
    except optsum.OptsumError as error:  # a solver only for covers, or one without a licence
        print(f"{name:12} {error}")
    else:
        print(f"{name:12} {best.status.value} {best.objective_exact} in {best.seconds:.3f} s")
