"""Test `optsum align`, which makes covers from any topics file and writes them as a topics file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optsum
from optsum.cli import main
from optsum.corpus.alignment import align
from optsum.corpus.parses import parses_of
from optsum.corpus.topic import Topic, as_topic, topic_to_json

TOPIC = {
    "id": "t",
    "documents": [["The cat sleeps on the red mat.", "A dog barks."], ["Cats sleep.", "The mat is red.", ""]],
    "references": [["A cat slept on a red mat.", "Dogs barked loudly at night."], ["It was so."]],
    "meta": {"source": "test", "conllu": "t.conllu"},
}

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("topics.jsonl").write_text(json.dumps(TOPIC) + "\n")

    def call(*arguments: object) -> tuple[int, str, str]:
        status = main(list(map(str, arguments)))
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return call


# --- topics as JSON -----------------------------------------------------------------------------------------------

_words = st.text(max_size=6)
_sentences = st.lists(_words | st.lists(_words, max_size=3), max_size=3)
_units = st.integers() | st.text(max_size=4)


@given(
    st.fixed_dictionaries(
        {
            "id": st.integers(0) | st.text("abcß文 -", min_size=1).filter(str.strip),
            "documents": st.lists(_sentences | st.just("One. Two."), min_size=1, max_size=3),
            "references": st.lists(_sentences, min_size=1, max_size=3),
        },
        optional={
            "cover": st.lists(st.lists(st.lists(_units, max_size=3), max_size=3), max_size=3),
            "meta": st.dictionaries(_words, _words | st.integers() | st.none() | st.lists(st.booleans())),
        },
    )
)
def test_a_topic_comes_back_from_json_as_it_was(given: dict[str, Any]) -> None:
    topic = as_topic(given)
    text = json.dumps(topic_to_json(topic))
    assert as_topic(json.loads(text)) == topic
    assert as_topic(topic_to_json(topic)) == topic


def test_covers_without_documents_and_parses_survive_json() -> None:
    bare = as_topic({"id": "t", "cover": [[[1, "a"]], []]})
    assert as_topic(topic_to_json(bare)) == bare
    parsed = as_topic({"id": "t", "documents": [["a", "b"]], "references": [["a"]], "parses": ["1\ta", "1\tb"]})
    assert as_topic(topic_to_json(parsed)) == parsed
    assert topic_to_json(parsed)["parses"] == ["1\ta", "1\tb"]


# --- the command --------------------------------------------------------------------------------------------------


def test_the_written_topics_are_those_of_align_and_can_be_solved(run: Run) -> None:
    status, out, err = run("align", "topics.jsonl", "-o", "covers.jsonl")
    assert (status, err) == (0, "")
    assert out.startswith("2 covers of 3 abstract sentences; 1 of them without any alternative (optsum solve --uncov")
    read = list(optsum.read_topics("covers.jsonl"))
    assert read == [
        as_topic(topic_to_json(topic), source=read[number].source)
        for number, topic in enumerate(align([TOPIC]))
        if isinstance(topic, Topic)
    ]
    status, out, err = run("solve", "covers.jsonl", "--formulation", "cover")
    rows = list(map(json.loads, out.splitlines()))
    assert [(row["id"], row["status"]) for row in rows] == [("t#0", "optimal"), ("t#1", "error")]
    assert rows[0]["selection"] == [0, 1]


def test_options_are_those_of_the_function(run: Run) -> None:
    options: dict[str, Any] = {"threshold": 0.3, "metric": "rouge-2", "max_sentences": 2, "stem": False}
    flags = ["--threshold", "0.3", "--metric", "rouge-2", "--max-sentences", "2", "--no-stem", "--stopwords", "keep"]
    status, out, _ = run("align", "topics.jsonl", *flags)
    expected = [
        topic_to_json(topic) for topic in align([TOPIC], **options, stopwords="keep") if isinstance(topic, Topic)
    ]
    assert (status, list(map(json.loads, out.splitlines()))) == (0, json.loads(json.dumps(expected)))
    Path("o.toml").write_text(
        'threshold = 0.3\nmetric = "rouge-2"\nmax-sentences = 2\nstem = false\nstopwords = "keep"'
    )
    assert run("align", "topics.jsonl", "--config", "o.toml")[1] == out
    # the file has options of other commands as well
    assert run("solve", "topics.jsonl", "--config", "o.toml", "--max-length", "5")[0] == 0


def test_truncated_lists_of_alternatives_are_counted(run: Run) -> None:
    _, out, _ = run("align", "topics.jsonl", "--max-sets", "1", "-o", "covers.jsonl")
    assert "1 of them with more sets than --max-sets 1: the smallest are kept" in out


def test_bad_topics_are_rows_that_keep_their_reason(run: Run) -> None:
    bad = '{"id": "none", "documents": [[]], "references": [[]]}'
    Path("topics.jsonl").write_text(f"not JSON\n{json.dumps(TOPIC)}\n{bad}\n")
    status, out, err = run("align", "topics.jsonl", "-o", "covers.jsonl")
    assert (status, err.count("\n")) == (1, 1)
    assert err.startswith("optsum: 2 topics could not be aligned; the first: topics.jsonl:1: not JSON")
    assert "2 covers" in out
    rows = [json.loads(line) for line in Path("covers.jsonl").read_text().splitlines()]
    assert [row.get("status") for row in rows] == ["error", None, None, "error"]
    status, out, _ = run("solve", "covers.jsonl", "--formulation", "cover", "--uncoverable", "skip")
    solved = list(map(json.loads, out.splitlines()))
    assert [(row["id"], row["status"]) for row in solved] == [
        (None, "error"), ("t#0", "optimal"), ("t#1", "error"), ("none", "error"),
    ]  # fmt: skip
    assert "topics.jsonl:1: not JSON" in solved[0]["error"]
    assert "topics.jsonl:3: there is no document or no reference to align" in solved[3]["error"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nosuch.jsonl"], "cannot be opened"),
        (["topics.jsonl", "--threshold", "0"], "above 0 and at most 1"),
        (["topics.jsonl", "--max-sentences", "0"], "--max-sentences is 0; it must be 1 or more"),
        (["topics.jsonl", "--metric", "rouge-l"], "rouge-l does not"),
        (["topics.jsonl", "--stopwords", "nosuch.txt"], "nosuch.txt cannot be read"),
        (["topics.jsonl", "-o", "topics.jsonl"], "also an input"),
        (["topics.jsonl", "--config", "nosuch.toml"], "nosuch.toml cannot be read"),
    ],
)
def test_unusable_arguments_are_one_line(run: Run, arguments: list[str], reason: str) -> None:
    status, out, err = run("align", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert reason in err
    assert json.loads(Path("topics.jsonl").read_text()) == TOPIC


def test_parses_are_found_from_the_folder_of_the_output(run: Run) -> None:
    block = "1\tCats\tcat\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
    Path("conllu").mkdir()
    Path("conllu/t.conllu").write_text(block)
    Path("beside.conllu").write_text(block)
    Path("deep/er").mkdir(parents=True)
    topics = [
        {"id": name, "documents": [["Cats sleep"]], "references": [["Cats."]], "meta": {"conllu": files}}
        for name, files in (("one", "t.conllu"), ("list", ["beside.conllu"]), ("none", "nosuch.conllu"), ("bad", 3))
    ]
    Path("topics.jsonl").write_text("\n".join(map(json.dumps, topics)))
    assert run("align", "topics.jsonl", "-o", "deep/er/covers.jsonl")[0] == 0
    found = [topic for topic in optsum.read_topics("deep/er/covers.jsonl") if isinstance(topic, Topic)]
    assert [topic.meta["conllu"] for topic in found] == [
        "../../conllu/t.conllu", ["../../beside.conllu"], "nosuch.conllu", 3,
    ]  # fmt: skip
    assert [parses_of(topic)[0].text for topic in found[:2]] == ["Cats sleep"] * 2
    assert run("align", "topics.jsonl", "-o", "covers.jsonl")[0] == 0
    assert [json.loads(line)["meta"]["conllu"] for line in Path("covers.jsonl").read_text().splitlines()] == [
        topic["meta"]["conllu"] for topic in topics
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_keeps_what_was_done(tmp_path: Path) -> None:
    out, pipe = tmp_path / "covers.jsonl", tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; from optsum.cli import main; sys.exit(main())",
         "align", str(pipe), "-o", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with pipe.open("w") as topics:
        print(json.dumps(TOPIC), file=topics, flush=True)
        until = time.monotonic() + 60
        part = Path(f"{out}.part")
        while not part.exists() or part.read_text().count("\n") < 2:
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, f"optsum: interrupted; 2 covers made in {out}\n")
    assert len(list(optsum.read_topics(out))) == 2


def test_alignments_of_topics_beyond_the_limit_are_no_failure(run: Run) -> None:
    Path("marks.jsonl").write_text("\n".join(json.dumps({"topic_id": name, "relevant": [0]}) for name in "tu"))
    given = ("align", "topics.jsonl", "--alignments", "marks.jsonl", "-o", "out.jsonl")
    assert run(*given)[0] == 1
    status, out, err = run(*given, "--limit", 1, "--overwrite")
    assert (status, err) == (0, "")
    assert "1 cover of 1 abstract sentence" in out
