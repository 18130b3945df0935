"""The compressive program as the paper means it, for Pyomo: readable, and the yardstick for the arrays.

Hirao et al. 2017 (Oracle Summaries of Compressive Summarization), eq. 3-12, over chunks, with what the printed
equations leave to the reader: (5) and (6) hold for all k and j, (7) for all chunks but roots, V are the chunks of an
n-gram's tokens and U the chunks of the tokens between them. Chunks that live and die together are tied by equations.
Nothing is reduced: every way to have an n-gram of a reference has its variable m, possible or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from optsum.coverage.instance import NO_LIMIT
from optsum.metrics.metric import Counts, Gram, Metric
from optsum.problem.spec import Spec

from .trimming import TrimmableSentence


@dataclass(frozen=True, eq=False)
class CompressiveModel:
    """Hold the data of the equations, and build the model when called.

    Parameters
    ----------
    references : sequence of Counts
        N(g, R_k), one counter a reference.
    metric : Metric
        One that is no sum.
    sentences : sequence of TrimmableSentence
        D.
    lengths : one sequence a sentence
        The length of each group; its topmost chunk has all of it.
    places : sequence of (sentence, group)
        The units of the problem.
    spec : Spec
        Of which the analyzer, L_max, and a minimum length, which is not in the paper.
    """

    references: Sequence[Counts]
    metric: Metric
    sentences: Sequence[TrimmableSentence]
    lengths: Sequence[Sequence[int]]
    places: Sequence[tuple[int, int]]
    spec: Spec

    def ways(self, i: int) -> list[tuple[Gram, set[int], set[int]]]:
        """Return each way in which a sentence may hold an n-gram of a reference: the n-gram, V and U, in groups."""
        tokens = self.sentences[i].tokens(self.spec.analyzer)
        wanted = {gram for reference in self.references for gram in reference}
        found: list[tuple[Gram, set[int], set[int]]] = []
        for size in self.metric.sizes:
            for places in combinations(range(len(tokens)), size):
                gram = tuple(tokens[place][0] for place in places)
                key: Gram = gram if size > 1 else gram[0]
                if key in wanted:
                    between = set(range(places[0], places[-1])).difference(places)
                    found.append((key, {tokens[v][1] for v in places}, {tokens[u][1] for u in between}))
        return found

    def __call__(self) -> Any:
        """Return a `pyomo.environ.ConcreteModel` whose ``x[unit]`` says whether a unit is chosen."""
        import pyomo.environ as pyo

        grams = sorted({gram for reference in self.references for gram in reference}, key=repr)
        pairs = [(k, j) for k, reference in enumerate(self.references) for j, g in enumerate(grams) if reference[g]]
        number = {gram: j for j, gram in enumerate(grams)}
        holders: list[list[tuple[int, int]]] = [[] for _ in grams]  # T(g_j)
        ways = [self.ways(i) for i in range(len(self.sentences))]
        for i, found in enumerate(ways):
            for v, (gram, _, _) in enumerate(found):
                holders[number[gram]].append((i, v))
        chunks = [
            (i, chunk) for i, sentence in enumerate(self.sentences) for group in sentence.chunks for chunk in group
        ]
        top = [sentence.top for sentence in self.sentences]

        model = pyo.ConcreteModel("compressive oracle")
        model.IU = pyo.Set(initialize=chunks, dimen=2)
        model.IV = pyo.Set(initialize=[(i, v) for i, found in enumerate(ways) for v in range(len(found))], dimen=2)
        model.KJ = pyo.Set(initialize=pairs, dimen=2)
        model.b = pyo.Var(model.IU, domain=pyo.Binary)  # (11)
        model.m = pyo.Var(model.IV, domain=pyo.Binary)  # (10)
        model.z = pyo.Var(model.KJ, domain=pyo.NonNegativeIntegers)  # (12)
        model.x = pyo.Var(range(len(self.places)), domain=pyo.Binary)

        model.hits = pyo.Objective(expr=pyo.quicksum(model.z.values()), sense=pyo.maximize)  # (3)
        length = pyo.quicksum(
            length * model.b[i, top[i][group]]
            for i, lengths in enumerate(self.lengths)
            for group, length in enumerate(lengths)
        )
        if self.spec.max_length < NO_LIMIT and chunks:
            model.max_length = pyo.Constraint(expr=length <= self.spec.max_length)  # (4)
        if self.spec.min_length > 0 and chunks:
            model.min_length = pyo.Constraint(expr=length >= self.spec.min_length)

        @model.Constraint(model.KJ)
        def copies(m: Any, k: int, j: int) -> Any:  # (5)
            return pyo.quicksum(m.m[way] for way in holders[j]) >= m.z[k, j]

        @model.Constraint(model.KJ)
        def clipped(m: Any, k: int, j: int) -> Any:  # (6)
            return m.z[k, j] <= self.references[k][grams[j]]

        model.tree = pyo.ConstraintList()
        for i, sentence in enumerate(self.sentences):
            for group, parent in enumerate(sentence.parents):
                if parent >= 0:
                    model.tree.add(model.b[i, top[i][parent]] >= model.b[i, top[i][group]])  # (7)
                for chunk in sentence.chunks[group]:
                    if chunk != top[i][group]:
                        model.tree.add(model.b[i, chunk] == model.b[i, top[i][group]])

        model.whole = pyo.ConstraintList()
        for i, found in enumerate(ways):
            for v, (_, stay, go) in enumerate(found):
                for group in stay:
                    model.whole.add(model.b[i, top[i][group]] >= model.m[i, v])  # (8)
                for group in go:
                    model.whole.add(model.b[i, top[i][group]] <= 1 - model.m[i, v])  # (9)

        @model.Constraint(range(len(self.places)))
        def unit(m: Any, number: int) -> Any:
            i, group = self.places[number]
            return m.x[number] == m.b[i, top[i][group]]

        return model
