"""From rows as JSON Lines to the other formats, a row or a few hundred in memory at a time."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import IO, Any, TypeAlias, cast

from optsum.corpus.formats.tables import CSV_SAFE, JSON_COLUMNS, is_run, quoted
from optsum.corpus.rows.formats import RowFormat

_BATCH = 256
_EXACT = 1 << 53
"""Whole numbers up to here are exact as floating point."""

Kind: TypeAlias = "str | tuple[str, Any]"
"""What a Parquet column holds: "null", "bool", "int", "long", "float", "str", "json", or a list: ("list", kind)."""


def convert(rows: Path, output: Path, form: RowFormat, *, csv_safe: bool = False) -> str:
    """Write the rows of a JSON Lines file in another format, and return what is to be said of them, if anything.

    Parameters
    ----------
    rows : path
        UTF-8, each line an object.
    output : path
        Replaced if it exists.

    Raises
    ------
    OSError
        If the output cannot be written.
    """
    to_file = {"parquet": _to_parquet, "bertsum": _to_bertsum, "datasets": _to_datasets}.get(form.kind)
    if to_file is not None:
        to_file(rows, output)
        return ""
    with ExitStack() as stack:
        stream = _packed(output, form.packing, stack)
        if form.kind == "jsonl":
            copyfileobj(stack.enter_context(rows.open("rb")), stream)
        else:
            return _to_csv(rows, stream, csv_safe)
    return ""


def _packed(output: Path, packing: str, stack: ExitStack) -> IO[bytes]:
    if packing == ".gz":
        return cast("IO[bytes]", stack.enter_context(gzip.open(output, "wb")))
    stream = stack.enter_context(output.open("wb"))
    if packing == ".zst":
        import zstandard

        return cast("IO[bytes]", stack.enter_context(zstandard.ZstdCompressor().stream_writer(stream, closefd=False)))
    return stream


def _read(rows: Path) -> Iterator[dict[str, Any]]:
    with rows.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


# CSV.


class _Lines:
    """Ends lines by a line feed, where `csv` was told of both signs so that it quotes cells that hold either."""

    def __init__(self, text: TextIOWrapper) -> None:
        self._text = text

    def write(self, line: str) -> None:
        self._text.write(line.removesuffix("\r\n") + "\n")


def _to_csv(rows: Path, stream: IO[bytes], safe: bool) -> str:
    names = list(dict.fromkeys(name for row in _read(rows) for name in row))  # each where it was first seen
    if not names:
        return ""
    text = TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")  # half surrogate pairs
    writer = csv.writer(_Lines(text), lineterminator="\r\n")
    writer.writerow([*map(quoted, names), CSV_SAFE] if safe else names)
    risky = next((f"the column {name!r:.40}" for name in names if is_run(name)), "")
    for number, row in enumerate(_read(rows), start=1):
        cells = [_cell(row.get(name)) for name in names]
        if safe:
            writer.writerow([*map(quoted, cells), "true"])
            continue
        writer.writerow(cells)
        if not risky:
            risky = next(
                (f"{name} of row {number}" for name, cell in zip(names, cells, strict=True) if is_run(cell)), ""
            )
    text.flush()
    text.detach()
    return risky and (
        f"cells begin with = + - @ or a tab, which spreadsheets run as formulas (the first: {risky}); --csv-safe "
        "writes an apostrophe before them"
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# Parquet.


def _to_parquet(rows: Path, output: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds: dict[str, Kind] = {}
    for row in _read(rows):
        for name, value in row.items():
            kinds[name] = _common(kinds.get(name, "null"), _kind(value))
    names = {JSON_COLUMNS: json.dumps([name for name, kind in kinds.items() if kind == "json"])}
    schema = pa.schema([(name, _arrow(kind, pa)) for name, kind in kinds.items()], names)
    put: dict[str, Callable[[Any], Any]] = {name: _text if kind == "json" else _clean for name, kind in kinds.items()}
    with pq.ParquetWriter(output, schema) as writer:
        read = _read(rows)
        while batch := list(islice(read, _BATCH)):
            columns = {name: [put[name](row.get(name)) for row in batch] for name in kinds}
            writer.write_table(pa.table(columns, schema=schema))


def _kind(value: Any) -> Kind:
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int():
            if -_EXACT <= value <= _EXACT:
                return "int"
            return "long" if -(1 << 63) <= value < 1 << 63 else "json"
        case float():
            return "float"
        case str():
            return "str"
        case list():
            inner: Kind = "null"
            for item in value:
                inner = _same(inner, _kind(item))
            return "json" if inner == "json" else ("list", inner)
    return "json"


def _common(one: Kind, other: Kind) -> Kind:
    """Return what can hold the values of two rows; JSON text where nothing else does."""
    return "float" if {one, other} == {"int", "float"} else _same(one, other)


def _same(one: Kind, other: Kind) -> Kind:
    """Return what can hold two items of a list, each as what it is."""
    if one == other or other == "null":
        return one
    if one == "null":
        return other
    if isinstance(one, tuple) and isinstance(other, tuple):
        inner = _same(one[1], other[1])
        return "json" if inner == "json" else ("list", inner)
    return "long" if {one, other} == {"int", "long"} else "json"


def _arrow(kind: Kind, pa: Any) -> Any:
    if isinstance(kind, tuple):
        return pa.list_(_arrow(kind[1], pa))
    plain = {"null": pa.null(), "bool": pa.bool_(), "int": pa.int64(), "long": pa.int64(), "float": pa.float64()}
    return plain.get(kind, pa.string())


def _text(value: Any) -> str | None:
    return None if value is None else _clean(_json(value))


def _clean(value: Any) -> Any:
    """Return a value without half surrogate pairs, which Arrow refuses."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return [_clean(item) for item in value] if isinstance(value, list) else value


