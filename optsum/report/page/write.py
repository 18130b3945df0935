"""Rows as one HTML file: scripts, styles and data inside, and a policy that lets nothing else in."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from math import ceil, floor, log10
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

from optsum._version import __version__
from optsum.contracts.frontier import Reached
from optsum.contracts.result import Result, Status
from optsum.errors import InputError, OptionError, visible
from optsum.registry import QUICK
from optsum.report.page.chart import STYLES, Axis, Chart, Curve, Point, counts_in_words, drawn, steps, thinned
from optsum.report.page.gather import Gathered, PageProblem, PageResult, Variant, gather, median_count
from optsum.report.page.settings import Setting
from optsum.report.tables.table import counted, number, seconds
from optsum.system.files import PathLike, describe_os_error, replacing

_DOTS: Final = 400
"""Dots of one strategy."""


def profile(gathered: Gathered) -> Chart | None:
    """Return the performance profile of time (Dolan & More 2002): a topic counts where its optimum was found."""
    times: dict[Variant, dict[int, float]] = {variant: {} for variant in gathered.variants}
    known = [place for place, problem in enumerate(gathered.problems) if problem.optimum is not None]
    for place in known:
        for variant, each in gathered.problems[place].found.items():
            if each.reached:
                times[variant][place] = max(each.result.timing.answer_s or each.result.seconds, 1e-6)
    best = {
        place: min(found[place] for found in times.values() if place in found)
        for place in known
        if any(place in found for found in times.values())
    }
    ratios = {
        variant: sorted(time / best[place] for place, time in found.items())
        for variant, found in times.items()
        if found
    }
    if len(ratios) < 2:
        return None
    high = max(10.0, *(found[-1] for found in ratios.values()))
    n = len(best)
    places = {variant: place for place, variant in enumerate(gathered.variants)}
    names = gathered.names()
    curves = {places[variant]: thinned([(1.0, 0.0), *steps(found, n)], high) for variant, found in ratios.items()}
    factors = [factor for factor in (1, 2, 5, 10, 100, 1000) if factor <= high * 10]
    return Chart(
        "Performance profile of time",
        "Share of topics whose optimum was found within this many times the time of the fastest that found it; "
        f"n = {counted(n, 'topic')} with a known optimum.",
        Axis("times the fastest", 1.0, high, log=True),
        Axis("share of topics", 0.0, 1.0, unit="share"),
        [Curve(place, curve) for place, curve in curves.items()],
        heading=["strategy", *(f"{factor} x" for factor in factors)],
        table=[
            [names[places[variant]], *(f"{bisect_right(found, factor) / n:.0%}" for factor in factors)]
            for variant, found in ratios.items()
        ],
    )


def values(gathered: Gathered) -> Chart | None:
    """Return the mean of value / optimum that was held after so many seconds of search, from the traces."""
    traces: dict[int, list[list[Point]]] = defaultdict(list)
    for problem in gathered.problems:
        best = problem.value
        if problem.optimum is None or not best:
            continue
        for place, variant in enumerate(gathered.variants):
            each = problem.found.get(variant)
            if each is None or not each.result.trace:
                continue
            traces[place].append(
                [
                    (point.seconds, best / point.objective if problem.setting.minimizes else point.objective / best)
                    for point in each.result.trace
                    if point.objective
                ]
            )
    times = [second for found in traces.values() for trace in found for second, _ in trace if second > 0]
    if not times:
        return None
    low, high = 10 ** floor(log10(max(min(times), 1e-6))), 10 ** ceil(log10(max(*times, 2e-6)))
    high = high if high > low else low * 10
    grid = [low * (high / low) ** (step / 60) for step in range(61)]
    names = gathered.names()
    series = [
        Curve(place, [(time, fmean(_held(trace, time) for trace in found)) for time in grid])
        for place, found in sorted(traces.items())
    ]
    shown = range(0, 61, 6)
    n = counts_in_words(map(len, traces.values()))
    return Chart(
        "Value over time",
        f"Mean of the value held after so many seconds of search, as a share of the optimum; {n}.",
        Axis("seconds of search", low, high, log=True, unit="seconds"),
        Axis("value / optimum", 0.0, 1.0, unit="share"),
        series,
        "line",
        heading=["strategy", *(seconds(grid[place]) for place in shown)],
        table=[[names[each.strategy], *(f"{each.points[place][1]:.1%}" for place in shown)] for each in series],
    )


def _held(trace: list[Point], time: float) -> float:
    place = bisect_right([second for second, _ in trace], time)
    return trace[place - 1][1] if place else 0.0


def sizes(gathered: Gathered) -> Chart | None:
    """Return the time of each topic against its number of sentences."""
    dots: dict[int, list[Point]] = defaultdict(list)
    for problem in gathered.problems:
        for place, variant in enumerate(gathered.variants):
            each = problem.found.get(variant)
            if each is not None and problem.sentences and each.result.error is None:
                time = each.result.timing.answer_s or each.result.seconds
                dots[place].append((float(problem.sentences), max(time, 1e-6)))
    sizes = sorted({size for found in dots.values() for size, _ in found})
    if len(sizes) < 2:
        return None
    times = [time for found in dots.values() for _, time in found]
    borders = [sizes[min(len(sizes) - 1, len(sizes) * part // 4)] for part in range(5)]
    names = gathered.names()
    table = []
    for place, found in sorted(dots.items()):
        cells = []
        for part in range(4):
            last = part == 3
            inside = [t for s, t in found if borders[part] <= s and (s < borders[part + 1] or last)]
            cells.append(seconds(median(inside)) if inside else "-")
        table.append([names[place], *cells])
    count = max(map(len, dots.values()))
    every = ceil(count / _DOTS)
    left = f", of which every {every}th is drawn" if every > 1 else ""
    return Chart(
        "Time against size",
        f"Seconds from text to answer by number of sentences; n = {count}{left}.",
        Axis("sentences", sizes[0], sizes[-1], log=sizes[-1] / sizes[0] > 20),
        Axis("seconds", min(times), max(*times, min(times) * 1.1), log=True, unit="seconds"),
        [Curve(place, found[::every]) for place, found in sorted(dots.items())],
        "dots",
        heading=["strategy", *(f"{borders[part]:.0f} to {borders[part + 1]:.0f}" for part in range(4))],
        table=table,
    )


def ratios(gathered: Gathered) -> Chart | None:
    """Return the share of topics whose ratio is at most x, for all that prove nothing."""
    values = {
        place: [each.ratio for each in gathered.of(variant) if each.ratio is not None]
        for place, (variant, exact) in enumerate(zip(gathered.variants, gathered.exact(), strict=True))
        if not exact
    }
    bound = sum(each.guaranteed for problem in gathered.problems for each in problem.found.values())
    note = f"; {bound} against the best bound, where the optimum is not known" if bound else ""
    return _distribution(
        gathered, "Ratio to the optimum", f"Share of topics with at most this ratio{note}.", values, "ratio", high=1.0
    )


def gaps(gathered: Gathered) -> Chart | None:
    """Return the share of topics whose certified gap is at most x."""
    values = {
        place: [gap for each in gathered.of(variant) if (gap := each.result.gap) is not None]
        for place, variant in enumerate(gathered.variants)
    }
    if all(gap == 0 for gaps in values.values() for gap in gaps):
        return None
    wide = sum(gap > 1 for gaps in values.values() for gap in gaps)
    note = f"; {wide} of more than 1" if wide else ""
    about = f"Share of topics with at most this gap to its own bound{note}."
    largest = max(gap for gaps in values.values() for gap in gaps)
    return _distribution(gathered, "Certified gap", about, values, "gap", low=0.0, high=min(1.0, largest))


def _distribution(
    gathered: Gathered,
    title: str,
    about: str,
    values: dict[int, list[float]],
    what: str,
    *,
    low: float | None = None,
    high: float | None = None,
) -> Chart | None:
    values = {place: sorted(found) for place, found in values.items() if found}
    if not values:
        return None
    everything = [value for found in values.values() for value in found]
    low = min(everything) if low is None else low
    high = max(everything) if high is None else high
    high = high if high > low else low + 1.0 if high < 1 else high
    low = low if low < high else high - 0.1
    series = [
        Curve(place, thinned([(low, 0.0), *steps([one for one in found if one <= high], len(found))], high))
        for place, found in sorted(values.items())
    ]
    n = counts_in_words(map(len, values.values()))
    shares = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    names = gathered.names()
    return Chart(
        title,
        f"{about} {n}.",
        Axis(what, low, high),
        Axis("share of topics", 0.0, 1.0, unit="share"),
        series,
        heading=["strategy", "least", "5 %", "25 %", "median", "75 %", "95 %", "largest"],
        table=[
            [names[place], *(number(found[min(len(found) - 1, floor(share * len(found)))], 4) for share in shares)]
            for place, found in sorted(values.items())
        ],
    )


_COLUMNS: Final = 12
"""Lengths that the table has."""

_CORNERS: Final = 120
_FAR: Final = 1e15

GREEDY: Final = "greedy (frontier)"
"""What greedy search is called beside frontiers, which have no row of it."""


def lengths(gathered: Gathered) -> Chart | None:
    """Return the mean objective by maximum length, where there are several."""
    curves = _curves(gathered)
    where = sorted({length for found in curves.values() for curve in found for length, _ in curve})
    if len(where) < 2:
        return None
    grid = where if len(where) <= _CORNERS else where[:: ceil(len(where) / _CORNERS)]
    names = [*gathered.names(), GREEDY]
    series = [Curve(place, _mean(found, grid)) for place, found in sorted(curves.items())]
    heights = [value for each in series for _, value in each.points]
    shown = grid[:: ceil(len(grid) / _COLUMNS)]
    table = []
    for each in series:
        known = dict(each.points)
        table.append([names[each.strategy], *(number(known.get(length)) for length in shown)])
    return Chart(
        "Value against length",
        f"Mean objective by maximum length; {counted(len(where), 'length')}.",
        Axis("maximum length", where[0], where[-1]),
        Axis("objective", min(0.0, *heights), max(*heights, 1e-9)),
        series,
        "line",
        heading=["strategy", *(f"{length:g}" for length in shown)],
        table=table,
    )


def _curves(gathered: Gathered) -> dict[int, list[list[Point]]]:
    """Return for each strategy the values of each topic by maximum length, ascending; frontiers' greedy is last."""
    single: dict[int, dict[str, dict[float, float]]] = defaultdict(lambda: defaultdict(dict))
    found: dict[int, list[list[Point]]] = defaultdict(list)
    for number_of, problem in enumerate(gathered.problems):
        for place, variant in enumerate(gathered.variants):
            each = problem.found.get(variant)
            if each is None:
                continue
            if (frontier := each.result.frontier) is not None:
                found[place] += [curve] if (curve := _points(frontier.steps)) else []
                found[len(gathered.variants)] += [curve] if (curve := _points(frontier.greedy or ())) else []
            elif each.result.objective is not None and (length := problem.setting.max_length) is not None:
                name = problem.id or f"#{number_of}"
                single[place][name][float(length)] = each.result.objective
    for place, topics in single.items():
        found[place] += [sorted(values.items()) for values in topics.values()]
    return {place: curves for place, curves in found.items() if curves}


