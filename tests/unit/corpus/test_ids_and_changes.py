"""Test colliding ids, topics that change while they are read, and plug-ins that fail."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import numpy as np
import pytest

import optsum
from optsum.cli import main
from optsum.corpus.topic import as_topic, read_vectors
from optsum.errors import InputError

TOPIC = {"documents": [["a b", "b c"]], "references": [["a b c"]]}
ARRAYS = {"sentences": np.eye(2), "references": np.ones((1, 2))}


def topic(name: str) -> optsum.Topic:
    return as_topic({"id": name, **TOPIC})


def test_ids_that_name_the_same_file_of_vectors_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a_b.npz", **ARRAYS)
    assert read_vectors(topic("a_b"), str(tmp_path)).vectors is not None
    for name in ("a/b", "a\\b", "../a_b", "A_B", "a_b ", "..", "x" * 5000, "a\u0000b"):
        with pytest.raises(InputError):
            read_vectors(topic(name), str(tmp_path))
    held = {f"{name}/{key}": array for name in ("a/b", "a_b") for key, array in ARRAYS.items()}
    np.savez(tmp_path / "all.npz", **held)
    for name in ("a/b", "a_b"):
        assert read_vectors(topic(name), str(tmp_path / "all.npz")).vectors is not None


def test_arrays_of_other_names_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "all.npz", **{f"{name}/{key}": array for name in ("a", "a/b") for key, array in ARRAYS.items()})
    assert read_vectors(topic("a"), str(tmp_path / "all.npz")).vectors is not None
    np.savez(tmp_path / "a.npz", **ARRAYS, sentences_weights=[1.0])
    with pytest.raises(InputError, match="there are no vectors named 'sentences_weights'"):
        read_vectors(topic("a"), str(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_holds_no_vectors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"id": name, **TOPIC}) + "\n" for name in "ab"))
    files = [str(tmp_path / "t.jsonl"), "--vectors", str(tmp_path / "pipe")]
    assert main(["solve", *files, "--max-length", "3", "--metric", "similarity"]) == 1
    assert f"there are no vectors of the topic: {tmp_path / 'pipe'} is no npz file" in capsys.readouterr().err


def test_ids_that_name_the_same_export_are_refused(tmp_path: Path) -> None:
    from optsum.exchange.solver_files import file_stem

    names = ["a/b", file_stem("a/b"), "a_b", "A_B", "..", "x" * 200, "x" * 201]
    made = optsum.export([{"id": name, **TOPIC} for name in names], tmp_path, max_length=3)
    refused = [each.id for each in made if each.error is not None]
    assert refused == [file_stem("a/b")]
    paths = [str(each.path).lower() for each in made if each.path is not None]
    assert len(set(paths)) == len(paths) == len(names) - 1


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.csv"])
@pytest.mark.parametrize("lazily", [True, False])
def test_topics_rewritten_during_a_search_are_reported(
    name: str, lazily: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / name
    rows = [{"id": f"t{number}", **TOPIC} for number in range(3)]
    text = {
        "t.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "t.json": json.dumps(rows),
        "t.csv": "id,documents,references\n" + "".join(f"{row['id']},a b,a\n" for row in rows),
    }[name]
    for rewritten in (False, True):
        path.write_text(text)
        caplog.clear()
        with caplog.at_level(logging.WARNING, "optsum"):
            found = optsum.solve_all(path, max_length=2, strategy="lead") if lazily else optsum.read_topics(path)
            for number, _ in enumerate(found):
                if rewritten and not number:
                    path.write_text(text.replace("a b", "c d"))
        assert caplog.text.count("changed while it was") == rewritten


def test_a_plug_in_that_exits_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.jsonl").write_text("".join(json.dumps({"id": name, **TOPIC}) + "\n" for name in "ab"))
    for number, error in enumerate(("SystemExit(0)", "SystemExit('bye')", "GeneratorExit", "BaseException('odd')")):
        Path("own.py").write_text(f"raise {error}\n")
        Path(f"own_{number}.py").write_text(
            "import optsum\n"
            "class Own(optsum.Strategy):\n"
            "    name = 'own'\n"
            "    about = 'exits'\n"
            f"    def search(self, run): raise {error}\n"
        )
        assert main(["solve", "t.jsonl", "--max-length", "3", "--strategy", "own.py:Own", "-o", "-"]) == 2
        assert "cannot be imported" in capsys.readouterr().err
        Path("own.py").unlink()
        status = main(["solve", "t.jsonl", "--max-length", "3", "--strategy", f"own_{number}.py:Own", "-o", "-"])
        said = capsys.readouterr()
        assert status == 1, error
        assert said.err.strip(), error
        assert [json.loads(line)["status"] for line in said.out.splitlines()] == ["error", "error"]


ODD = """
import signal
import optsum

class Odd(optsum.Problem):
    def evaluate(self, units):
        {evaluate}
        return optsum.Evaluation(len(units))

def made():
    {made}
    return [Odd(lengths=(1, 1, 1), max_length=2)] * 2
"""


@pytest.mark.parametrize(
    ("made", "evaluate", "status", "said"),
    [
        ("raise GeneratorExit", "", 2, "does not make problems: GeneratorExit()"),
        ("raise SystemExit(3)", "", 2, "does not make problems: SystemExit(3)"),
        ("raise KeyboardInterrupt", "", 130, "interrupted"),
        ("", "raise GeneratorExit", 1, "GeneratorExit in evaluate, odd.py:"),
        ("", "raise BaseException('a panic')", 1, "BaseException (a panic) in evaluate, odd.py:"),
        ("", "raise KeyboardInterrupt", 130, "interrupted"),
        ("", "try: signal.raise_signal(signal.SIGINT)\n        except BaseException: 1 / 0", 130, "interrupted"),
    ],
)
def test_any_exception_of_a_problem_is_one_sentence(
    made: str, evaluate: str, status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "odd.py"
    place.write_text(ODD.format(made=made or "pass", evaluate=evaluate))
    assert main(["solve", f"{place}:made", "--strategy", "exhaustive", "-o", str(tmp_path / "rows.jsonl")]) == status
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err
