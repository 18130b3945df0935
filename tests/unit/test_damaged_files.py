"""Check that files with damaged bytes are read or refused by a sentence: topics, tables, options, results, vectors."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsum
from optsum.contracts.result import Result
from optsum.options.options import resolve

ROOT = Path(__file__).resolve().parents[2]
TOPIC = {
    "id": "t1",
    "documents": [["a b c", "c d e", "a e"]],
    "references": [["a b c d"], ["c d"]],
    "parses": [],
    "cover": [[[0], [1, 2]]],
    "meta": {"constraints": {"require": [0]}},
}
PIECES = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b'"', b"'", b"{", b"}", b"[", b"]", b"]]]]", b",",
    b";", b"\t", b"=", b"<", b"</", b"&", b"\\u0000", b"\\ud800", b"null", b"true", b"-1", b"0", b"1e999", b"NaN",
    b"Infinity", b"9" * 30, b"9" * 5000, b"[" * 2000, b'{"a":' * 2000, b"\xf0\x9f\x98\x80", b"\xe2\x80\xa8",
    b"(", b"1/0", b"0x10",
)  # fmt: skip


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return the bytes with up to three places cut, doubled, changed or filled with bytes that break parsers."""
    for _ in range(rng.randint(1, 3)):
        start = rng.randint(0, len(data))
        end = min(len(data), start + rng.choice([0, 1, 1, 2, 8, 64]))
        piece = rng.choice([b"", rng.choice(PIECES), rng.choice(PIECES), rng.randbytes(2), data[start:end] * 2])
        data = data[:start] + piece + data[end:]
    return data[: rng.randint(0, len(data))] if rng.random() < 0.1 else data


def _lines(*rows: Any) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def _rows() -> bytes:
    topic = {name: value for name, value in TOPIC.items() if name not in {"parses", "meta"}}
    return _lines(*(optsum.solve(topic, max_length=4, strategy=one).to_row() for one in ("greedy", "exhaustive")))


def _optima(folder: Path) -> bytes:
    file = folder / "optima.npz"
    optsum.enumerate_optima({**TOPIC, "parses": None, "meta": {}}, max_length=4).save(file)
    return file.read_bytes()


def _vectors(folder: Path) -> bytes:
    file = folder / "vectors.npz"
    np.savez_compressed(file, **{"t1/sentences": np.eye(3), "t1/references": np.eye(2, 3)})
    return file.read_bytes()


def _search_vectors(path: Path) -> None:
    topic = {name: TOPIC[name] for name in ("id", "documents", "references")}
    optsum.solve(topic, metric="similarity", vectors=str(path), max_length=4, strategy="greedy")


def _read_rows(path: Path) -> None:
    for line in path.read_bytes().splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            Result.from_row(row)


def _solve(path: Path) -> None:
    for topic in optsum.read_topics(path, bad="keep"):
        if not isinstance(topic, optsum.BadTopic):
            optsum.solve(topic, max_length=3, strategy="greedy")


CONFIG = b'metric = "rouge-2"\nmax-length = 20\nstrategy = "vns"\n[strategy-options]\nk_max = 3\n'
RULES = b'extends = "ud"\n[[rule]]\nrelation = ["advmod"]\nlemma = ["only"]\naction = "MERGE"\n'
KINDS: dict[str, tuple[str, Callable[[Path], bytes], Callable[[Path], object]]] = {
    "topics": (".jsonl", lambda _: _lines(TOPIC, {**TOPIC, "id": "t2"}), _solve),
    "a list of topics": (".json", lambda _: json.dumps([TOPIC], indent=1).encode(), _solve),
    "a table": (".csv", lambda _: b'id,document,summary\n1,"a b. c d.",a b\n2,"x ""y"" z",x\n', _solve),
    "systems": (
        ".jsonl",
        lambda _: _lines({"id": "t1", "system": "s", "summary": ["a b"], "human": {"x": 1.5}}),
        lambda path: list(optsum.read_systems(path)),
    ),
    "options": (".toml", lambda _: CONFIG, lambda path: resolve({}, config=path)),
    "rules": (
        ".toml",
        lambda _: RULES,
        lambda path: optsum.parse_rules(path.read_text(encoding="utf-8", errors="replace")),
    ),
    "results": (".jsonl", lambda _: _rows(), _read_rows),
    "vectors": (".npz", _vectors, _search_vectors),
    "optima": (".npz", _optima, optsum.Optima.load),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_damaged_bytes_are_refused_by_a_sentence(kind: str, tmp_path: Path) -> None:
    suffix, made, read = KINDS[kind]
    data = made(tmp_path)
    path = tmp_path / f"file{suffix}"
    said: set[str] = set()
    for seed in range(150):
        path.write_bytes(damaged(random.Random(seed), data))  # noqa: S311
        try:
            read(path)
        except optsum.OptsumError as error:
            said.add(str(error))
        except Exception as error:
            error.add_note(f"{kind}, seed {seed}: {path.read_bytes()[:500]!r}")
            raise
    assert len(said) > 1
    assert "" not in said


@pytest.mark.parametrize("kind", list(KINDS))
def test_whole_files_are_read(kind: str, tmp_path: Path) -> None:
    suffix, made, read = KINDS[kind]
    path = tmp_path / f"file{suffix}"
    path.write_bytes(made(tmp_path))
    read(path)