def _points(steps: Sequence[Reached]) -> list[Point]:
    """Return where the value of a frontier rises."""
    held = [step for step in steps if step.objective is not None and abs(step.first) < _FAR]
    return sorted((float(step.first), float(step.objective or 0)) for step in held)


def _mean(curves: list[list[Point]], grid: list[float]) -> list[Point]:
    """Return the mean value at each length, over the topics that have one there or before."""
    points = []
    for length in grid:
        held = [curve[place - 1][1] for curve in curves if (place := bisect_right(curve, (length, _FAR)))]
        if len(held) == len(curves):  # a mean over fewer topics would be one of others
            points.append((length, fmean(held)))
    return points


def charts_of(gathered: Gathered) -> list[Chart]:
    """Return the charts for which there are numbers."""
    makers = (ratios, gaps, profile, values, sizes, lengths)
    return [chart for maker in makers if (chart := maker(gathered)) is not None]


@dataclass(frozen=True)
class Tile:
    """A number shown large, with what it is and what more there is to say."""

    value: str
    what: str
    more: str = ""


@dataclass(frozen=True)
class MatrixCell:
    """Summary of a strategy's results in a setting."""

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


def matrix_of(gathered: Gathered) -> list[tuple[str, list[MatrixCell | None]]]:
    """Return for each strategy what it did in each setting."""
    found = []
    for place, name in enumerate(gathered.names()):
        cells: list[MatrixCell | None] = []
        for setting in gathered.settings:
            results = [
                (problem, problem.found[gathered.variants[place]])
                for problem in gathered.problems
                if problem.setting == setting and gathered.variants[place] in problem.found
            ]
            cells.append(_cell(results) if results else None)
        found.append((name, cells))
    return found


