"""Define the commands, except those in `optsum.cli.texts` and `optsum.cli.study`, which load more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument, Option

from optsum.cli.flags import (
    LISTED,
    Config,
    CsvSafe,
    Details,
    Files,
    Flags,
    Format,
    Limit,
    Map,
    NearFlags,
    Overwrite,
    Plot,
    ResumedFiles,
    Start,
    Topics,
    command,
    existing,
    named,
    offered,
    open_topics,
    output_or_pipe,
)
from optsum.cli.signals import DONE, FAILED, INTERRUPTED, Interrupts, failed, put, tell
from optsum.errors import OptionError, counted, either, unknown_name
from optsum.options.options import (
    OF_SEARCHES,
    OF_WORKERS,
    Options,
    ScoreOptions,
    described,
    resolve,
    resolve_score,
    schema,
    toml_of,
)
from optsum.registry import CERTIFICATE, DEFAULT_STRATEGY, STRATEGIES
from optsum.report.messages import advancing, bar, count_lines

if TYPE_CHECKING:
    from optsum.cli.loop import SearchLoop
    from optsum.contracts.result import Result
    from optsum.report.tables import Table


def _posed(files: Files, options: Mapping[str, Any], **own: Any) -> dict[str, Any]:
    """Return all options; if the input holds problems instead of topics, choose the formulation for problems."""
    from optsum.running.each_topic import posed

    return posed(files.topics, {**options, **own}, files.config, map=files.columns)[1]


def _search_loop(*given: Any, **how: Any) -> SearchLoop:
    from optsum.cli.loop import SearchLoop

    return SearchLoop(*given, **how)


def run_solve(
    files: ResumedFiles,
    options: Annotated[dict[str, Any], Flags(Options)],
    start: Start = None,
    details: Details = False,
) -> int:
    """Solve all topics of a file.

    On a terminal a table is printed; in a pipe, or with -o, the rows are written as JSON Lines.

    Recall needs a length limit: --max-length N, or a --preset. TOPICS has one topic on each line: {"id": ...,
    "documents": [[sentence, ...], ...], "references": [[sentence, ...], ...]}
    """
    from optsum.report.tables import results_table
    from optsum.running.each_topic import started
    from optsum.running.solve import solve_topics

    options = _posed(files, options)
    resolved, output = resolve(options, config=files.config), output_or_pipe(files.output)
    work = _search_loop(files, output, [resolved], sent=start is None)
    begun = partial(started, start=start, reading=resolved.reading)
    details = details and output is not None
    work.show(lambda source: solve_topics(begun(source), resolved, details=details), results_table)
    return work.status()


def run_context(
    files: ResumedFiles,
    options: Annotated[dict[str, Any], Flags(Options)],
    format_: Format = "text",
    details: Details = False,
) -> int:
    """Find the best contexts of all topics of a file.

    Prints a line for each topic: the budget, the used length, the supported and the missed claims, and the result of
    greedy selection; -o writes the rows.

    Equivalent to optsum solve --formulation cover with --max-length as the budget. TOPICS has one topic on each line:
    {"id": ..., "documents": [[passage, ...]], "supports": [[claim, ...], ...]}, where passages are not split. Lengths
    are tokens of --length-tokenizer, the topics' own "lengths", or words.
    """
    from optsum.report.tables import context_table, table_format
    from optsum.running.solve import context_topics, gives_lengths, resolve_context

    form = table_format(format_)
    resolved = resolve_context(options, lengths_given=gives_lengths(files.topics), config=files.config)
    work = _search_loop(files, files.output, [resolved])
    table_of = partial(context_table, options=resolved)
    work.show(lambda source: context_topics(source, resolved, details=details), table_of, form)
    return work.status()


def run_enumerate(
    files: ResumedFiles,
    options: Annotated[dict[str, Any], Flags(Options, without={"strategy"})],
    near: NearFlags,
    strategy: Annotated[str | None, named("strategies", "branch-and-bound or exhaustive [branch-and-bound]")] = None,
    max_solutions: Annotated[
        int, Option(metavar="N", min=0, help="largest number of sets listed in a row, the best first; all are counted")
    ] = 100,
    count_only: Annotated[bool, Option("--count-only", help="count the sets, and list none")] = False,
    minimal: Annotated[bool, Option("--minimal", help="list only sets that contain no other")] = False,
    diverse: Annotated[int, Option(metavar="K", min=0, help="list K sets that differ much")] = 0,
    sample: Annotated[int, Option(metavar="K", min=0, help="list K sets drawn at random, with replacement")] = 0,
    details: Details = False,
) -> int:
    """Enumerate the optima of all topics of a file.

    Gives a row for each topic: the number of optima, the first of them, the units in all and in none of them.

    The count is exact, and complete unless a limit was reached. With --within, --at-least, --within-steps or --best all
    near-optimal selections are counted, for at most 10 seconds a topic unless --time-limit is given. Sets contain units
    of the problem; a sentence that can add nothing is not a unit. TOPICS is as for optsum solve.
    """
    from optsum.report.tables import near_table, optima_table
    from optsum.running.enumerate import enumerate_topics, resolve_enumeration

    nearness = near.nearness()
    options = _posed(files, options)
    resolved = resolve_enumeration({**options, "strategy": strategy}, nearness, config=files.config)
    listed = 0 if count_only else max_solutions
    shape = {"max_solutions": listed, "minimal": minimal, "sample": sample, "diverse": diverse}
    other = partial(_other_enumerate, nearness=nearness, shape=shape)
    work = _search_loop(files, output_or_pipe(files.output), [resolved], other=other)

    def table_of(results: list[Result]) -> Table:
        table = optima_table(results) if nearness is None else near_table(results)
        table.caption += [] if count_only or files.output else ["-o FILE writes the sets"]
        return table

    work.show(lambda source: enumerate_topics(source, resolved, nearness, details=details, **shape), table_of)
    status, late = work.status(), work.counts.ended["time limit"]
    if late and status == DONE:
        what = f"{counted(late, 'count')} of sets {'is a lower limit' if late == 1 else 'are lower limits'}"
        ended = f"the search ended after {resolved.time_limit:g} s; give more with --time-limit"
        tell(f"{what}: {ended}", DONE)
    return status


def _other_enumerate(row: Mapping[str, Any], nearness: object, shape: Mapping[str, int]) -> str | None:
    """Return a flag that had another value when a row was made, among flags outside the hash of options; or None."""
    if "count" not in row:  # an error
        return None
    if row.get("near") != (None if nearness is None else str(nearness)):
        return "--within, --at-least, --within-steps or --best"
    if shape["minimal"] != (row.get("minimal_count") is not None):
        return "--minimal"
    count = row["minimal_count"] if shape["minimal"] else row["count"]
    for name, flag in {"optima": "max_solutions", "sample": "sample", "diverse": "diverse"}.items():
        sets, wanted = row.get(name), shape[flag]
        if name == "sample" and sets and count:
            fits = len(sets) == wanted
        elif name != "optima" and not row.get("complete"):
            fits = not sets
        else:
            fits = not sets if not wanted else sets is not None and len(sets) == min(count, wanted)
        if not fits:
            return f"--{flag.replace('_', '-')}"
    return None


def run_frontier(
    files: ResumedFiles,
    options: Annotated[dict[str, Any], Flags(Options, without={"strategy"})],
    strategy: Annotated[str | None, named("strategies", "an exact strategy [branch-and-bound]")] = None,
    lengths: Annotated[
        str | None,
        Option(
            metavar="FROM:TO:STEP|N,N",
            help="maximum lengths [all up to --max-length, or to the maximum length of a problem]",
        ),
    ] = None,
    optima: Annotated[bool, Option("--optima", help="count all optima at each step")] = False,
    greedy: Annotated[bool, Option(help="add the value of greedy search")] = True,
    details: Annotated[bool, Option("--details", help="include texts in the rows, for optsum report")] = False,
    format_: Format = "text",
    plot: Plot = None,
) -> int:
    """Compute the frontiers of all topics of a file.

    Gives a row for each topic: the best value at every length, each step proven, and the value of greedy search.

    An optimum that is shorter than its limit is also the optimum of all limits in between, so that all lengths up to N
    take little more than one search for each step. If --time-limit (for all lengths of a topic together) is reached
    first, the remaining lengths have a band: the best known value and a proven bound. TOPICS is as for optsum solve.
    """
    from optsum.report.figures import checked_plot, plot_frontier
    from optsum.report.tables import frontier_table, steps_table, table_format
    from optsum.running.frontier import differing, frontier_topics, resolve_frontier

    form = table_format(format_)
    plot_path = None if plot is None else checked_plot(plot)
    options = _posed(files, options)
    resolved, found = resolve_frontier({**options, "strategy": strategy}, lengths, config=files.config)

    other = partial(differing, lengths=found, optima=optima, greedy=greedy)
    work = _search_loop(files, files.output, [resolved], other=other, where=" at the largest length")
    how: dict[str, Any] = {"optima": optima, "greedy": greedy, "details": details}
    results = work.show(
        lambda source: frontier_topics(source, resolved, found, **how),
        lambda shown: steps_table(shown[0]) if len(shown) == 1 and shown[0].frontier else frontier_table(shown),
        form,
    )
    if plot_path is not None and results:
        plot_frontier(results, plot_path, resolved.length_unit)
    return work.status()


@dataclass(frozen=True, kw_only=True)
class LabelFiles(ResumedFiles):
    """Files of the command labels, whose output may be a folder."""

    output: Annotated[
        str | None,
        Option(
            "--output",
            "-o",
            metavar="FILE|DIR/",
            help="rows: .jsonl, .csv or .parquet; DIR/ for a folder that Hugging Face datasets can load",
        ),
    ] = None


def run_labels(
    files: LabelFiles,
    options: Annotated[dict[str, Any], Flags(Options, without={"strategy"})],
    near: NearFlags,
    strategy: Annotated[
        str | None, named("strategies", "how to search [auto; branch-and-bound with --soft or --all]")
    ] = None,
    soft: Annotated[
        bool, Option("--soft", help="add the share of optima that contain each sentence, and their number")
    ] = False,
    all_: Annotated[
        int, Option("--all", metavar="K", min=0, help="add the labels of up to K optima, the best first")
    ] = 0,
    diverse: Annotated[
        bool, Option("--diverse", help="choose optima that differ much, instead of the first K")
    ] = False,
    weighted: Annotated[
        bool, Option("--weighted", help="weight each selection by its objective in the shares")
    ] = False,
    format_: Annotated[
        str | None,
        Option("--format", metavar="bertsum|datasets", help="format of the output, if its name does not determine it"),
    ] = None,
    card: Annotated[
        str | None,
        Option(
            "--card", metavar="FILE.md", help="also write a data card: how the labels were made, and their signature"
        ),
    ] = None,
) -> int:
    """Label all topics of a file.

    Gives a row for each topic: its sentences as they were searched, and a label of 0 or 1 for each.

    Raw text is split once, so that labels never shift. --soft adds the share of optima that contain each sentence, and
    --all K the labels of K optima; with --within and similar flags, both are over near-optimal selections. TOPICS is as
    for optsum solve.
    """
    from optsum.corpus.row_files import format_of_labels
    from optsum.exchange.labels import LabelFields, label_card, label_result, label_row, label_topics, resolve_labels
    from optsum.report.page.write import checked_output, save

    output = files.output or "-"
    form = format_of_labels(output, format_)
    fields = LabelFields(soft, all_, diverse, form.kind == "bertsum", near.nearness(), weighted)
    options = _posed(files, options, strategy=strategy)
    resolved = resolve_labels(options, fields, config=files.config)
    how: dict[str, Any] = {"other": fields.differing, "row_of": label_row, "result_of": label_result, "sent": True}
    own_form = form if form.kind in {"bertsum", "datasets"} else None
    work = _search_loop(files, output, [resolved], form=own_form, **how)
    place = None if card is None else checked_output(card, overwrite=files.overwrite, inputs=[files.topics])
    for _ in work.run(lambda source: label_topics(source, resolved, fields)):
        pass
    if place is not None and not work.interrupted:
        flags = {"soft": soft, "all": all_, "diverse": diverse, "weighted": weighted, "format": format_}
        given = {**{name: value or None for name, value in flags.items()}, **vars(near)}
        save(place, label_card(resolved, files.topics, work.counts, fields, output, given))
    if output != "-" and not work.interrupted:
        put(work.summary())
    return work.status()


def run_compare(
    files: ResumedFiles,
    options: Annotated[dict[str, Any], Flags(Options, without={"strategy", "time_limit"})],
    strategies: Annotated[
        str | None,
        named("strategies", "strategies to compare (optsum list strategies) [greedy,lead,random]", "NAME,NAME"),
    ] = None,
    exact: Annotated[
        str | None, named("strategies", "strategy that computes the optima, or none [one of --strategies, or auto]")
    ] = None,
    details: Annotated[
        bool,
        Option(
            "--details",
            help="also show spread, quantiles, wins and times; include texts and optima in the rows, for optsum report",
        ),
    ] = False,
    backends: Annotated[
        str | None,
        named(
            "backends",
            "solvers to compare (optsum list backends), or usable for all that work here; milp is run on each",
            "NAME,NAME",
        ),
    ] = None,
    time_limit: Annotated[
        str | None, Option(metavar="X[,X]", help="seconds of search per problem, or several to compare")
    ] = None,
    seeds: Annotated[
        str | None, Option(metavar="FIRST:END|N,N", help="seeds for heuristics; 0:10 means ten [that of --seed]")
    ] = None,
    exact_time_limit: Annotated[
        float | None, Option(metavar="X", help="seconds of search per problem for --exact, instead of --time-limit")
    ] = None,
    start: Start = None,
    format_: Format = "text",
    plot: Plot = None,
) -> int:
    """Compare strategies on all topics of a file.

    Prints a table, one line for each strategy; -o writes the rows of all runs.

    The ratio is objective / optimum (the other way round when minimizing; 1 if both are 0). The strategy of --exact
    computes the optima, even if it is not listed; with --exact none, ratios are lower limits, computed from the best
    bound. --backends highs,cbc,glpk compares solvers of milp, and --backends usable all that work here; options of one
    are given as --backend-option highs.presolve=off. With --time-limit 0.1,1,10 every strategy is run with each limit.
    """
    from optsum.report.comparison import Comparison, by_problem, compare_topics, plan_of
    from optsum.report.figures import checked_plot, plot_comparison
    from optsum.report.tables import put_tables, table_format
    from optsum.running.each_topic import started

    form = table_format(format_)
    plot_path = None if plot is None else checked_plot(plot)
    options = _posed(files, options, time_limit=time_limit)
    plan = plan_of(
        strategies, exact, backends, seeds=seeds, exact_time_limit=exact_time_limit, config=files.config, **options
    )
    begun = partial(started, start=start, reading=plan.variants[0].reading)
    work = _search_loop(files, files.output, plan.variants)
    table = Comparison(plan, keep_results=False)
    looked_at = details and files.output is not None
    for results in work.run(lambda source: compare_topics(begun(source), plan, details=looked_at)):
        for problem in by_problem(work.results_in(results)):
            table.add(problem)
    if files.output != "-" and (table.problems or not work.interrupted):
        put_tables([*table.tables(), *(table.details.tables() if details else [])], form)
    if plot_path is not None and table.problems:
        plot_comparison(table, plot_path)
    return max(work.status(), FAILED if table.contradictions else 0)


def run_export(
    topics: Topics,
    options: Annotated[dict[str, Any], Flags(Options, without=OF_SEARCHES)],
    format: Annotated[str, Option("--format", metavar="lp|mps|wcnf|json", help="format of the files")] = "lp",  # noqa: A002
    output: Annotated[str | None, Option("--output", "-o", metavar="DIR", help="folder of the files")] = None,
    columns: Map = None,
    limit: Limit = None,
    config: Config = None,
) -> int:
    """Export all problems of a file.

    Writes a file for each problem, named by its id, for other programs.

    optsum import-solution reads their answers.

    The formats lp and mps hold the integer program, wcnf (covers only) the MaxSAT instance, and json the normal form of
    every objective.
    """
    from optsum.exchange.solver_files import export_topics
    from optsum.running.each_topic import posed

    if output is None:
        raise OptionError("An export needs a folder to write to: give --output DIR.")
    resolved = resolve(posed(topics, options, config, map=columns)[1], config=config)
    written, failures = 0, []
    for made in export_topics(open_topics(topics, columns, resolved.reading, limit), output, format, resolved):
        written += made.path is not None
        failures += [] if made.error is None else [f"{made.id or '?'}: {made.error}"]
    put(f"{counted(written, 'file')} in {output}")
    if failures:
        return failed(f"{counted(len(failures), 'problem')} could not be written", len(failures), failures[0])
    return DONE


def run_import_solution(
    files: ResumedFiles,
    solutions: Annotated[str, Argument(metavar="SOLUTIONS", help="folder of solution files, or one file")],
    options: Annotated[dict[str, Any], Flags(Options, without=OF_SEARCHES)],
) -> int:
    """Import the solutions of other programs.

    SOLUTIONS is a folder with a solution file for each exported problem, or the file of the only problem.

    Files have the names of the exported ones with another ending (.sol, .soln, .out, .raw, .txt). They were written by
    CBC, GLPK, HiGHS, SCIP, Gurobi, CPLEX or a MaxSAT solver, or have a name and a value on each line. The other options
    must be those of the export.

    Every solution is scored again, and counts as optimal only if it attains a bound that optsum proves.
    """
    from optsum.exchange.solver_files import import_topics
    from optsum.report.tables import results_table

    options = _posed(files, options)
    resolved = resolve(options, config=files.config)
    work = _search_loop(files, output_or_pipe(files.output), [resolved])
    work.show(lambda source: ([result] for result in import_topics(source, solutions, resolved)), results_table)
    return work.status()


def run_score(
    files: Files,
    systems: Annotated[
        str,
        Argument(
            metavar="SYSTEMS",
            help="a file of summaries: JSON Lines, CSV, or text with one summary on each line; or a folder "
            "SYSTEM/TOPIC.txt",
        ),
    ],
    options: Annotated[dict[str, Any], Flags(ScoreOptions)],
    format_: Format = "text",
) -> int:
    """Score all summaries of a file.

    Prints the means of each system, and correlations if there are human scores. -o writes a row for each summary.

    TOPICS is as for optsum solve. SYSTEMS holds one summary a line: {"topic_id": ..., "system": ..., "summary":
    [sentence, ...], "human": {name: number}}; an extract may have "selection", a list of sentence numbers, instead.
    """
    from optsum.report.tables import put_tables, table_format

    resolved, form = resolve_score(options, config=files.config), table_format(format_)

    from optsum.cli.loop import Loop
    from optsum.corpus.topics import systems_read
    from optsum.report.system_scores import SystemScores, score_rows

    scores = SystemScores(resolved)
    of_topics = open_topics(files.topics, files.columns, resolved.reading)
    of_systems = systems_read(systems, resolved.reading)
    with Loop(files, files.output, [systems, resolved.stopwords]) as loop:
        for rows in loop.iterate(score_rows(of_topics, of_systems, scores, files.limit)):
            scores.add(rows)
            for row in rows:
                loop.write(row, row["error"])
            loop.advance()
    if files.output != "-" and not loop.interrupted:
        put_tables(scores, form)
    done = f"{counted(scores.summaries, 'summary')} scored"
    return loop.status(done, f"{counted(loop.errors, 'summary')} could not be scored")


def run_report(
    rows: Annotated[
        list[str], Argument(metavar="ROWS|DIR...", help="files of rows, or folders of runs; - for standard input")
    ],
    output: Annotated[str, Option("--output", "-o", metavar="FILE.html", help="the page")],
    title: Annotated[str, Option(metavar="TEXT", help="heading of the page")] = "",
    overwrite: Overwrite = False,
) -> int:
    """Write rows as one HTML file.

    Rows made with --details (optsum compare, solve, run) show texts: the choice of every strategy, all optima, and the
    covered n-grams.

    ROWS are files as -o writes them, in any format; the page needs no server and no network.
    """
    from optsum.corpus.row_files import is_run_folder, read_rows
    from optsum.experiments import status, warn_of_missing
    from optsum.report.page.write import checked_output, write_page

    checked_output(output, overwrite=overwrite, inputs=rows)
    for folder in filter(is_run_folder, rows):
        warn_of_missing(status(folder), folder)
    with bar("rows", lambda: count_lines(*rows)) as advance:
        read = chain.from_iterable(map(read_rows, rows))
        write_page(advancing(read, advance), output, title=title, overwrite=overwrite)
    put(f"{output} ({Path(output).stat().st_size / 1e6:.1f} MB)")
    return DONE


def run_run(
    experiment: Annotated[str, Argument(metavar="EXPERIMENT", help="TOML file: topics, options and a grid")],
    folder: Annotated[str, Argument(metavar="DIR", help="folder of the run")],
    options: Annotated[dict[str, Any], Flags(Options, without=set(Options.model_fields) - set(OF_WORKERS))],
    resume: Annotated[bool, Option("--resume", help="continue an existing run")] = False,
    shard: Annotated[
        str | None, Option(metavar="I/N", help="the I-th of N shares of the topics, for arrays of jobs")
    ] = None,
    limit: Limit = None,
    details: Annotated[
        bool, Option("--details", help="include text, options and all optima in rows, for optsum report")
    ] = False,
) -> int:
    """Start a run over a corpus, or continue it.

    EXPERIMENT.toml names topics and options; all combinations of the lists of values in [grid] are searched.

    DIR stores the configuration, versions and every row as soon as it is computed. After a crash, Ctrl-C, a full disk
    or a reboot, --resume continues the run. To get the rows: optsum merge DIR -o rows.parquet.
    """
    from optsum.corpus.row_files import is_run_folder
    from optsum.experiments import carry_out, in_words, said_of_errors, status

    how: dict[str, Any] = {"resume": resume, "shard": shard, "limit": limit, "details": details}
    try:
        carry_out(experiment, folder, options, iterate=partial(Interrupts().iterate, parallel=True), **how)
    except KeyboardInterrupt:
        if not is_run_folder(folder):
            raise
        put(in_words(status(folder)))
        return tell(f"interrupted; --resume continues {folder}", INTERRUPTED)
    put(in_words(now := status(folder)))
    return tell(said_of_errors(now), FAILED) if now.failed else DONE


def run_status(
    folder: Annotated[str, Argument(metavar="DIR", help="folder of a run")],
    as_json: Annotated[bool, Option("--json", help="print one JSON object, for programs")] = False,
) -> int:
    """Show the progress of a run.

    Prints how many topics are done or failed, the speed and the time left, also during the run.
    """
    from optsum.experiments import in_words, said_of_errors, status

    found = status(folder)
    if as_json:
        put(json.dumps(found.to_json(), ensure_ascii=False))
        return DONE
    for line in [in_words(found), *([said_of_errors(found)] if found.failed else []), *found.doubts]:
        put(line)
    return DONE


def run_merge(
    folders: Annotated[list[str], Argument(metavar="DIR...", help="folders of runs")],
    output: Annotated[str, Option("--output", "-o", metavar="DIR|FILE", help="a folder, or a file of rows")],
    overwrite: Overwrite = False,
    csv_safe: CsvSafe = False,
) -> int:
    """Merge runs.

    -o names a folder, which becomes a run itself, or a file of rows: .jsonl, .csv or .parquet.

    Rows are ordered by topic, then by the cells of the grid, whichever process searched them.
    """
    from optsum.corpus.row_files import RowWriter, stored_rows
    from optsum.experiments import in_words, merge, warn_of_missing

    if output != "-" and not Path(output).suffix:
        put(in_words(merged := merge(folders, output)))
        return FAILED if merged.doubts else DONE
    with RowWriter(output, existing=existing(overwrite), csv_safe=csv_safe, derived=True) as rows:
        written = 0
        # Beside the output, because there is room for the rows.
        with TemporaryDirectory(dir=None if output == "-" else Path(output).parent, prefix=".optsum-") as place:
            merged = merge(folders, Path(place) / "run")
            for row in stored_rows(merged.folder):
                rows.write(row)
                written += 1
    if output != "-":
        put(f"{counted(written, 'row')} in {output}")
    warn_of_missing(merged, "standard output" if output == "-" else output)
    return FAILED if merged.doubts else DONE


SUBCOMMANDS: Final = {
    "show": "Print the options that a search would use, as a file of options.",
    "schema": "Print the JSON schema of a file of options.",
}


def subcommand(name: str) -> tuple[Callable[..., int], str]:
    """Return the function of a subcommand of `optsum config`, and its help.

    A file of options is TOML with the names of the flags, without the dashes; --config FILE reads it.
    """
    runs: dict[str, Callable[..., int]] = {"show": _show_config, "schema": _show_schema}
    run = runs[name]
    return command(run), f"{SUBCOMMANDS[name]}\n\n{run.__doc__}"


def _show_config(options: Annotated[dict[str, Any], Flags(Options)], config: Config = None) -> int:
    """Defaults, preset, file and flags are merged as for optsum solve; invalid combinations are refused."""
    resolved = resolve(options, config=config)
    fields = type(resolved).model_fields
    put(toml_of(described(resolved), {name: fields[name].description or "" for name in fields}).rstrip("\n"))
    return DONE


def _show_schema() -> int:
    """Editors can check a file of options against it; names may have underscores instead of hyphens."""
    put(json.dumps(schema(), indent=2, ensure_ascii=False))
    return DONE


def run_list(
    kind: Annotated[str, Argument(metavar="KIND", autocompletion=offered(LISTED), help=either(LISTED))],
) -> int:
    """List the available strategies, solvers, presets and so on.

    Solvers are tested on a tiny problem, so that "usable" means that they work here.
    """
    from optsum.report.listing import LISTS

    kind = "backends" if kind == "solvers" else kind
    if kind not in LISTS:
        raise unknown_name("list", kind, LISTS)
    LISTS[kind]().show()
    return DONE


def run_warm_up(
    strategy: Annotated[str | None, named("strategies", "strategies that will be used [auto]", "NAME,NAME")] = None,
    all_: Annotated[bool, Option("--all", help="all strategies")] = False,
) -> int:
    """Compile kernels.

    Kernels are compiled when they are first needed, which takes seconds, and cached on disk. This command compiles them
    now.

    The cache is NUMBA_CACHE_DIR if that is set, else beside the sources if that folder is writable, else the user's
    cache folder. Each kind of processor has its own.
    """
    from numba import config

    from optsum.report.tables import seconds
    from optsum.system.compiled import compile_at_once
    from optsum.system.parallel_compile import compile_parts

    if strategy is not None and all_:
        raise OptionError("Name strategies with --strategy, or warm up all with --all: leave out one of the two.")
    names = list(STRATEGIES.builtin) if all_ else (strategy or DEFAULT_STRATEGY).split(",")
    compile_at_once(optional=True)
    parts = kernels_of(names)
    with bar("kernels", lambda: len(parts)) as advance:
        began = perf_counter()
        compile_parts(parts, advance)
    where = f"kept in {config.CACHE_DIR}" if config.CACHE_DIR else "cached beside the sources, or in your cache folder"
    put(f"kernels of {', '.join(names)} are ready after {seconds(perf_counter() - began)}; {where}")
    return DONE


def kernels_of(strategies: Iterable[str]) -> list[Callable[[], object]]:
    from optsum.contracts.strategy import Strategy
    from optsum.coverage.greedy import prepare_climb
    from optsum.problem.objective import prepare_text
    from optsum.running.each_topic import prepare_together
    from optsum.running.enumerate import prepare_families
    from optsum.system.compiled import collected

    chosen = [STRATEGIES.create(name.strip(), {}) for name in strategies]

    def prepare() -> None:
        prepare_text()
        prepare_climb()
        if any(type(strategy).prove_extracts is not Strategy.prove_extracts for strategy in chosen):
            prepare_together()
        for strategy in chosen:
            strategy.prepare()
            if not strategy.exact:  # a heuristic's bound needs more kernels
                import_module(CERTIFICATE).prepare()
            if strategy.enumerates:
                prepare_families()

    return collected(prepare)
