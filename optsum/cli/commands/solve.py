"""On a terminal a table is printed; in a pipe, or with -o, the rows are written, one JSON object a line.

Recall needs a length limit: --max-length N, or a --preset. TOPICS holds one topic a line: {"id": ..., "documents":
[[sentence, ...], ...], "references": [[sentence, ...], ...]}
"""

from __future__ import annotations

from functools import partial
from typing import Any

from optsum.cli.flags import Details, Files, Flags, Start, output_or_pipe
from optsum.options.options import Options, resolve

FLAGS = Flags(Options)


def run(files: Files, options: dict[str, Any], start: Start = None, details: Details = False) -> int:
    """Solve all topics of a file."""
    from optsum.cli.each_topic import EachTopic
    from optsum.report.tables.results import results_table
    from optsum.running.posed import posed, started
    from optsum.running.topics import solve_topics

    _, options = posed(files.topics, options, files.config)
    resolved, output = resolve(options, config=files.config), output_or_pipe(files.output)
    looked_at = details and output is not None
    work = EachTopic(files, output, [resolved])
    begun = partial(started, start=start, reading=resolved.reading)
    return work.show(lambda source: solve_topics(begun(source), resolved, details=looked_at), results_table)