def _cell(results: list[tuple[PageProblem, PageResult]]) -> MatrixCell:
    held = [each.result.objective for _, each in results if each.result.objective is not None]
    ratios = [each.ratio for _, each in results if each.ratio is not None]
    least = "≥ " if any(each.guaranteed for _, each in results) else ""
    known = [each for problem, each in results if problem.optimum is not None]
    times = [each.result.timing.answer_s or each.result.seconds for _, each in results if each.result.error is None]
    return MatrixCell(
        number(fmean(held)) if held else "-",
        f"{least}{number(fmean(ratios))}" if ratios else "-",
        f"{sum(each.reached for each in known)} of {len(known)}",
        seconds(fmean(times)) if times else "-",
    )


def table_of(gathered: Gathered) -> list[dict[str, Any]]:
    """Return a line a topic, those with errors first."""
    settings = {setting: place for place, setting in enumerate(gathered.settings)}
    return [_line(problem, settings[problem.setting], gathered) for problem in ordered(gathered)]


def ordered(gathered: Gathered) -> list[PageProblem]:
    """Return the problems in the order of the table."""
    return sorted(gathered.problems, key=lambda problem: problem.error is None)


def _line(problem: PageProblem, setting: int, gathered: Gathered) -> dict[str, Any]:
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


_SCRIPTS: Final = (
    *("core.js", "grams.js", "table.js", "marks.js"),
    *("topic.js", "source.js", "references.js", "cover.js", "start.js"),
)
_STYLES: Final = ("page.css", "table.css", "topic.css", "print.css")


