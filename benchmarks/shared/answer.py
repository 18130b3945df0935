"""Answer one way of a row for each line of standard input, in a process that measure.py starts."""

from __future__ import annotations

import json
import logging
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout, suppress
from io import StringIO
from itertools import islice, pairwise
from math import inf
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import optsum

ANSWERS = {"optimal", "infeasible"}


def topics_of(path: Path) -> Iterator[optsum.Topic]:
    """Yield the topics of a file, which must all be usable."""
    for topic in optsum.read_topics(path):
        assert isinstance(topic, optsum.Topic), topic
        yield topic


def aligned(data: Path, name: str) -> Iterator[Any]:
    """Yield the topics of a data set with covers of their references: as annotated, or aligned by words."""
    marked = data / name / "alignments.jsonl"
    given = {"alignments": str(marked)} if name == "dbs" else {}
    for topic in optsum.align(data / name / "topics.jsonl", **given):
        if isinstance(topic, optsum.Topic) and any(topic.cover or ()):
            yield topic


def made_up_covers(number: int) -> Iterator[dict[str, Any]]:
    """Yield topics with 1,000 sentences, and 60 abstract sentences with 1 to 8 alternatives of 1 to 4 sentences."""
    for seed in range(number):
        rng = random.Random(seed)
        cover = [
            [sorted(rng.sample(range(1000), rng.randint(1, 4))) for _ in range(rng.randint(1, 8))] for _ in range(60)
        ]
        documents = [[" ".join(["w"] * (1 + unit % 5)) for unit in range(1000)]]
        yield {"id": f"made-up-{seed}", "documents": documents, "cover": cover}


