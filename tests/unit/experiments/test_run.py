"""Test runs of a grid: resuming, refused changes, and shards."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from timeless import timeless

import optsum
from optsum.cli import main
from optsum.corpus.row_files import read_rows
from optsum.experiments import merge
from optsum.options import options

TOPIC = {"documents": [["a b", "b c", "a c d", "d"]], "references": [["a b c"], ["c d"]]}


def write(names: str, path: str = "topics.jsonl") -> None:
    Path(path).write_text("".join(json.dumps({"id": name, **TOPIC}) + "\n" for name in names))


def experiment(**changed: Any) -> dict[str, Any]:
    return {"topics": "topics.jsonl", "strategy": "lead", "grid": {"max_length": [2, 4]}, **changed}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("abcde")
    return tmp_path


HERE = ThreadPoolExecutor(1)
"""What searches, where no test is about processes: they would be started anew for each folder."""


def run(folder: str = "run", given: Any = None, **how: Any) -> optsum.RunStatus:
    return optsum.run(given or experiment(), folder, progress=False, **{"executor": HERE, **how})


def rows(folder: str = "run") -> list[dict[str, Any]]:
    return list(read_rows(folder))


def without(folder: str, condition: str) -> None:
    """Delete rows, as if a run had been killed before it wrote them."""
    with closing(sqlite3.connect(Path(folder) / "rows.sqlite")) as database, database:
        database.execute(f"DELETE FROM rows WHERE {condition}")  # noqa: S608 - of this test


def test_each_of_several_solvers_has_its_own_options() -> None:
    tables = [{"name": "highs", "options": {"presolve": "off"}}, {"name": "highs"}, {"name": "pyomo:highs"}]
    given = experiment(strategy=None, backends=tables, grid={"max_length": [2, 4], "strategy": ["milp", "lead"]})
    done = run(given=given)
    assert (done.done, done.failed) == (5 * (3 + 1) * 2, 0)
    found = {(row["strategy"], row["backend"], str(row["backend_options"])) for row in rows()}
    assert found == {
        ("milp", "highs", "{'presolve': 'off'}"), ("milp", "highs", "{}"), ("milp", "pyomo:highs", "{}"),
        ("lead", None, "{}"),
    }  # fmt: skip
    assert run(given=given, resume=True).done == done.done
    Path("again.toml").write_text((Path("run") / "config.toml").read_text())
    assert run("run", "again.toml", resume=True).done == done.done, "what is kept of a run reads back to the same"
    Path("own.toml").write_text('topics = "topics.jsonl"\nmax-length = 4\n[[backends]]\nname = "highs"\n')
    assert run("own", "own.toml").done == 5
    assert {row["strategy"] for row in rows("own")} == {"milp"}
    shared = experiment(
        strategy="milp",
        max_length=4,
        grid={"backend": ["highs", "pyomo:highs"]},
        backend_options=["highs.presolve=off"],
    )
    assert run("shared", shared).failed == 0
    assert {(row["backend"], str(row["backend_options"])) for row in rows("shared")} == {
        ("highs", "{'presolve': 'off'}"), ("pyomo:highs", "{}"),
    }  # fmt: skip
    for wrong, match in (
        ({"backends": ["highs"], "strategy": "lead"}, "Backends apply only to the strategy milp"),
        (
            {"backends": ["highs"], "backend": "cbc", "strategy": "milp"},
            "several by backends: leave out one of the two",
        ),
        ({"backends": [{"nam": "highs"}], "strategy": "milp"}, "no key 'nam'"),
        ({"backend_options": ["cbc.ratio=1"], "strategy": "milp"}, "is for the solver cbc"),
    ):
        with pytest.raises(optsum.OptsumError, match=match):
            run("wrong", experiment(**wrong))


def test_every_topic_is_searched_in_every_cell_as_solve_does() -> None:
    done = run(given=experiment(strategy=None, grid={"max_length": [2, 4], "strategy": ["lead", "greedy"]}))
    assert (done.total, done.done, done.failed, done.complete) == (20, 20, 0, True)
    found = rows()
    assert [(row["id"], row["max_length"], row["strategy"]) for row in found] == [
        (name, length, strategy) for name in "abcde" for length in (2, 4) for strategy in ("lead", "greedy")
    ]
    for row in found:
        name = row.pop("max_length")
        alone = optsum.solve({"id": row["id"], **TOPIC}, max_length=name, strategy=row["strategy"])
        assert timeless([row]) == timeless([json.loads(json.dumps(alone.to_row()))])


def test_a_strategy_without_solver_is_not_searched_for_each() -> None:
    run(
        given={
            "topics": "topics.jsonl",
            "max_length": 3,
            "grid": {"strategy": ["milp", "lead"], "backend": ["highs", "cp-sat"]},
        }
    )
    assert [(row["strategy"], row["backend"]) for row in rows()[:3]] == [
        ("milp", "highs"), ("milp", "cp-sat"), ("lead", None),
    ]  # fmt: skip


def test_only_missing_rows_are_searched() -> None:
    run()
    whole = rows()
    without("run", "topic IN (1, 3) OR (topic = 4 AND cell = 1)")
    with closing(sqlite3.connect("run/rows.sqlite")) as database, database:
        kept = database.execute("SELECT topic, cell, at FROM rows").fetchall()
    assert run(resume=True).complete
    assert timeless(rows()) == timeless(whole)
    with closing(sqlite3.connect("run/rows.sqlite")) as database, database:
        assert set(kept) <= set(database.execute("SELECT topic, cell, at FROM rows"))


def test_the_rows_of_all_references_of_a_topic_are_kept_together() -> None:
    done = run(given=experiment(references="each"))
    assert (done.done, done.rows) == (10, {"feasible": 20})
    assert [row["id"] for row in rows()][:4] == ["a#0", "a#1", "a#0", "a#1"]


def test_errors_are_tried_again() -> None:
    write("ab")
    with Path("topics.jsonl").open("a") as file:
        file.write("no JSON\n" + json.dumps({"id": "a", **TOPIC}) + "\n")
    first, again = run(), run(resume=True)
    assert (first.done, first.failed) == (again.done, again.failed) == (8, 4)
    assert first.first_error is not None
    assert "topics.jsonl:3: not JSON" in first.first_error
    assert [row["status"] for row in rows()] == ["feasible"] * 4 + ["error"] * 4


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"grid": {"max_length": [2, 5]}}, "max_length 4, not 5"),
        ({"grid": {"max_length": [2]}}, "a grid of 2 cells, not 1"),
        ({"metric": "rouge-2"}, "metric rouge-1, not rouge-2"),
        ({"map": "documents=documents,references=references"}, "map None, not"),
    ],
)
def test_another_experiment_is_refused(changed: dict[str, Any], what: str) -> None:
    run()
    with pytest.raises(optsum.OptionError, match=what):
        run(given=experiment(**changed), resume=True)
    with pytest.raises(optsum.OptionError, match="has a run already"):
        run()
    assert len(rows()) == 10


def test_other_topics_are_refused_and_the_same_elsewhere_are_not() -> None:
    run()
    write("abcde", "moved.jsonl")
    assert run(given=experiment(topics="moved.jsonl"), resume=True).complete
    write("abcdf")
    with pytest.raises(optsum.OptionError, match=r"topics\.jsonl have changed: the bytes"):
        run(resume=True)
    with pytest.raises(optsum.OptionError, match="of all topics, not of shard 1/2"):
        run(given=experiment(topics="moved.jsonl"), resume=True, shard="1/2")


def test_parses_beside_the_topics_are_part_of_the_run() -> None:
    words = {"one": "a b", "two": "b c"}
    Path("conllu").mkdir()
    for name, text in words.items():
        lines = [f"{n}\t{word}\t_\tX\t_\t_\t{n - 1}\t{'dep' if n > 1 else 'root'}\t_\t_" for n, word in
                 enumerate(text.split(), 1)]  # fmt: skip
        Path("conllu", f"{name}.conllu").write_text("\n".join(lines) + "\n\n")
    topics = [{"id": n, "documents": [[t]], "references": [["b"]], "meta": {"conllu": f"{n}.conllu"}}
              for n, t in words.items()]  # fmt: skip
    topics.append({**topics[0], "id": "three", "meta": {"conllu": 7}})  # an error row, and nothing else
    Path("topics.jsonl").write_text("".join(json.dumps(topic) + "\n" for topic in topics))
    given = experiment(formulation="compressive", grid={"max_length": [1]})
    first = run(given=given)
    assert (first.done, first.failed) == (3, 1)
    assert run(given=given, resume=True).done == 3
    held = Path("conllu/two.conllu").read_text()
    Path("conllu/two.conllu").write_text(held.replace("dep", "obj"))
    with pytest.raises(optsum.OptionError, match=r"name \(parses\) have changed: the bytes"):
        run(given=given, resume=True)
    Path("conllu/two.conllu").unlink()
    with pytest.raises(optsum.OptionError, match=r"have changed: 2 files, not 1 and \d+ bytes, not \d+"):
        run(given=given, resume=True)
    Path("conllu/two.conllu").write_text(held)
    assert run(given=given, resume=True).failed == 1
    assert run("extractive", given=experiment(), resume=True).complete  # this formulation reads no parses
    Path("conllu/two.conllu").unlink()
    assert run("extractive", given=experiment(), resume=True).complete


def test_files_that_options_name_are_part_of_the_run() -> None:
    Path("stop.txt").write_text("a\n")
    given = experiment(stopwords="stop.txt")
    run(given=given)
    Path("stop.txt").write_text("b\n")
    for kept in (options._hash, options.analyzer_of):  # a process caches the file's contents
        kept.cache_clear()
    with pytest.raises(optsum.OptionError, match="a file that an option names has changed"):
        run("run", given, resume=True)


def test_the_configuration_that_is_kept_makes_the_same_run() -> None:
    given = experiment(grid=[{"max_length": [2, 4], "seed": [0, 1]}, {"strategy": ["milp"], "max_length": [3]}])
    given |= {"backend_options": {"presolve": "off"}, "stem": True}
    run(given=given)
    again = run("again", "run/config.toml")
    assert (again.done, len(rows())) == (25, 25)
    assert timeless(rows("again")) == timeless(rows())
    environment = json.loads(Path("run/environment.json").read_text())
    assert environment["inputs"][0]["bytes"] == Path("topics.jsonl").stat().st_size
    assert environment["sessions"][0]["solvers"]["highs"]
    assert {"optsum", "python", "packages", "machine"} <= environment["sessions"][0].keys()


def test_several_files_of_topics() -> None:
    write("ab", "other.jsonl")
    run(given=experiment(topics=["topics.jsonl", "other.jsonl"], grid={}, max_length=3))
    assert [(row["topics"], row["id"]) for row in rows()][4:] == [
        ("topics.jsonl", "e"), ("other.jsonl", "a"), ("other.jsonl", "b"),
    ]  # fmt: skip


def test_shards_together_are_the_whole_run(capsys: pytest.CaptureFixture[str]) -> None:
    run()
    Path("e.toml").write_text('topics = "topics.jsonl"\nstrategy = "lead"\n[grid]\nmax-length = [2, 4]\n')
    for number in (1, 2, 3):
        assert main(["run", "e.toml", f"s{number}", "--shard", f"{number}/3"]) == 0
    assert "s3: complete; shard 3/3; 2 of 2 done (2 feasible)" in capsys.readouterr().out
    for command in (["merge", "s3", "s1", "-o", "part.csv"], ["merge", "s3", "s1", "-o", "-"]):
        assert main(command) == 0
        assert f"{'part.csv' if command[-1] != '-' else 'standard output'} has only 6 of 10" in capsys.readouterr().err
    assert main(["report", "s3", "-o", "s3.html"]) == 0
    assert "s3 is only shard 3/3: optsum merge takes the folders of all shards" in capsys.readouterr().err
    assert main(["merge", "s3", "s1", "-o", "part"]) == 0
    assert "part: stopped; 6 of 10 done" in capsys.readouterr().out
    assert main(["report", "part", "-o", "part.html"]) == 0
    assert "part has only 6 of 10 searches: optsum run with --resume does the others" in capsys.readouterr().err
    for flags, what in ((["--details"], "made without --details"), (["--shard", "1/2"], "of all topics, not of shard")):
        assert main(["run", "e.toml", "part", "--resume", *flags]) == 2
        assert f"part has another run ({what}" in capsys.readouterr().err
    assert main(["run", "e.toml", "part", "--resume"]) == 0
    assert main(["merge", "s1", "s2", "s3", "-o", "all.parquet"]) == 0
    whole = [(row["id"], row["max_length"], row["selection"]) for row in rows()]
    for path in ("part", "all.parquet"):
        assert [(row["id"], row["max_length"], row["selection"]) for row in read_rows(path)] == whole
    for command, reason in (
        (["merge", "s1", "s1", "-o", "x"], "both are shard 1/3"),
        (["merge", "s1", "run", "-o", "x"], "merge shards with the same N of --shard I/N"),
        (["merge", "s1", "here", "-o", "x"], "is not the folder of a run"),
        (["run", "e.toml", "x", "--shard", "4/3"], "give I/N with I from 1 to N"),
    ):
        assert main(command) == 2
        assert reason in capsys.readouterr().err


def test_a_run_of_the_first_topics_can_be_extended(capsys: pytest.CaptureFixture[str]) -> None:
    write("xy", "other.jsonl")
    given = experiment(topics=["topics.jsonl", "other.jsonl"])
    first = run(given=given, limit=2)
    assert (first.done, first.total, first.complete) == (4, 4, True)
    more = run(given=given, limit=6, resume=True)
    assert (more.done, more.total, [row["id"] for row in rows()][-3:]) == (12, 12, ["e", "x", "x"])
    with pytest.raises(optsum.OptionError, match=r"has another run \(limit 6, not 5, which is less\)"):
        run(given=given, limit=5, resume=True)
    every = run(given=given, resume=True)
    assert (every.done, every.total) == (14, 14)
    with pytest.raises(optsum.OptionError, match="limit none, not 9, which is less"):
        run(given=given, limit=9, resume=True)
    run("whole", given)
    assert timeless(rows()) == timeless(rows("whole"))
    assert run("none", given, limit=0).total == 0
    with pytest.raises(optsum.OptionError, match="limit of topics is -1; it must be 0 or more"):
        run("none", given, limit=-1)
    Path("e.toml").write_text('topics = "topics.jsonl"\nstrategy = "lead"\nmax-length = 3\n')
    assert main(["run", "e.toml", "few", "--limit", "2"]) == 0
    assert "few: complete; 2 of 2 done" in capsys.readouterr().out
    assert main(["run", "e.toml", "few", "--resume", "--limit", "1"]) == 2
    assert "limit 2, not 1" in capsys.readouterr().err


def test_shards_are_shares_of_the_first_topics() -> None:
    for number in (1, 2):
        done = run(f"s{number}", shard=f"{number}/2", limit=3)
        assert done.total == done.done == (4, 2)[number - 1]
    run("other", shard="2/2", limit=4)
    with pytest.raises(optsum.OptionError, match=r"\(limit: 3 and 4\)"):
        merge(["s1", "other"], "all")
    run("nothing", shard="2/2", limit=0)
    with pytest.raises(optsum.OptionError, match=r"\(limit: 3 and 0\)"):
        merge(["s1", "nothing"], "all")
    merged = merge(["s1", "s2"], "all")
    assert (merged.done, merged.total) == (6, 6)
    assert run("all", resume=True).done == 10


def test_a_run_of_an_earlier_version_is_of_all_topics() -> None:
    run()
    with closing(sqlite3.connect("run/rows.sqlite")) as database, database:
        database.execute("DELETE FROM facts WHERE name = 'limit'")
    assert run(resume=True).complete
    with pytest.raises(optsum.OptionError, match="limit none, not 3"):
        run(resume=True, limit=3)


def test_a_second_writer_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from optsum.experiments import RunFolder

    run()
    Path("e.toml").write_text('topics = "topics.jsonl"\nstrategy = "lead"\n[grid]\nmax-length = [2, 4]\n')
    with RunFolder("run", resume=True):
        assert main(["run", "e.toml", "run", "--resume"]) == 2
        assert "the folder run is being written by another run" in capsys.readouterr().err
        assert optsum.status("run").running
        assert main(["status", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 10


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "names no topics"),
        ("topics = 3", "names no topics"),
        ('topics = "-"', "cannot be resumed"),
        ('topics = ["topics.jsonl", "topics.jsonl"]', "names the same topics twice"),
        ('topics = "none.jsonl"\nmax-length = 3', "there is no such file"),
        ('topics = "topics.jsonl"\nmax-lenght = 3', "did you mean max-length"),
        ('topics = "topics.jsonl"\nmax-length = "3"', "max-length cannot be '3'"),
        ('topics = "topics.jsonl"', "so it needs a limit"),
        ('topics = "topics.jsonl"\ngrid = 3', "has a grid that is not a table"),
        ('topics = "topics.jsonl"\nmax-length = 3\ngrid = []', "e.toml has an empty grid"),
        ('topics = "topics.jsonl"\n[grid]\nmax-length = [3]\nmax_length = [4]', "in its grid, sets max_length twice"),
        ('topics = "topics.jsonl"\n[grid]\nmax-length = []', "has no value for max-length"),
        ('topics = "topics.jsonl"\n[grid]\nmax-length = [3, "x"]', "with max-length = x"),
        ('topics = "topics.jsonl"\n[grid]\nmax_lenght = [3]', "did you mean max-length"),
        (
            'topics = "topics.jsonl"\nmax-length = 3\nmetric = "rouge-2"\n[grid]\nmax-length = [4]',
            "e.toml has max-length both above the grid and in it: leave out one",
        ),
        ('topics = "topics.jsonl"\n[grid]\nworkers = [3]', "has workers in the grid, but it is one for all cells"),
        ('topics = "topics.jsonl"\n[grid]\nmax-length = [3]\nseed = [' + ",".join(["1"] * 10001) + "]", "10000 cells"),
        ('topics = "topics.jsonl"\nmax-length = 3\nmap = "documents"', "documents=COLUMN"),
        ('topics = "topics.jsonl"\nmax-length = 3\nscheduler = "tcp://x"', "give --executor dask"),
        ('topics = "topics.jsonl"\nmax-length = 3\nmemory-per-worker = "1MB"', "needs at least 500MB"),
        ('topics = "topics.jsonl"\nmax-length = 3\nmemory-per-worker = "much"', "such as 2GB"),
        ("[", "is not TOML"),
    ],
)
def test_impossible_experiments_are_refused(text: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.toml").write_text(text)
    assert main(["run", "e.toml", "run"]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "how", "reason"),
    [
        ({"max-length": 4, "max_length": 8}, {}, "The experiment sets max_length twice"),
        ({"grid": {"max-length": [4], "max_length": [8]}}, {}, "The experiment, in its grid, sets max_length twice"),
        ({"grid": []}, {}, "has an empty grid"),
        ({}, {"max_length": 4}, "max_length is of the experiment"),
        ({}, {"strategy": "lead"}, "strategy is of the experiment"),
        ({}, {"worker": 2}, "did you mean workers"),
        ({}, {"embed": len}, "optsum.with_vectors"),
        ({"embed": len}, {}, "optsum.with_vectors"),
    ],
)
def test_what_is_given_twice_or_beside_an_experiment_is_refused(
    given: dict[str, Any], how: dict[str, Any], reason: str
) -> None:
    with pytest.raises(optsum.OptionError, match=reason):
        run(given=experiment(**given), **how)
    assert not Path("run").exists()


def test_a_folder_of_other_things_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.toml").write_text('topics = "topics.jsonl"\nmax-length = 3\n')
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear")
    assert main(["run", "e.toml", "mine"]) == 2
    assert "holds files that are not of a run" in capsys.readouterr().err
    assert [each.name for each in Path("mine").iterdir()] == ["letter.txt"]
    assert main(["status", "mine"]) == 2


def test_a_file_that_is_no_store_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine/rows.sqlite").write_text("dear " * 1000)
    assert main(["status", "mine"]) == 2
    assert "is not a store of rows" in capsys.readouterr().err


def test_options_that_no_cell_uses_are_reported(caplog: pytest.LogCaptureFixture, here: Path) -> None:
    optsum.run(experiment(threads=2, verify=True, weights="length"), here / "a", executor=HERE)
    said = [record.getMessage() for record in caplog.records if "changes nothing" in record.getMessage()]
    assert [message.split(" changes")[0].split()[-1] for message in said] == ["weights", "threads", "verify"]
    caplog.clear()
    grid = {"strategy": ["lead", "milp"], "max_length": [2]}
    optsum.run({"topics": "topics.jsonl", "threads": 2, "grid": grid}, here / "b", executor=HERE)
    assert not caplog.records
