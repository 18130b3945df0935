"""The preparation, once per process, before the first timed topic: solvers are loaded, kernels compiled.

A strategy is run on a tiny topic with the options as they are but for their limits. That loads everything the first
real topic would otherwise be charged for, and refuses at once what cannot work on any topic: a solver that is not
installed, a metric that the formulation does not serve. A tiny topic may be settled before a kernel runs, so every
search has its kernels compiled before it starts (`optsum.contracts.strategy.Strategy.prepare`).

Parts of a third party see no made-up topic, which may lack what theirs have. Then only what needs no topic is refused
at once: an objective that is not served, a solver that is not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Final

from optsum.contracts.result import Termination
from optsum.corpus.topic import as_topic
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import InputError, OptsumError, UnsupportedError, describe
from optsum.problem.coverage_problem import CoverageProblem
from optsum.registry import CERTIFICATE, STRATEGIES
from optsum.running.search import get_ready, searched
from optsum.running.setup import Setup, is_ours, setup_of
from optsum.system.processes.signal_guard import postponing

if TYPE_CHECKING:
    from optsum.options.options import Options
    from optsum.system.compiling import Part

_SENTENCES: Final = ("the oracle reads all the references", "the summary reads the document", "the end is near")


def _parse(sentence: str) -> str:
    words = enumerate(sentence.split(), 1)
    return "\n".join(
        f"{n}\t{word}\t_\tX\t_\t_\t{min(n - 1, 1)}\t{'dep' if n > 1 else 'root'}\t_\t_" for n, word in words
    )


SAMPLE: Final = as_topic(
    {
        "id": "warm-up",
        "documents": [_SENTENCES],
        "parses": list(map(_parse, _SENTENCES)),
        "references": [["the oracle reads the document the end quotes"], ["all the references are near"]],
        "cover": [[[0], [1, 2]]],
        "lengths": [6, 5, 4],
        "vectors": {"sentences": [[1, 0], [1, 1], [0, 1]], "references": [[2, 1], [1, 2]]},
    }
)
"""A tiny topic that every formulation can use."""

_LIMIT_S: Final = 5.0
"""Time limit of the search of that topic, whatever the options say: what hangs there shall not hang long."""

_ANY: Final = "whatever the problem is"  # What a setup is `Setup.ready` for when this process is.

_ready: set[Options] = set()
"""What this process has been made ready for: a fact of the process, as the kernels that it has loaded are."""


def warm_up(setup: Setup) -> float:
    """Make a process ready for a search, and return the seconds it took; a second time costs nothing."""
    if is_ready(setup):  # quicker than a look at the options
        return 0.0
    small = _fitting(setup.options)
    seconds = 0.0 if small in _ready else _made_ready(setup, small)
    setup.ready.add(_ANY)
    return seconds


def is_ready(setup: Setup) -> bool:
    """Whether `warm_up` has nothing left to do."""
    return _ANY in setup.ready


@postponing()
def _made_ready(setup: Setup, small: Options) -> float:
    """Return the seconds that it took to make a process ready for the first time."""
    began = perf_counter()
    from optsum.problem import text_kernels  # small jobs need none of them
    from optsum.running.one_problem import answer
    from optsum.system.compiling import collected, compile_at_once  # small jobs compile nothing
    from optsum.system.two_at_once import compile_parts  # small jobs compile nothing

    if setup.options.elsewhere:  # those processes find on disk what this one compiles
        compile_at_once()
    interrupted = False
    unlimited = small.model_copy(update={"time_limit": None}) if setup.limits.time_s is None else None
    try:
        setup = setup_of(small)
        if setup.formulation.has_metric:
            compile_parts(collected(text_kernels.prepare))
        if not setup.ours or not setup.formulation.reads_topics:
            _try_parts(setup)
        else:
            compile_parts(collected(partial(_prepare, setup)))
            try:
                result = answer(SAMPLE, setup, began=began)
            except UnsupportedError:
                if unlimited is None:
                    raise
                result = answer(SAMPLE, setup_of(unlimited), began=began)  # its solver takes no limit
            interrupted = result.termination is Termination.INTERRUPTED
    except InputError:  # this formulation wants topics of another kind
        setup.strategy.prepare()
    except OptsumError:
        raise
    except (Exception, SystemExit):  # noqa: BLE001, S110 - whatever it is will be the row of each topic that it concerns
        pass
    if interrupted:  # the search has swallowed it, as a search does
        raise KeyboardInterrupt
    _ready.add(small)
    return perf_counter() - began


def _try_parts(setup: Setup) -> None:
    """Refuse what is not served, and get a strategy of ours ready by the smallest instance there is."""
    if setup.formulation.has_metric:
        setup.formulation.serves.check(setup.formulation.name, setup.spec)
    if is_ours(setup.strategy):
        tiny = _tiny(Sense.MAXIMIZE)
        with suppress(UnsupportedError):  # it may be made for others
            setup.strategy.accept(tiny)
            get_ready(tiny, setup.strategy, setup.options.bound)
            if setup.strategy.backend_name is not None:
                searched(tiny, setup.strategy, setup.limits, 0)


def _tiny(sense: Sense) -> CoverageProblem:
    limit = 1 if sense is Sense.MAXIMIZE else None
    return CoverageProblem.of(Coverage.of([1], [{0: 1}], [[1]], goal=sense, max_length=limit))


def _prepare(setup: Setup) -> None:
    """Let everything be prepared that a search of the tiny topic takes, or all there is if it is no topic for it."""
    from optsum.running.one_problem import build

    try:
        problem = build(SAMPLE, setup).problem
    except InputError:
        setup.strategy.prepare()
    else:
        get_ready(problem, setup.strategy, setup.options.bound)


def kernels_of(strategies: Iterable[str]) -> list[Part]:
    """Return what has to be called so that all kernels of some strategies are there, for all kinds of problems."""
    from optsum.coverage import climb
    from optsum.problem import text_kernels  # small jobs need none of them
    from optsum.running.all_optima import families
    from optsum.system.compiling import collected  # small jobs compile nothing

    chosen = [STRATEGIES.create(name.strip(), {}) for name in strategies]

    def prepare() -> None:
        text_kernels.prepare()
        climb.prepare()
        for strategy in chosen:
            strategy.prepare()
            if not strategy.exact:  # whose bounds the exact ones prove
                import_module(CERTIFICATE).prepare()
            if strategy.enumerates:
                families.prepare()

    return collected(prepare)


def refused(options: Options) -> bool:
    """Whether the strategy can search no topic under these options; a missing solver does not count."""
    from optsum.running.one_problem import build

    small = setup_of(_fitting(options))
    if not small.ours or not small.formulation.reads_topics:
        return False  # which only its own topics tell
    try:
        small.strategy.accept(build(SAMPLE, small).problem)
    except UnsupportedError:
        return True
    except OptsumError:
        pass  # whoever searches will say so
    return False


def unusable(options: Options) -> str | None:
    """Return why the strategy, with its solver, works on no topic here; None if it works."""
    setup = setup_of(options)
    try:
        warm_up(setup)
        if not setup.formulation.reads_topics:
            searched(_tiny(setup.formulation.sense), setup.strategy, setup.limits, 0)
    except OptsumError as error:
        return describe(error)
    return None


@lru_cache(maxsize=64)
def _fitting(options: Options) -> Options:
    """Return the options with limits that the tiny topic can be searched in."""
    limits = {
        "max_length": options.max_length and 1000,
        "min_length": 0,
        "time_limit": _LIMIT_S,
        # Whether there is a limit matters (not every solver takes each kind), its value does not.
        "node_limit": None if options.node_limit is None else 1000,
        "evaluation_limit": None if options.evaluation_limit is None else 1_000_000,
        "gap": None if options.gap is None else 0.0,
        "target": None,
        "references": "pooled" if options.references == "best" else options.references,
        "seed": 0,
        "workers": 1,
        "executor": "local",
        "scheduler": None,
        "memory_per_worker": None,
        "preset": None,
    }
    return options.model_copy(update=limits)
