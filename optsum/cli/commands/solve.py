"""On a terminal a table is printed; in a pipe, or with -o, the rows are written, one JSON object a line.

Recall needs a length limit: --max-length N, or a --preset. TOPICS holds one topic a line: {"id": ..., "documents":
[[sentence, ...], ...], "references": [[sentence, ...], ...]}
"""

from __future__ import annotations

from typing import Any

from optsum.cli.flags import Config, Details, Flags, Output, Overwrite, Resume, existing, output_or_pipe
from optsum.cli.topics import Limit, Map, Topics
from optsum.options.options import Options

FLAGS = Flags(Options)


def run(
    topics: Topics,
    options: dict[str, Any],
    output: Output = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    details: Details = False,
    columns: Map = None,
    limit: Limit = None,
    config: Config = None,
) -> int:
    """Solve all topics of a file."""
    from optsum.cli.each_topic import EachTopic
    from optsum.options.options import resolve
    from optsum.report.tables.results import results_table
    from optsum.running.topics import solve_topics

    resolved, output = resolve(options, config=config), output_or_pipe(output)
    looked_at = details and output is not None
    work = EachTopic(
        topics,
        columns,
        output,
        inputs=[config, resolved.stopwords],
        ways=[resolved],
        existing=existing(overwrite, resume),
        limit=limit,
    )
    return work.show(lambda source: solve_topics(source, resolved, details=looked_at), results_table)