def joined_documents(data: Path, least: int) -> Iterator[Any]:
    """Yield GUM documents with their parses, joined until they have at least the given number of sentences.

    The k-th of four references joins the k-th references of the documents; a single document keeps its own.
    """
    folder = data / "gum"
    group: list[dict[str, Any]] = []
    rows = [json.loads(line) for line in (folder / "topics.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows if least == 1 else sorted(rows, key=lambda row: row["id"]):
        group.append(row)
        if sum(len(document) for one in group for document in one["documents"]) < least:
            continue
        references = group[0]["references"]
        if least > 1:
            references = [
                [sentence for one in group for sentence in one["references"][k % len(one["references"])]]
                for k in range(4)
            ]
        yield {
            "id": group[0]["id"],
            "documents": [document for one in group for document in one["documents"]],
            "references": references,
            "meta": {"conllu": [str((folder / "conllu" / one["meta"]["conllu"]).resolve()) for one in group]},
        }
        group = []


def source_of(data: Path, name: str) -> Iterable[Any]:
    """Return the topics of a source: a data set, or topics derived from data sets."""
    kind, _, rest = name.partition("+")
    if rest in {"types", "context"}:
        from shared.vectors import with_vectors

        return with_vectors(list(topics_of(data / kind / "topics.jsonl")), rest)
    if rest == "aligned":
        return aligned(data, kind)
    if rest == "parses":
        return joined_documents(data, 220 if kind == "gum4" else 1)
    if kind == "made-up covers":
        return made_up_covers(5)
    if kind in {"duc-2004", "duc-2006"}:
        from shared.synthetic import DUC_2004, DUC_2006, synthetic_topics

        return synthetic_topics(data, DUC_2004 if kind == "duc-2004" else DUC_2006, 50)
    return topics_of(data / kind / "topics.jsonl")


def of_result(ms: float, result: Any) -> tuple[Any, ...]:
    """Return the measurements of a result."""
    return ms, result.objective_exact, str(result.status.value) in ANSWERS, result.gap, None


def solved(topic: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    began = process_time()
    try:
        result = optsum.solve(topic, **options)
    except optsum.OptsumError:  # such as a topic that shares no n-gram with its references
        return 1e3 * (process_time() - began), None, True, None, None
    return of_result(1e3 * (process_time() - began), result)


def enumerated(topic: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    began = process_time()
    try:
        found = optsum.enumerate_optima(topic, **options)
    except optsum.OptsumError:
        return 1e3 * (process_time() - began), None, True, None, None
    return 1e3 * (process_time() - began), None, found.complete, None, found.count


def at_every_length(topic: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    began = process_time()
    optsum.frontier(topic, greedy=False, **options)
    return 1e3 * (process_time() - began), None, True, None, None


def at_lengths(topic: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    """Search each length separately."""
    began = process_time()
    others = {name: value for name, value in options.items() if name not in {"lengths", "max_length"}}
    for length in options["lengths"]:
        optsum.solve(topic, max_length=length, **others)
    return 1e3 * (process_time() - began), None, True, None, None


def of_file(path: Path, options: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield each topic of a file that is solved in one call, with the mean time of all topics."""
    began = process_time()
    found = list(optsum.solve_all(path, **options))
    for result in found:
        assert result.error is None, result.error
        result.to_row()
    ms = 1e3 * (process_time() - began) / len(found)
    yield from (of_result(ms, result) for result in found)


def many_topics(path: Path, topics: int, folder: str) -> Path:
    """Write a number of topics of a file, repeated with new ids."""
    lines = path.read_text(encoding="utf-8").splitlines()
    many = (lines[n % len(lines)].replace('"id": "', f'"id": "{n}-', 1) for n in range(topics))
    given = Path(folder, "topics.jsonl")
    given.write_text("\n".join(many), encoding="utf-8")
    return given


def labelled(path: Path, options: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the mean time of 3,000 topics with `optsum labels`, without the time to start and to end."""
    from optsum.cli import main

    took = []
    for topics in (1000, 4000):
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
            given = many_topics(path, topics, folder)
            began = process_time()
            assert main(["labels", str(given), *flags(options), "-o", f"{folder}/rows.jsonl"]) == 0
            took.append(1e3 * (process_time() - began))
    yield (took[1] - took[0]) / 3000, None, True, None, None


def flags(options: dict[str, Any]) -> list[str]:
    """Return options as flags of the command line."""
    return [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]


def commanded(path: Path, options: dict[str, Any], row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the time of a whole command in a separate process: CPU time, or wall-clock time if requested.

    ``cold``: with an empty cache of kernels.
    """
    with tempfile.TemporaryDirectory() as folder:
        given = many_topics(path, row.get("topics", 1), folder)
        command = [sys.executable, "-P", "-m", "optsum", "solve", str(given), *flags(options)]
        environment = {key: value for key, value in os.environ.items() if key not in {"OPTSUM_PATIENCE", "PYTHONPATH"}}
        environment |= {"PYTHONDONTWRITEBYTECODE": ""} | ({"NUMBA_CACHE_DIR": folder} if row.get("cold") else {})
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        subprocess.run([*command, "-o", f"{folder}/rows"], check=True, env=environment, stdout=subprocess.DEVNULL)
        wall, after = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        yield 1e3 * (wall if row.get("wall") else cpu), None, True, None, None


def f1(summary: set[Any], reference: set[Any]) -> float:
    if not summary or not reference:
        return 0.0
    hits = len(summary & reference)
    precision, recall = hits / len(summary), hits / len(reference)
    return 2 * precision * recall / (precision + recall + 1e-8)


def greedy_choice(words: list[str], tokens: list[list[str]], most: int = 3) -> list[int]:
    """Return the sentences in the order in which PreSumm's greedy selection takes them (Liu & Lapata 2019).

    It adds the sentence that increases the sum of the set-based ROUGE-1 and ROUGE-2 F1 most, and stops when none does.
    This is an independent implementation of that description.
    """
    reference_1, reference_2 = set(words), set(pairwise(words))
    sets_1 = [set(sentence) for sentence in tokens]
    sets_2 = [set(pairwise(sentence)) for sentence in tokens]
    chosen: list[int] = []
    best = 0.0
    for _ in range(most):
        following = -1
        for number in range(len(tokens)):
            if number in chosen:
                continue
            candidate = [*chosen, number]
            ones: set[str] = set().union(*(sets_1[each] for each in candidate))
            twos: set[tuple[str, str]] = set().union(*(sets_2[each] for each in candidate))
            value = f1(ones, reference_1) + f1(twos, reference_2)
            if value > best:
                best, following = value, number
        if following < 0:
            break
        chosen.append(following)
    return chosen


def guesses(topics: list[Any]) -> Callable[[], list[tuple[Any, ...]]]:
    """Return PreSumm's greedy selection for given tokens, without a proof."""
    analyzer = optsum.Analyzer("presumm")
    given = [(analyzer.joined_tokens(t.references[0]), list(map(analyzer.tokens, t.sentences))) for t in topics]

    def run() -> list[tuple[Any, ...]]:
        began = process_time()
        for words, tokens in given:
            greedy_choice(words, tokens)
        return [(1e3 * (process_time() - began) / len(given), None, False, None, None)] * len(given)

    return run


def way_of(data: Path, row: dict[str, Any]) -> Callable[[], list[tuple[Any, ...]]]:
    """Return the function that answers a row."""
    options, ask, path = row["options"], row["ask"], data / row["source"] / "topics.jsonl"
    if ask == "file":
        return lambda: list(of_file(path, options))
    if ask == "labels":
        return lambda: list(labelled(path, options))
    if ask == "command":
        return lambda: list(commanded(path, options, row))
    found = source_of(data, row["source"])
    topics = [
        topic
        for topic in map(optsum.as_topic, islice(found, row.get("topics")))
        if topic.id in row.get("only", {topic.id})
    ]
    if ask == "guess":
        return guesses(topics)
    question = {
        "solve": solved,
        "enumerate": enumerated,
        "frontier": at_every_length,
        "lengths": at_lengths,
    }[ask]
    return lambda: [question(topic, options) for topic in topics]


def main() -> None:
    logging.getLogger("optsum").setLevel(logging.ERROR)
    data, row = Path(sys.argv[1]), json.loads(sys.argv[2])
    for kernel in ("search_extracts", "number_words", "number_apart"):
        _compiled_from_the_first_topic(kernel)
    answer = way_of(data, row)
    if row["ask"] != "command" and row.get("warm", True):
        with suppress(Exception):  # the error will be reported in the measurement
            answer()
    for _ in sys.stdin:
        try:
            said: Any = answer()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this row's
            said = f"{type(error).__name__}: {error}"
        print(json.dumps(said), flush=True)


def _compiled_from_the_first_topic(name: str) -> None:
    """Compile the kernel for several topics at once, as after many topics."""
    with suppress(ImportError, AttributeError):
        from optsum.solvers import few_units

        from optsum.system.compiled import patience
        from optsum.text import word_kernel

        patience.taken[getattr(few_units, name, None) or getattr(word_kernel, name)] = inf


if __name__ == "__main__":
    main()
