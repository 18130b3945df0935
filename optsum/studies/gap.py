"""The study of the recall lost by each restriction: any text, compressions, extracts, heuristics and systems, in turn.

The limit of each kind holds for the kinds after it, too: an extract is a compression that leaves nothing out, and both
are texts of the documents' words (`optsum.problem.any_text`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from statistics import fmean
from typing import Annotated, Any, ClassVar, Final, Literal

from optsum.contracts.result import Status
from optsum.errors import OptionError, counted
from optsum.options.options import Options
from optsum.problem.any_text import any_text_limit
from optsum.registry import STRATEGIES
from optsum.report.comparison import OVER_SEEDS, mean_of, seeds_deviation, seeds_of
from optsum.report.figures import Figure
from optsum.report.tables import Table, number, share
from optsum.running.one_problem import Setup
from optsum.studies import Cut, Row, SeededStudy, Submitted, grouped, option, score_of, searched, summaries_of, unproven
from optsum.system.clock import Deadline
from optsum.text.analyzer import word_count

ANY_TEXT: Final = "any text"
COMPRESSIVE: Final = "compressive oracle"
EXTRACTIVE: Final = "extractive oracle"
_LIMITS: Final = (ANY_TEXT, COMPRESSIVE, EXTRACTIVE)


@dataclass(kw_only=True)
class GapStudy(SeededStudy):
    """Compare the recall of extracts, compressions, heuristics and systems with the limit for any text.

    Only topics with a parse of each sentence have compressive oracles. Summaries of systems that are too long are cut.
    """

    name: ClassVar[str] = "gap"

    max_length: Annotated[int, option("words of a summary", ge=1)] = 100
    metrics: Annotated[str, option("rouge-1, rouge-2, or both joined by a comma")] = "rouge-1,rouge-2"
    strategies: Annotated[str, option("heuristics, joined by commas")] = "greedy,lead,random"
    vocabulary: Annotated[
        bool, option("any text may repeat words any number of times, not only as often as the documents")
    ] = False
    stem: Annotated[bool, option("Porter stemming as ROUGE-1.5.5 -m does")] = False
    stopwords: Annotated[str, option("keep, drop (SMART list), or a file with one word a line")] = "keep"
    chunk_profile: Annotated[
        Literal["strict", "paper"], option("parts that compressions can leave out, for topics with parses")
    ] = "strict"
    strategy: Annotated[str, option("how oracles are searched")] = "branch-and-bound"

    @cached_property
    def wanted(self) -> tuple[str, ...]:
        wanted = tuple(dict.fromkeys(name.strip() for name in self.metrics.split(",")))
        if not set(wanted) <= {"rouge-1", "rouge-2"}:
            raise OptionError(
                f"The bound on any text exists only for rouge-1 and rouge-2: give one or both, not {self.metrics!r}."
            )
        return wanted

    @cached_property
    def _searches(self) -> dict[tuple[str, str], list[Options]]:
        heuristics = [name.strip() for name in self.strategies.split(",") if name.strip()]
        for name in heuristics:
            STRATEGIES.load(name)
        lines: dict[str, dict[str, Any]] = {
            EXTRACTIVE: {"strategy": self.strategy},
            COMPRESSIVE: {"strategy": self.strategy, "formulation": "compressive", "chunk_profile": self.chunk_profile},
            **{name: {"strategy": name} for name in heuristics},
        }
        same = "max_length stem stopwords"
        return {
            (line, metric): self._seeded(same, heuristic=line in heuristics, metric=metric, **how)
            for metric, (line, how) in product(self.wanted, lines.items())
        }

    def searches(self) -> Sequence[Options]:
        """Return the options of all searches except compressions, because topics may lack the necessary parses."""
        return [options for (line, _), seeded in self._searches.items() if line != COMPRESSIVE for options in seeded]

    def work(self) -> Callable[[Submitted], list[Row]]:
        return partial(_rows, setups=self._setups(), vocabulary=self.vocabulary)

    def about(self) -> str:
        repeated = ", words repeated in any text" if self.vocabulary else ""
        return (
            f"{self.max_length} words at most, {'Porter' if self.stem else 'no'} stems, stop words: {self.stopwords}, "
            f"chunk profile {self.chunk_profile}, n-grams within sentences{repeated}, {self.seeding}"
        )

    def lacking(self) -> list[str]:
        oracles = [row for row in self.of("recall") if row["text"] in {EXTRACTIVE, COMPRESSIVE}]
        nothing = len(self.of("recall", recall=None))
        left = [f"{counted(nothing, 'selection')} that no search found in time"] if nothing else []
        held = [None not in (row["bound"], row["recall"]) and row["bound"] <= row["recall"] + 1e-12 for row in oracles]
        return [*unproven([not proven for proven in held]), *left]

    @property
    def lines(self) -> list[str]:
        return sorted(self.values_of("recall", "text"), key=lambda line: (*_LIMITS, line).index(line))

    def recalls(self, line: str, metric: str) -> dict[str, float]:
        return {topic: fmean(values) for topic, values in self._by("id", line, metric).items()}

    def _by(self, name: str, line: str, metric: str) -> dict[Any, list[float]]:
        rows = self.of("recall", text=line, metric=metric)
        return grouped((row[name], row["recall"]) for row in rows if row["recall"] is not None)

    def mean(self, line: str, metric: str) -> float | None:
        return mean_of(self.recalls(line, metric).values())

    def lost(self, line: str, metric: str, against: str) -> float | None:
        one, other = self.recalls(line, metric), self.recalls(against, metric)
        return mean_of(other[topic] - one[topic] for topic in one if topic in other)

    def share(self, line: str, metric: str) -> float | None:
        """Return a line's recall divided by the recall of any text, over the line's topics; None if the latter is 0."""
        one, whole = self.recalls(line, metric), self.recalls(ANY_TEXT, metric)
        most = sum(whole[topic] for topic in one)
        return sum(one.values()) / most if most else None

    def tables(self) -> list[Table]:
        seeds = len(seeds_of(self.seeds))
        spread = ["± seeds"] if seeds > 1 else []
        columns = [name for metric in self.wanted for name in (metric, *spread, "lost", "of any text")]
        title = f"Recall within {self.max_length} words, and what each restriction costs"
        table = self.table(title, ["text"], ["topics", *columns])
        above = ""
        for line in self.lines:
            cells = [number(len(self.recalls(line, self.wanted[0])), 0)]
            for metric in self.wanted:
                cells.append(number(self.mean(line, metric)))
                cells += [number(seeds_deviation(self._by("seed", line, metric).values()))] if spread else []
                cells += [number(self.lost(line, metric, above) if above else None), share(self.share(line, metric))]
            table.add(line, *cells)
            above = line if line in _LIMITS else above
        table.caption += [
            "lost: against the nearest limit above; of any text: share of its recall; on topics with both values.",
            "any text: a proven limit for all texts of the documents' words within the length.",
        ]
        if words := [row["words"] for row in self.of("recall", metric=self.wanted[0]) if "words" in row]:
            longer = sum(count > self.max_length for count in words)
            table.caption.append(f"{str(Cut(self.max_length)).capitalize()}; longer: {longer} of {len(words)}.")
        if spread:
            table.caption.append(OVER_SEEDS.format(seeds))
        return [table]

    def figures(self) -> list[Figure]:
        return [Figure.of_table("gap", self.tables()[0], self.wanted, "recall")]


def _row(line: str, metric: str, value: float | None, bound: float | None = None, seed: int | None = None) -> Row:
    """Return a row about a recall; `value`: None if nothing was found in time; `bound`: None if none is proven."""
    return {"kind": "recall", "text": line, "metric": metric, "recall": value, "bound": bound, "seed": seed}


def _rows(topic: Submitted, setups: Mapping[tuple[str, str], Sequence[Setup]], vocabulary: bool) -> list[Row]:
    rows: list[Row] = []
    for (line, metric), seeded in setups.items():
        exact = line in {EXTRACTIVE, COMPRESSIVE}
        if line == EXTRACTIVE:
            setup = seeded[0]
            deadline = Deadline(setup.options.time_limit)
            limit = any_text_limit(topic, setup.spec_for(topic), repeat=vocabulary, deadline=deadline)
            rows.append(_row(ANY_TEXT, metric, float(limit.recall), float(limit.recall)))
        if line != COMPRESSIVE or topic.parses is not None:
            for setup in seeded:
                seed = None if exact else setup.options.seed
                result = searched(topic, setup)
                value = 0.0 if result.status is Status.INFEASIBLE else result.objective
                rows.append(_row(line, metric, value, result.bound if exact else None, seed))
    for system, text in summaries_of(topic, rows, {*_LIMITS, *(line for line, _ in setups)}):
        for (line, metric), (setup, *_) in setups.items():
            if line == EXTRACTIVE:
                cut = Cut(setup.spec.max_length).text(text)
                row = _row(system.system, metric, score_of(cut, topic.references, setup).recall)
                rows.append({**row, "words": sum(map(word_count, text))})
    return rows
