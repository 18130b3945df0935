"""Compare every strategy on random topics and options with the optimum found from the text alone (`plain_oracle`).

``python tests/support/fuzz.py --runs 10000 --first 1000000`` runs until it has compared 10,000 answers, with seeds that
the tests do not use. It prints each wrong answer, and exits with status 1 if there is any.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from plain_oracle import Plain, least_cover, length_of, tokens_of, value_of
from plain_topics import (
    compressive_options,
    compressive_topic,
    cover_topic,
    extract_options,
    extract_topic,
    with_sides,
)
from trying import Truth

import optsum
from optsum.running import one_problem as warm

EXACT = ("exhaustive", "branch-and-bound", "milp", "auto")
HEURISTIC: dict[str, tuple[str, ...]] = {
    "greedy": (),
    "greedy+ls": (),
    "vns": ("no_improvement=5",),
    "vns+greedy": ("no_improvement=5",),
    "genetic": ("population=6", "no_improvement=2"),
    "genetic+greedy": ("population=6", "no_improvement=2"),
    "lead": (),
    "random": (),
    "greedy-rows": (),
    "vns-paper": ("iterations=20",),
}
SCORED = ("rouge-1", "rouge-2", "rouge-3", "rouge-su0", "rouge-su1", "rouge-su4", "rouge-l")


@cache
def backends() -> tuple[str, ...]:
    """Return the usable backends other than HiGHS."""
    return tuple(
        name for name in optsum.BACKENDS.names()
        if name != "highs" and optsum.BACKENDS.create(name, {}).available().usable
    )  # fmt: skip


class Fuzz:
    """Run random cases; `answers` counts the answers of the package by strategy or backend.

    Parameters
    ----------
    folder : Path
        The folder in which files of stop words are written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: Counter[str] = Counter()

    # Cases: each makes a topic and options from a seed.

    def extract(self, seed: int, *, sides: bool = False) -> None:
        """Check extracts of whole sentences, with side constraints or without."""
        rng = random.Random(seed)  # noqa: S311
        tokens = not sides and rng.random() < 0.15
        topic = extract_topic(rng, tokens=tokens)
        own = extract_options(rng, topic, tokens=tokens)
        while sides and own["metric"] == "rouge-l":
            own = extract_options(rng, topic, tokens=tokens)
        if sides:
            topic = with_sides(rng, topic, own)
        options, plain = self.given(own), Plain(topic, own)
        with Told("extract", seed, topic, own):
            truth = self.strategies(rng, topic, options, plain, 3)
            if options["references"] != "best":
                self.enumeration(topic, options, plain, truth)
            if not sides:
                self.orders(topic, options, truth)

    def compression(self, seed: int, *, sides: bool = False) -> None:
        """Check compressions of parsed sentences."""
        rng = random.Random(seed)  # noqa: S311
        topic, trimmed, profile = compressive_topic(rng)
        options = compressive_options(rng, topic, profile)
        if sides:
            topic = with_sides(rng, topic, options)
        plain = Plain(topic, options, trimmed)
        with Told("compression", seed, topic, options):
            truth = self.strategies(rng, topic, options, plain, 3)
            if options["references"] != "best" and not sides:
                self.near_enumeration(topic, options, plain, truth)
            if not sides:
                self.whole_sentences(topic, options, truth)
                if truth.best is not None:
                    wider = self.solved(topic, {**options, "max_length": options["max_length"] + 2}, "exhaustive")
                    assert wider is not None
                    assert exact_of(wider) >= truth.best

    def cover(self, seed: int) -> None:
        """Check the fewest, or shortest, sentences that support an abstract."""
        rng = random.Random(seed)  # noqa: S311
        topic, options = cover_topic(rng)
        sentences = topic["documents"][0]
        weight = {
            unit: len(text.split()) if options["weights"] == "length" else 1 for unit, text in enumerate(sentences)
        }
        named = {unit for sets in topic["cover"] for one in sets for unit in one}
        truth = least_cover(topic["cover"], {unit: weight[unit] for unit in named})
        assert truth.best is not None
        heuristics = [name for name in HEURISTIC if not name.endswith(("-rows", "-paper"))]
        with Told("cover", seed, topic, options):
            for strategy in (*EXACT, *rng.sample(heuristics, 3)):
                result = self.solved(topic, options, strategy)
                assert result is not None
                check_cover(result, topic, weight, truth, proven=strategy in EXACT)
            self.by_another_solver(rng, topic, options, lambda one: check_cover(one, topic, weight, truth, proven=True))
            for strategy in ("exhaustive", "branch-and-bound"):
                for near in ({}, {"within": 0}):
                    optima = self.enumerated(topic, {**options, **near}, strategy)
                    assert optima is not None
                    assert set(optima) == truth.optima, (strategy, near)

    def score(self, seed: int) -> None:
        """Check the scores of some sentences by each measure."""
        rng = random.Random(seed)  # noqa: S311
        topic = extract_topic(rng, tokens=False)
        sentences = [sentence for document in topic["documents"] for sentence in document]
        chosen = rng.sample(sentences, rng.randint(1, len(sentences)))
        metric = rng.choice(SCORED)
        options: dict[str, Any] = {"tokenizer": rng.choice(["rouge", "blank", "unicode", "presumm"])}
        mode = rng.choice(["pooled", "mean", "best"])
        if metric != "rouge-l":
            options["counts"] = rng.choice(["clipped", "set"])
            options["boundaries"] = rng.choice(["joined", "sentence"])
            if options["boundaries"] == "sentence" and rng.random() < 0.3:
                options["model_units"] = "sentences"
        with Told("score", seed, topic, {"chosen": chosen, "metric": metric, "references": mode, **options}):
            texts = [tokens_of(one, options) for one in chosen]
            references = [[tokens_of(one, options) for one in reference] for reference in topic["references"]]
            measures = ("recall",) if "model_units" in options else ("recall", "precision", "f1")
            for measure in measures:  # the precision of model units is not defined
                self.answers["score"] += 1
                asked = {**options, "metric": metric, "measure": measure, "references": mode}
                score = optsum.rouge(
                    chosen,
                    topic["references"],
                    metric,
                    references_mode=mode,
                    best_by=measure,
                    last_unigram=True,
                    **options,
                )
                assert score.exact(measure) == value_of(texts, references, asked), measure

    # Questions to the package, and checks of its answers.

    def given(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options as the package takes them, with the stop words in a file."""
        options = dict(options)
        if dropped := options.pop("dropped", None):
            path = self.folder / "stopwords.txt"
            path.write_text("\n".join(dropped), encoding="utf-8")
            options["stopwords"] = str(path)
        return options

    def solved(self, topic: dict[str, Any], options: dict[str, Any], strategy: str) -> optsum.Result | None:
        """Return the result of a strategy, or None where it does not serve the objective."""
        own = HEURISTIC.get(strategy, ())
        try:
            result = optsum.solve(topic, **options, strategy=strategy, strategy_options=own, seed=3)
        except optsum.UnsupportedError:
            return None
        self.answers[options.get("backend") or strategy] += 1
        return result

    def enumerated(self, topic: dict[str, Any], options: dict[str, Any], strategy: str) -> optsum.Oracles | None:
        """Return all optima, or None where the strategy does not serve the objective."""
        try:
            optima = optsum.enumerate_optima(topic, **options, strategy=strategy)
        except optsum.UnsupportedError:
            assert strategy == "branch-and-bound"
            return None
        self.answers["enumerate"] += 1
        assert optima.complete, (strategy, options, optima.termination)
        assert optima.count == len(set(optima))
        return optima

    def strategies(
        self, rng: random.Random, topic: dict[str, Any], options: dict[str, Any], plain: Plain, heuristics: int
    ) -> Truth:
        """Compare every exact strategy and some heuristics with the optimum of brute force, and return that."""
        truth = plain.truth()
        for strategy in EXACT:
            result = self.solved(topic, options, strategy)
            assert result is not None or strategy not in {"exhaustive", "auto"}, "these serve everything"
            if result is not None:
                check_exact(result, plain, truth)
        for strategy in rng.sample(list(HEURISTIC), heuristics):
            result = self.solved(topic, options, strategy)
            if result is not None:
                check_heuristic(result, plain, truth)
        cut = self.solved(topic, {**options, "node_limit": 1}, "branch-and-bound")
        if cut is not None:
            check_heuristic(cut, plain, truth)
        self.by_another_solver(rng, topic, options, lambda one: check_exact(one, plain, truth))
        return truth

    def by_another_solver(
        self, rng: random.Random, topic: dict[str, Any], options: dict[str, Any], check: Callable[[optsum.Result], None]
    ) -> None:
        """In a fifth of the cases, ask a backend other than HiGHS; an objective that it does not serve is skipped."""
        if rng.random() < 0.2 and backends():
            try:
                result = self.solved(topic, {**options, "backend": rng.choice(backends())}, "milp")
            except optsum.BackendError as error:
                if "cbc crashed" in str(error):  # CBC 2.10.8 crashes with presolve off
                    return
                raise
            if result is not None and not (result.solver_failed and "cbc crashed" in str(result.detail)):
                check(result)

    def enumeration(self, topic: dict[str, Any], options: dict[str, Any], plain: Plain, truth: Truth) -> None:
        """Check that the optima are all sets of participating sentences that reach the best value."""
        if truth.best is None or truth.best == 0 or options.get("boundaries") == "joined":
            return  # the package may choose the sentences that take part if 0 is best or n-grams cross their ends
        units = plain.units()
        wanted = {chosen for chosen in truth.optima if units.issuperset(chosen)}
        for strategy in ("exhaustive", "branch-and-bound"):
            for near in ({}, {"within": 0}):
                optima = self.enumerated(topic, {**options, **near}, strategy)
                assert optima is None or set(optima) == wanted, (strategy, near)

    def near_enumeration(self, topic: dict[str, Any], options: dict[str, Any], plain: Plain, truth: Truth) -> None:
        """Check the optima of compressions, whose participating chunks the package may choose.

        All ways to enumerate find the same sets; each of these is optimal, and each optimum contains one of them.
        """
        if truth.best is None or truth.best == 0:
            return
        found: set[tuple[Any, ...]] | None = None
        for strategy in ("exhaustive", "branch-and-bound"):
            for near in ({}, {"within": 0}):
                optima = self.enumerated(topic, {**options, **near}, strategy)
                if optima is None:
                    continue
                sets = {tuple(sorted(chosen)) for chosen in optima}
                assert found is None or sets == found, (strategy, near)
                found = sets
        assert found
        assert found <= truth.optima

    def orders(self, topic: dict[str, Any], options: dict[str, Any], truth: Truth) -> None:
        """Check that a larger length is never worse, and that n-grams across sentence ends never lower recall."""
        if truth.best is None:
            return
        if options.get("max_length") is not None:
            wider = self.solved(topic, {**options, "max_length": options["max_length"] + 3}, "exhaustive")
            assert wider is not None
            assert exact_of(wider) >= truth.best
        recall = options.get("measure", "recall") == "recall" and options.get("model_units") != "sentences"
        if recall and options["metric"] in {"rouge-1", "rouge-2"} and "boundaries" not in options:
            joined = self.solved(topic, {**options, "boundaries": "joined"}, "exhaustive")
            assert joined is not None
            assert exact_of(joined) >= truth.best

    def whole_sentences(self, topic: dict[str, Any], options: dict[str, Any], truth: Truth) -> None:
        """Check that the best compression is at least as good as the best extract."""
        extract = {name: value for name, value in options.items() if name not in {"formulation", "chunk_profile"}}
        result = self.solved(topic, extract, "exhaustive")
        assert result is not None
        if result.selection is not None:
            assert truth.best is not None
            assert truth.best >= exact_of(result)


class Told:
    """Add the case to an exception, so that it can be repeated."""

    def __init__(self, *case: Any) -> None:
        self.case = case

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            error.add_note(f"case: {self.case}")


def exact_of(result: optsum.Result) -> Fraction:
    """Return the objective as an exact number."""
    assert result.objective_exact is not None
    return Fraction(result.objective_exact)


def check_exact(result: optsum.Result, plain: Plain, truth: Truth) -> None:
    """Check that an exact strategy has proven the best value, or that nothing is feasible."""
    asked = (result.strategy, result.backend, result.detail)
    if truth.best is None:
        assert result.status == "infeasible", asked
        return
    assert result.status == "optimal", asked
    assert result.selection is not None
    assert exact_of(result) == truth.best == plain.value(result.selection), asked
    assert plain.fits(result.selection), asked
    check_text(result, plain)


def check_text(result: optsum.Result, plain: Plain) -> None:
    """Check that the summary consists of the selected sentences and has the stated length."""
    if not plain.trimmed and result.summary is not None:
        texts = [plain.sentences[number] for number in result.selection or ()]
        assert result.length == sum(length_of(text, plain.unit) for text in texts), result.strategy
        assert list(result.summary) == texts or not isinstance(texts[0], str), result.strategy


def check_heuristic(result: optsum.Result, plain: Plain, truth: Truth) -> None:
    """Check a heuristic: its selection is feasible and has the stated value, and its bound is not below the optimum."""
    if truth.best is None:
        assert result.selection is None, result.strategy
        return
    if result.bound_exact is not None:
        assert Fraction(result.bound_exact) >= truth.best, result.strategy
    if result.selection is None:
        assert result.status == "no_solution", result.strategy
        return
    assert plain.fits(result.selection), result.strategy
    assert exact_of(result) == plain.value(result.selection) <= truth.best, result.strategy
    check_text(result, plain)
    if result.status == "optimal":
        assert exact_of(result) == truth.best, result.strategy


def check_cover(
    result: optsum.Result, topic: dict[str, Any], weight: dict[int, int], truth: Truth, *, proven: bool
) -> None:
    """Check that a cover covers everything and has the stated length, and that no bound is above the minimum."""
    assert truth.best is not None
    if result.bound_exact is not None:
        assert Fraction(result.bound_exact) <= truth.best, result.strategy
    if result.selection is None:
        assert result.status == "no_solution"
        assert result.strategy in {"lead", "random"}
        return
    value = sum(weight[unit] for unit in result.selection)
    assert exact_of(result) == value >= truth.best, result.strategy
    assert all(any(set(one) <= set(result.selection) for one in sets) for sets in topic["cover"]), result.strategy
    if proven:
        assert result.status == "optimal", (result.strategy, result.backend, result.detail)
    if result.status == "optimal":
        assert value == truth.best, result.strategy


def cases(fuzz: Fuzz) -> Sequence[Callable[[int], None]]:
    """Return the kinds of cases, each a function of a seed."""
    return (
        fuzz.extract, fuzz.compression, fuzz.cover, fuzz.score,
        lambda seed: fuzz.extract(seed, sides=True), lambda seed: fuzz.compression(seed, sides=True),
    )  # fmt: skip


def main(arguments: Iterable[str] | None = None) -> int:
    """Run cases until there are enough answers."""
    parser = argparse.ArgumentParser(description="Random topics against brute force.")
    parser.add_argument("--runs", type=int, default=10_000, help="answers")
    parser.add_argument("--first", type=int, default=1_000_000, help="the first seed")
    asked = parser.parse_args(None if arguments is None else list(arguments))
    failed = 0
    warm._made_ready = lambda *_: 0.0  # options differ in each case: warming up for each of them would double the work
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder))
        ways, seed = cases(fuzz), asked.first
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C prints the counts so far
            while fuzz.answers.total() < asked.runs:
                for way in ways:
                    try:
                        way(seed)
                    except Exception as error:  # noqa: BLE001 - any failure is counted, and the next case is tried
                        failed += 1
                        print(
                            f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ()), sep="\n", flush=True
                        )
                seed += 1
    print(f"{fuzz.answers.total()} answers, seeds {asked.first} to {seed - 1}, {failed} cases failed:")
    print(dict(fuzz.answers.most_common()))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