def write_page(
    rows: Iterable[Result | Mapping[str, Any]], output: PathLike, *, title: str = "", overwrite: bool = False
) -> None:
    """Write rows as one HTML file, which needs no server and no network.

    Parameters
    ----------
    rows : iterable of Result or mapping
        Results, or rows as ``Result.to_row`` makes them, such as ``compare(...).results``. With details (``compare(...,
        details=True)``) the page shows texts; without, what there is.
    output : str or path
    title : str
    overwrite : bool
        Whether a file that exists is replaced.

    Raises
    ------
    InputError
        If a row is none of optsum, or there is none.
    OptionError
        If the output exists, or cannot be written.
    """
    path = checked_output(output, overwrite=overwrite)
    text = page_of(gather(row.to_row() if isinstance(row, Result) else row for row in rows), title=title)
    save(path, text)


def checked_output(output: PathLike, *, overwrite: bool, inputs: Iterable[PathLike] = ()) -> Path:
    """Return where a page is to be written, before any work is done for it.

    Raises
    ------
    OptionError
        If there is something that is not to be replaced, or no folder.
    """
    path = Path(output)
    if any(path.exists() and Path(each).exists() and path.samefile(each) for each in inputs):
        raise OptionError(f"the output {path} is also an input; name another output")
    if path.is_dir() or not path.parent.is_dir():
        what = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise OptionError(f"the output {path} cannot be written: {what}")
    if path.exists() and not overwrite:
        raise OptionError(f"the output {path} exists already: --overwrite replaces it")
    return path


