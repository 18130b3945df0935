"""What an earlier run of a study has done, so that ``--resume`` does the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from optsum.errors import OptionError
from optsum.studies.base import Row, Study

__all__ = ["done_topics"]


def done_topics(output: str, study: Study) -> Callable[[Iterator[Row]], Callable[[Row], bool]]:
    """Return what looks at all rows of an output, and returns what says of each whether it stays.

    A topic is finished if all of its rows are there; each says in ``rows`` how many that are.

    Parameters
    ----------
    output : str
        The file, for messages.
    study : Study

    Raises
    ------
    OptionError
        From what is returned, if a row is of another study, or was made with other options or summaries.
    """
    options = study.config_hash  # of all summaries too, so it takes a moment

    def look(rows: Iterator[Row]) -> Callable[[Row], bool]:
        found: Counter[str] = Counter()
        wanted: dict[str, int] = {}
        for row in rows:
            if row.get("status") == "error":
                continue
            if row.get("study") != study.name or row.get("config_hash") != options:
                what = "with other options or summaries" if row.get("study") == study.name else "by something else"
                raise OptionError(
                    f"the output {output} was made {what}, so it cannot be resumed: give the same ones, "
                    "--overwrite, or another output"
                )
            found[row["id"]] += 1
            wanted[row["id"]] = row["rows"]
        return lambda row: row.get("status") != "error" and found[row["id"]] == wanted[row["id"]]

    return look
