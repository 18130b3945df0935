"""Test ``optsum chunks``, which shows the chunks of parsed sentences."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from optsum.chunks import chunk_tree, read_conllu
from optsum.chunks.tree import word_sequences
from optsum.cli import main

DATA = Path(__file__).parents[3] / "examples" / "data"
PARSED = DATA / "parsed.conllu"
LAST = "[Its future]1! [depends]2 [on a]3! [small]4 [museum ,]3 [which wants]5 [to open]6! [it]7! [to visitors .]8"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str | Path) -> tuple[int, str, str]:
        status = main(["chunks", *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_a_line_for_each_sentence(run: Any) -> None:
    status, out, err = run(PARSED)
    assert (status, err) == (0, "")
    assert len(out.splitlines()) == 8
    assert out.splitlines()[-1] == LAST


def test_profiles_cut_differently(run: Any) -> None:
    assert run(PARSED, "--profile", "paper")[1] == run(PARSED, "--profile", "strict")[1].replace("!", "")
    assert run(PARSED, "--chunk-profile", "paper")[1] == run(PARSED, "--profile", "paper")[1]
    status, out, err = run(PARSED, "--profile", "papers")
    assert (status, out) == (2, "")
    assert "did you mean paper" in err


def test_candidates_of_the_papers_figure(run: Any) -> None:
    """Check T(live in), V, U and the infeasible candidates of Figure 1 (V and U as the paper's text defines them)."""
    status, out, err = run(DATA / "dolphins.conllu", "--candidates", "--profile", "paper")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "[Most]1 [dolphins]2 [live]3 [in every ocean .]4"
    for line in (
        "w1,6: live_in  V={3, 4}  U={}",
        "w2,5: live_in  V={2, 3}  U={}",
        "w2,6: live_in  V={2, 4}  U={3}",
        "w3,9: live_in  V={3, 5}  U={4}  not feasible",
        "T(live in) = {(1, 6), (2, 5), (2, 6), (3, 9)}",
        "T(dolphins live) = {(1, 4), (2, 2), (3, 2)}",
    ):
        assert line in lines
    named = {line.partition(":")[0]: line.split()[1] for line in lines if line.startswith("w")}
    assert " ".join(gram for name, gram in named.items() if name.startswith("w1")) == (
        "most_dolphins most_live most_in dolphins_live dolphins_in live_in in_every every_ocean"
    )
    assert " ".join(gram for name, gram in named.items() if name.startswith("w2")) == (  # the paper omits in_rivers
        "some_dolphins dolphins_live dolphins_in dolphins_in live_in live_in in_rivers rivers_in in_some some_regions"
    )


@pytest.mark.parametrize("profile", ["strict", "paper"])
def test_a_candidate_is_feasible_if_some_compression_has_it(profile: str) -> None:
    """Compare with the pairs of neighbouring words in all compressions of a sentence."""
    for parse in read_conllu(PARSED):
        tree = chunk_tree(parse, profile)
        chunk_of = {token: chunk for chunk, tokens in tree.nodes(data="tokens") for token in tokens}
        forms = {
            place: token.form.lower() for place, token in enumerate(parse.tokens) if token.form.strip(",.()?\"'") != ""
        }
        beside = set()
        for kept in subsets(sorted(tree)):
            if any(
                (below in kept and above not in kept) or (required and (above in kept) != (below in kept))
                for above, below, required in tree.edges(data="required")
            ):
                continue
            left = [place for place in forms if chunk_of[place] in kept]
            beside |= {f"{forms[one]}_{forms[other]}" for one, other in pairwise(left)}
        assert {gram for gram, line in word_sequences(parse, tree) if not line.endswith("not feasible")} == beside


def subsets(numbers: list[int]) -> Iterator[set[int]]:
    for size in range(len(numbers) + 1):
        yield from map(set, combinations(numbers, size))


def test_trees_and_reasons(run: Any) -> None:
    _, out, _ = run(PARSED, "--tree")
    blocks = out.split("\n\n")
    assert blocks[7].splitlines() == [
        LAST,
        "2 depends",
        "  1! Its future",
        "  3! on a ... museum ,",
        "    4 small",
        "    5 which wants",
        "      6! to open",
        "        7! it",
        "        8 to visitors .",
    ]
    _, out, _ = run(PARSED, "--why")
    assert "depends on" not in out
    assert any(line.split()[:4] == ["museum", "obl", "depends", "REQ"] for line in out.splitlines())


def test_a_file_of_rules_is_used(run: Any, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nrelation = ["*"]\naction = "MERGE"')
    assert run(PARSED, "--chunk-rules", rules)[1].count("[") == 8
    assert run(PARSED, "--chunk-rules", "ud")[1] == run(PARSED)[1]
    assert run(PARSED, "--chunk-rules", "clearnlp")[1] != run(PARSED)[1]
    rules.write_text("x")
    status, out, err = run(PARSED, "--chunk-rules", rules)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "is not TOML" in err


def test_topics_with_parses_are_read(run: Any) -> None:
    status, out, err = run(DATA / "parsed.jsonl")
    assert (status, err) == (0, "")
    assert out == "# last-ferry\n" + run(PARSED)[1]


def test_a_broken_sentence_does_not_cost_the_others(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "f.conllu"
    file.write_text("1\ta\t_\t_\t_\t_\t0\troot\n\n# sent_id = x\n1\tb\t_\t_\t_\t_\t2\tdep\n\n1\tc\t_\t_\t_\t_\t0\troot")
    status, out, err = run(file)
    assert status == 1
    assert out.splitlines()[::2] == ["[a]1", "[c]1"]
    assert out.splitlines()[1].startswith(f"# error: {file}: sentence x: the head of word 1 ('b') does not exist")
    assert err.count("\n") == 1
    assert err.startswith(f"optsum: 1 part of {file} could not be used; {file}: sentence x: ")


def test_a_broken_topic_does_not_cost_the_others(run: Any, tmp_path: Path) -> None:
    good = {"documents": [["Go"]], "references": [["Go"]], "parses": ["1\tGo\t_\tVERB\t_\t_\t0\troot"]}
    file = tmp_path / "topics.jsonl"
    lines = [{**good, "id": "a"}, {**good, "id": "b", "parses": None}, {"id": "c"}, {**good, "id": "d"}]
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    status, out, err = run(file)
    assert status == 1
    assert [line for line in out.splitlines() if not line.startswith("# error")] == [
        "# a",
        "[Go]1",
        "# b",
        "# d",
        "[Go]1",
    ]
    assert err.startswith(f"optsum: 2 parts of {file} could not be used; the first: topic 'b': there are no parses")


def test_the_standard_input(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PARSED.read_bytes())))
    assert run("-")[1] == run(PARSED)[1]


@pytest.mark.parametrize(("name", "text"), [("none.conllu", None), ("empty.conllu", ""), ("bad.gz", b"\x1f\x8b")])
def test_files_that_cannot_be_used_are_refused(run: Any, tmp_path: Path, name: str, text: str | bytes | None) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    status, out, err = run(tmp_path / name)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert name in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize(("file", "said"), [("dolphins.conllu", ""), ("news.jsonl", "is a pipe with topics")])
def test_a_pipe_is_read_once(file: str, said: str, run: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=lambda: (tmp_path / "pipe").write_bytes((DATA / file).read_bytes()), daemon=True)
    writer.start()
    status, out, err = run(tmp_path / "pipe")
    writer.join(10)
    assert (status, bool(out)) == ((2, False) if said else (0, True))
    assert said in err
