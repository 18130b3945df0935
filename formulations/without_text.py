"""Formulations of problems that are given directly, without a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from optsum.corpus.topic import Topic
from optsum.coverage.instance import NO_LIMIT, Sense, coverage_of_json
from optsum.errors import InputError, unknown_name
from optsum.problem.formulation import Formulation, Spec
from optsum.problem.objective import Extract
from optsum.problem.problem import CoverageProblem, Problem, Selection
from optsum.text.analyzer import Sentence


class GivenTask(Extract):
    """The task of a given problem; a selection is displayed as the labels of its units, if they have labels."""

    def display(self, selection: Selection) -> tuple[Sentence, ...] | None:
        return self.decode(selection) if self.problem.labels else None


@dataclass(frozen=True)
class GivenProblem(Formulation):
    """Problems given as an object, or as JSON in the normal form; the option `max_length` replaces their own limit."""

    name: ClassVar[str] = "problem"
    about: ClassVar[str] = "problems of your own, maximized"
    has_metric: ClassVar[bool] = False
    whole_sentences: ClassVar[bool] = False
    summaries: ClassVar[str] = "selections"
    reads_topics: ClassVar[bool] = False

    def build(self, topic: Topic, spec: Spec) -> GivenTask:
        given = topic.problem
        if given is None:
            raise InputError(f"{topic.id!r} is a text among problems: solve it separately.")
        if isinstance(given, Mapping):
            labels = topic.documents[0] if "units" in given else ()
            given = CoverageProblem.of(coverage_of_json(given), name=topic.id, labels=list(map(str, labels)))
        problem: Problem = given
        if problem.sense is not self.sense:
            raise InputError(
                f"The problem {topic.id!r} is to {problem.sense.value}, and those before it are not: solve "
                f"problems that minimize separately."
            )
        if spec.max_length != NO_LIMIT:
            problem = problem.within(spec.max_length)
        return GivenTask.of(topic, spec, problem, range(problem.size))


@dataclass(frozen=True)
class GivenToMinimize(GivenProblem):
    """Given problems whose objective is minimized; `GivenProblem` is for those that maximize."""

    name: ClassVar[str] = "problem:minimize"
    about: ClassVar[str] = "problems of your own, minimized"
    sense: ClassVar[Sense] = Sense.MINIMIZE


def given(rest: str) -> type[GivenProblem]:
    """Return the formulation named "problem" followed by `rest`, such as ":minimize"."""
    made = {each.name: each for each in (GivenProblem, GivenToMinimize)}
    if (name := f"{GivenProblem.name}{rest}") not in made:
        raise unknown_name("formulation", name, list(made))
    return made[name]
