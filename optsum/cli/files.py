"""The flags of every command that goes through a file of topics and writes rows, and the pass that they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optsum.cli.flags import Config, Output, Overwrite, Resume, existing
from optsum.cli.topics import Limit, Map, Topics
from optsum.options.options import Options

if TYPE_CHECKING:
    from optsum.cli.each_topic import EachTopic


@dataclass(frozen=True)
class Files:
    """The file of topics that a command reads, and the file of its rows; each field is a flag."""

    topics: Topics
    output: Output = None
    resume: Resume = False
    overwrite: Overwrite = False
    columns: Map = None
    limit: Limit = None
    config: Config = None

    def each_topic(self, output: str | None, ways: Sequence[Options], **how: Any) -> EachTopic:
        """Return the pass over the topics.

        Parameters
        ----------
        output : str or None
            Where rows are written, as the command understands its ``--output``.
        ways : sequence of Options
            All that a topic is searched with; they have the same stop words.
        **how
            As for `optsum.cli.each_topic.EachTopic`.

        Raises
        ------
        OptsumError
            At once, if a file cannot be used.
        """
        from optsum.cli.each_topic import EachTopic

        return EachTopic(
            self.topics,
            self.columns,
            output,
            inputs=[self.config, ways[0].stopwords],
            ways=ways,
            existing=existing(self.overwrite, self.resume),
            limit=self.limit,
            **how,
        )
