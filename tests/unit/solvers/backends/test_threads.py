"""Check that solvers in several threads give right answers or one sentence, without deadlock or lost streams."""

from __future__ import annotations

import subprocess
import sys

import pytest
from optsum.solvers.milp import backend_of

NAMES = ("highs", "pyomo:highs", "scip", "gurobi", "cbc", "glpk", "cp-sat", "pyomo:cbc", "pyomo:scip", "pyomo:gurobi")

CODE = """
import sys, threading, time
from concurrent.futures import ThreadPoolExecutor
import numpy as np, optsum
from optsum.testing import random_topic

names = {names!r}
before = sys.stdout, sys.stderr
topics = [random_topic(np.random.default_rng(seed), name=str(seed)) for seed in range(3)]
true = {{row.id: row.key for row in optsum.solve_all(topics, max_length=9, strategy="branch-and-bound")}}
for limit in {{}}, {{"time_limit": 60.0}}:
    rows = {{}}
    for name in names:
        with ThreadPoolExecutor(4) as pool:
            options = {{"max_length": 9, "backend": name, "strategy": "milp", **limit}}
            rows[name] = list(optsum.solve_all(topics, executor=pool, **options))
    assert (sys.stdout, sys.stderr) == before, "the streams are others"
    for name in names:
        for row in rows[name]:
            assert row.error is None, (name, row.error)
            ended = row.status == "feasible" and row.termination == "time_limit"
            assert row.key == true[row.id] or ended, (name, row)
        assert len(rows[name]) == len(topics), name

def one(name):
    return optsum.solve(topics[0], max_length=9, backend=name, strategy="milp")

with ThreadPoolExecutor(len(names)) as pool:  # several solvers at once
    for result in pool.map(one, names):
        assert result.key == true[result.id], result
print("done")
"""


@pytest.mark.slow
def test_threads_have_the_answers_of_one() -> None:
    """Search without and with a time limit in one process, because loading all solvers takes as long as the rest."""
    names = [name for name in NAMES if backend_of(name).available()]
    code = CODE.format(names=names)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert lines[-1] == "done"


def test_a_thread_that_waits_for_another_s_solver_keeps_its_limit() -> None:
    code = (
        "import sys, threading\n"
        "import optsum\n"
        "from optsum.solvers.backends.pyomo import Turn, hushed\n"
        "topic = {'id': 't', 'documents': [['a b', 'b c']], 'references': [['a c']]}\n"
        "optsum.solve(topic, max_length=4, backend='pyomo:highs')\n"
        "held, free = threading.Event(), threading.Event()\n"
        "def hold():\n"
        "    with Turn(), hushed():\n"
        "        print('kept back', flush=True)\n"
        "        held.set(); free.wait(60)\n"
        "thread = threading.Thread(target=hold); thread.start(); held.wait()\n"
        "print('here', flush=True)\n"
        "row = optsum.solve(topic, max_length=4, backend='pyomo:highs', time_limit=0.5)\n"
        "free.set(); thread.join()\n"
        "print(row.status, row.termination, row.detail)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said = "feasible time_limit the time limit was over while another thread was using Pyomo"
    assert done.stdout.splitlines() == ["here", said]