# Labels as the JSON that the preprocessing of BertSum and PreSumm reads.


def bertsum_record(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the record of a row of labels, None for one without any.

    Liu & Lapata 2019 (Text Summarization with Pretrained Encoders): ``format_to_bert`` reads a list of ``{"src":
    [[token, ...], ...], "tgt": [[token, ...], ...]}`` and labels it by greedy search; here stand ``"labels"`` beside
    them, for which that search need not be run. Tokens are the blank-separated words of the sentences; BERT's tokenizer
    goes on from there. The summary is the first reference.

    Examples
    --------
    >>> row = {"id": "t", "sentences": ["A cat .", "Rain"], "labels": [1, 0], "references": [["Cats ."]], "status": "x"}
    >>> bertsum_record(row)
    {'id': 't', 'src': [['A', 'cat', '.'], ['Rain']], 'tgt': [['Cats', '.']], 'labels': [1, 0]}
    """
    if row.get("labels") is None or not row.get("references"):
        return None
    return {
        "id": row.get("id"),
        "src": [sentence.split() for sentence in row["sentences"]],
        "tgt": [sentence.split() for sentence in row["references"][0]],
        "labels": row["labels"],
    }


def _to_bertsum(rows: Path, output: Path) -> None:
    """Write a list, a record in memory at a time; rows without labels are left out."""
    with output.open("w", encoding="utf-8", errors="replace") as file:
        before = "["
        for record in filter(None, map(bertsum_record, _read(rows))):
            file.write(f"{before}\n{json.dumps(record, ensure_ascii=False)}")
            before = ","
        file.write("\n]\n" if before == "," else "[]\n")


# A folder of Hugging Face `datasets`, which ``datasets.load_from_disk`` reads.


def _to_datasets(rows: Path, output: Path) -> None:
    import datasets

    datasets.disable_progress_bars()
    # Beside the output: there is room for the result, so there is for this.
    with TemporaryDirectory(dir=output.parent, prefix=f".{output.name}-") as folder:
        table = Path(folder) / "rows.parquet"
        _to_parquet(rows, table)
        datasets.Dataset.from_parquet(str(table), cache_dir=folder).save_to_disk(str(output))