def save(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises
    ------
    OptionError
        If it cannot be written.
    """
    try:
        with replacing(path) as new:
            new.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OptionError(f"the output {path} cannot be written: {describe_os_error(error)}") from None


def page_of(gathered: Gathered, *, title: str = "") -> str:
    """Return the page.

    Raises
    ------
    InputError
        If there is no row.
    """
    if not gathered.problems:
        raise InputError("there is no row to report: write some with optsum compare ... --details -o rows.jsonl")
    script, style = _assets(_SCRIPTS), _assets(_STYLES)
    charts = charts_of(gathered)
    problems = ordered(gathered)
    has_greedy = any(series.strategy == len(gathered.variants) for chart in charts for series in chart.series)
    data = {
        "strategies": [
            {"name": name, "exact": exact} for name, exact in zip(gathered.names(), gathered.exact(), strict=True)
        ],
        "styles": STYLES,
        "missed": missing_strategy(gathered),
        "settings": [setting.to_json() for setting in gathered.settings],
        "topics": table_of(gathered),
        "perBlock": IN_BLOCK,
    }
    text: str = _template().render(
        title=visible(title) or "Oracle summaries",
        policy=_policy(script, style),
        script=script,
        style=style,
        data=data,
        blocks=list(blocks_of(problems, gathered)),
        sentences=list(map(visible, sentences_of(gathered))),
        count=len(problems),
        tiles=tiles_of(gathered),
        settings=[visible(setting.label) for setting in gathered.settings],
        matrix=matrix_of(gathered),
        charts=list(map(drawn, charts)),
        strategies=[*gathered.names(), *([GREEDY] if has_greedy else [])],
        guaranteed=any(each.guaranteed for problem in problems for each in problem.found.values()),
        styles=STYLES,
        has_text=any(problem.text is not None for problem in problems),
        version=__version__,
    )
    return text


def _policy(script: str, style: str) -> str:
    """Return a content security policy: these scripts and these styles, and nothing from anywhere."""

    def hashed(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {hashed(script)}",
            f"style-src {hashed(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


@cache
def _assets(names: tuple[str, ...]) -> str:
    folder = files("optsum.report.page.assets")
    text = "\n".join((folder / name).read_text(encoding="utf-8").strip() for name in names)
    return f'"use strict";\n(() => {{\n{text}\n}})();\n' if names[0].endswith(".js") else f"{text}\n"


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    source = (files("optsum.report.page.assets") / "page.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source)


IN_BLOCK: Final = 8
"""Topics that are packed together: fewer pack worse, more take longer to unpack."""


def blocks_of(problems: Iterable[PageProblem], gathered: Gathered) -> Iterator[str]:
    """Yield blocks of topics: JSON, compressed (raw deflate) and in base64, as a browser can unpack it by itself."""
    views = (_view(problem, gathered) for problem in problems)
    while block := list(islice(views, IN_BLOCK)):
        yield _packed(block)


def _packed(views: list[dict[str, Any]]) -> str:
    text = json.dumps(views, separators=(",", ":"), ensure_ascii=True)  # ASCII: half surrogate pairs survive
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b64encode(packer.compress(text.encode()) + packer.flush()).decode()


def _view(problem: PageProblem, gathered: Gathered) -> dict[str, Any]:
    found = [problem.found.get(variant) for variant in gathered.variants]
    view = {
        "text": problem.text,
        "optima": problem.optima,
        "results": [None if each is None else _result(each.result) for each in found],
    }
    return {key: value for key, value in view.items() if value is not None}


def _result(result: Result) -> dict[str, Any]:
    shown = {
        "selection": None if result.selection is None else list(result.selection),
        "numerator": result.numerator,
        "denominator": result.denominator,
        "objective": result.objective,
        "bound": result.bound if result.bound_exact != result.objective_exact else None,
        "length": result.length,
        "termination": None if result.termination.value == "completed" else result.termination.value,
        "reference": result.reference,
        "rouge": None if result.rouge is None else {visible(k): dict(v) for k, v in result.rouge.items()},
        "error": None if result.error is None else visible(result.error),
        "summary": None if result.summary is None else list(result.summary),
    }
    return {key: value for key, value in shown.items() if value is not None}
