"""What the page says of all topics: a sentence, four numbers, strategies by settings, and a line a topic."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from optsum.contracts.result import Status
from optsum.errors import visible
from optsum.registry import QUICK
from optsum.report.page.gather import Found, Gathered, Problem, median_count
from optsum.report.page.settings import Setting
from optsum.report.tables.table import counted, number, seconds


@dataclass(frozen=True)
class Tile:
    """A number shown large, with what it is and what more there is to say."""

    value: str
    what: str
    more: str = ""


@dataclass(frozen=True)
class Cell:
    """What a strategy did in a setting."""

    objective: str
    ratio: str
    reached: str
    time: str


def sentences_of(gathered: Gathered) -> list[str]:
    """Return one sentence for each setting: what was asked for, and what is proven."""
    return [_sentence(gathered, setting) for setting in gathered.settings]


def _sentence(gathered: Gathered, setting: Setting) -> str:
    problems = [problem for problem in gathered.problems if problem.setting == setting]
    failed = sum(problem.error is not None for problem in problems)
    provers: Counter[str] = Counter(
        each.result.strategy
        for problem in problems
        for each in problem.found.values()
        if each.result.status is Status.OPTIMAL
    )
    known = sum(problem.optimum is not None for problem in problems)
    exact = [strategy for (strategy, *_), proves in zip(gathered.variants, gathered.exact(), strict=True) if proves]
    names = [name for name in dict.fromkeys(exact) if provers[name] == max(provers.values(), default=0) > 0]
    by = f" by {' and '.join(filter(None, (', '.join(names[:-1]), names[-1])))}" if names else ""
    count = "all" if known == len(problems) > 1 else str(known)
    errors = f"; {counted(failed, 'error')}" if failed else ""
    return f"{counted(len(problems), 'topic')}; {setting.sentence}; optimum proven{by} for {count}{errors}."


def tiles_of(gathered: Gathered) -> list[Tile]:
    """Return the four numbers, as far as there are any."""
    problems = gathered.problems
    oracles = [problem.value for problem in problems if problem.optimum is not None and problem.value is not None]
    tiles = []
    if oracles:
        whole = all(problem.setting.minimizes for problem in problems)
        what = "mean minimum cover" if whole else "mean oracle"
        proven = "1 optimum" if len(oracles) == 1 else f"{len(oracles)} optima"
        tiles.append(Tile(number(fmean(oracles), 2 if whole else 4), what, f"of {proven} proven"))
    names = gathered.names()
    rated = [
        (place, found)
        for place, (variant, exact) in enumerate(zip(gathered.variants, gathered.exact(), strict=True))
        if not exact and (found := [each for each in gathered.of(variant) if each.ratio is not None])
    ]
    if rated:
        place, found = max(rated, key=lambda pair: fmean(each.ratio or 0.0 for each in pair[1]))
        ratios = [each.ratio or 0.0 for each in found]
        least = "at least " if any(each.guaranteed for each in found) else ""
        tiles.append(
            Tile(
                number(fmean(ratios)),
                f"mean ratio of {names[place]}",
                f"the best heuristic; {least}{number(min(ratios))} at worst",
            )
        )
        place = missing_strategy(gathered)
        missed = [
            each for each in gathered.of(gathered.variants[place]) if not each.guaranteed and each.ratio is not None
        ]
        lost = sum(not each.reached for each in missed)
        tiles.append(Tile(f"{lost} of {len(missed)}", f"topics whose optimum {names[place]} misses"))
    ties = median_count(problems)
    if ties is not None:
        middle, most, name = ties
        tiles.append(Tile(short(middle), "tied optima (median)", f"{short(most)} at most, for {visible(name)}"))
    return tiles


def missing_strategy(gathered: Gathered) -> int:
    """Return the place of the strategy that topics are filtered by: greedy, or the first that proves nothing."""
    heuristics = [place for place, exact in enumerate(gathered.exact()) if not exact]
    named = [place for place in heuristics if gathered.variants[place][0] == QUICK]
    return (named or heuristics or [0])[0]


def short(digits: str) -> str:
    """Return a count of any size with four digits at most beside a power of ten."""
    if len(digits) <= 6 or "." in digits:
        return digits
    return f"{digits[0]}.{digits[1]}e{len(digits) - 1}"


def matrix_of(gathered: Gathered) -> list[tuple[str, list[Cell | None]]]:
    """Return for each strategy what it did in each setting."""
    found = []
    for place, name in enumerate(gathered.names()):
        cells: list[Cell | None] = []
        for setting in gathered.settings:
            results = [
                (problem, problem.found[gathered.variants[place]])
                for problem in gathered.problems
                if problem.setting == setting and gathered.variants[place] in problem.found
            ]
            cells.append(_cell(results) if results else None)
        found.append((name, cells))
    return found


def _cell(results: list[tuple[Problem, Found]]) -> Cell:
    held = [each.result.objective for _, each in results if each.result.objective is not None]
    ratios = [each.ratio for _, each in results if each.ratio is not None]
    least = "≥ " if any(each.guaranteed for _, each in results) else ""
    known = [each for problem, each in results if problem.optimum is not None]
    times = [each.result.timing.answer_s or each.result.seconds for _, each in results if each.result.error is None]
    return Cell(
        number(fmean(held)) if held else "-",
        f"{least}{number(fmean(ratios))}" if ratios else "-",
        f"{sum(each.reached for each in known)} of {len(known)}",
        seconds(fmean(times)) if times else "-",
    )


def table_of(gathered: Gathered) -> list[dict[str, Any]]:
    """Return a line a topic, those with errors first."""
    settings = {setting: place for place, setting in enumerate(gathered.settings)}
    return [_line(problem, settings[problem.setting], gathered) for problem in ordered(gathered)]


def ordered(gathered: Gathered) -> list[Problem]:
    """Return the problems in the order of the table."""
    return sorted(gathered.problems, key=lambda problem: problem.error is None)


def _line(problem: Problem, setting: int, gathered: Gathered) -> dict[str, Any]:
    results: list[list[str | float | None] | None] = []
    for variant in gathered.variants:
        each = problem.found.get(variant)
        if each is None:
            results.append(None)
            continue
        result = each.result
        results.append(
            [
                result.status.value,
                _rounded(result.objective),
                _rounded(each.ratio, 6),
                int(each.reached) if problem.optimum is not None else int(each.guaranteed) * 2,
                _rounded(result.timing.answer_s or result.seconds, 6),
            ]
        )
    optima = None
    if (found := problem.optima) is not None:  # how many, whether these are all, and what they are if no optima
        optima = [found["count"], found["complete"], *([found["near"]] if "near" in found else [])]
    line = {
        "id": visible(problem.id or "?"),
        "setting": setting,
        "sentences": problem.sentences,
        "words": problem.words,
        "value": _rounded(problem.value),
        "proven": problem.optimum is not None,
        "bound": _rounded(problem.bound),
        "optima": optima,
        "error": None if problem.error is None else visible(problem.error),
        "results": results,
    }
    return {key: value for key, value in line.items() if value is not None}


def _rounded(value: float | None, digits: int = 8) -> float | None:
    return None if value is None else round(value, digits)
