"""Rows as one HTML file: scripts, styles and data inside, and a policy that lets nothing else in."""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any, Final

from optsum._version import __version__
from optsum.contracts.result import Result
from optsum.errors import InputError, OptionError, visible
from optsum.report.page.chart import STYLES, drawn
from optsum.report.page.charts import GREEDY, charts_of
from optsum.report.page.gather import Gathered, Problem, gather
from optsum.report.page.overview import matrix_of, missing_strategy, ordered, sentences_of, table_of, tiles_of
from optsum.system.files import PathLike, describe_os_error

__all__ = ["checked_output", "page_of", "write_page"]

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
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        os.replace(part, path)  # noqa: PTH105
    except OSError as error:
        with suppress(OSError):
            part.unlink()
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


def blocks_of(problems: Iterable[Problem], gathered: Gathered) -> Iterator[str]:
    """Yield blocks of topics: JSON, compressed (raw deflate) and in base64, as a browser can unpack it by itself."""
    views = (_view(problem, gathered) for problem in problems)
    while block := list(islice(views, IN_BLOCK)):
        yield _packed(block)


def _packed(views: list[dict[str, Any]]) -> str:
    text = json.dumps(views, separators=(",", ":"), ensure_ascii=True)  # ASCII: half surrogate pairs survive
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b64encode(packer.compress(text.encode()) + packer.flush()).decode()


def _view(problem: Problem, gathered: Gathered) -> dict[str, Any]:
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
