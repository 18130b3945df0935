"""Test the help texts, shell completion, flags of other libraries, and the limit on the number of topics."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from optsum.cli import app as grouped
from optsum.cli import flags as made
from optsum.cli import main
from optsum.cli.app import _COMMANDS
from optsum.report.listing import LISTS

NEWS = str(Path(__file__).resolve().parents[3] / "examples" / "data" / "news.jsonl")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    caught = capsys.readouterr()
    return status, caught.out, caught.err


def test_options_are_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "solve", "--help-all")[1]
    titles = re.findall(r"^(\w+):$", text, re.MULTILINE)
    assert titles == ["Arguments", "Problem", "Text", "Search", "Output", "More"]
    assert "-j, --workers N" in text
    assert "--flat sentences|texts" in text


@pytest.mark.parametrize("name", ["solve", "enumerate", "labels", "compare", "score", "export"])
def test_no_flag_is_left_in_a_group_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, name, "--help-all")[1]
    more = text.partition("\nMore:\n")[2]
    assert set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", more, re.MULTILINE)) <= {
        "--config",
        "--debug",
        "--help",
        "--help-all",
    }


def test_every_group_of_options_names_existing_options() -> None:
    names = [name for group in grouped._GROUPS.values() for name in group.split()]
    assert len(names) == len(set(names))


def test_summaries_of_commands_are_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(said(capsys)[1].split())
    assert all(f"{name} {about}" in text for name, about in _COMMANDS.items())


def test_a_flag_of_another_library_is_answered_with_ours(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, reason = said(capsys, "solve", NEWS, "--random-state", "3")
    assert (status, reason) == (
        2, "optsum: there is no option '--random-state'; optsum's name for it is --seed (see optsum solve --help)\n"
    )  # fmt: skip


def test_the_first_topics_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = said(capsys, "solve", NEWS, "--max-length", "30", "--strategy", "lead", "--limit", "2", "-j", "1")[1]
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["bridge-closure", "harbour-storm"]
    rows = tmp_path / "rows.jsonl"
    arguments = ["solve", NEWS, "--max-length", "30", "--strategy", "lead", "-o", str(rows)]
    assert said(capsys, *arguments, "--limit", "1")[0] == 0
    assert said(capsys, *arguments, "--limit", "3", "--resume")[0] == 0
    assert len(rows.read_text().splitlines()) == 3
    assert "8 topics" not in said(capsys, "align", NEWS, "--limit", "0")[1]
    assert said(capsys, "solve", NEWS, "--max-length", "30", "--limit", "-1")[0] == 2


@pytest.mark.parametrize("name", ["solve", "enumerate", "labels", "compare", "score"])
def test_the_short_help_has_what_a_newcomer_needs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    short, full = (said(capsys, name, flag)[1] for flag in ("--help", "--help-all"))
    flags, all_flags = (re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE) for text in (short, full))
    assert set(flags) < set(all_flags)
    assert {"--metric", "--preset", "--max-length", "--map", "--tokenizer", "--language", "--stem"} <= set(flags)
    assert len(flags) < 30
    assert f"{len(all_flags) - len(flags)} more options: optsum {name} --help-all" in short
    assert "more options" not in full


def test_completion_offers_the_lists_that_are_printed() -> None:
    assert list(made.LISTED) == list(LISTS)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("optsum comp", ["compare"]),
        ("optsum solve --max-l", ["--max-length"]),
        ("optsum solve t.jsonl --forbid 0 --forbid 1 --max-l", ["--max-length"]),
        ("optsum solve t.jsonl --strategy branch", ["branch-and-bound"]),
        ("optsum solve t.jsonl --metric rouge-l", ["rouge-l"]),
        ("optsum labels t.jsonl --preset hirao-r", ["hirao-r1", "hirao-r2"]),
        ("optsum solve t.jsonl --backend cp", ["cp-sat", "cplex"]),
        ("optsum score t.jsonl s.jsonl --tokenizer uni", ["unicode"]),
        ("optsum solve t.jsonl --language d", ["da", "de"]),
        ("optsum solve t.jsonl --measure r", ["recall"]),
        ("optsum compare t.jsonl --strategies greedy,lea", ["greedy,lead"]),
        ("optsum list str", ["strategies"]),
    ],
)
def test_a_shell_completes_commands_flags_and_values(
    words: str, found: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_OPTSUM_COMPLETE": "complete_bash"}
    for name, value in shell.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    shown = capsys.readouterr()
    assert (sorted(shown.out.split()), shown.err) == (found, "")
