"""Test `optsum warm-up`, which compiles the kernels in advance."""

from __future__ import annotations

import pytest
from optsum.solvers.few_units import search_extracts

from optsum.cli.app import main
from optsum.cli.commands import kernels_of
from optsum.running.each_topic import prepare_together
from optsum.system.compiled import compile_at_once


def test_every_strategy_is_warmed_up_and_no_part_twice() -> None:
    one, all_ = kernels_of(["exhaustive"]), kernels_of(["exhaustive", "vns", "auto"])
    assert set(one) < set(all_)
    assert len(set(all_)) == len(all_)


def test_the_search_of_several_topics_is_compiled_too() -> None:
    compile_at_once(optional=True)
    for part in kernels_of(["auto"]):
        part()
    assert search_extracts.compiled is not None
    assert prepare_together in kernels_of(["branch-and-bound"])
    assert prepare_together not in kernels_of(["greedy", "milp"])


def test_impossible_requests_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm-up", "--strategy", "greddy"]) == 2
    assert "did you mean greedy" in capsys.readouterr().err
    assert main(["warm-up", "--strategy", "greedy", "--all"]) == 2
    assert "--all" in capsys.readouterr().err


def test_a_second_warm_up_has_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm-up", "--strategy", "exhaustive"]) == 0
    assert "kernels of exhaustive are ready" in capsys.readouterr().out


def test_the_folder_of_kernels_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.cli.commands.kernels_of", lambda names: [])
    monkeypatch.setattr("numba.config.CACHE_DIR", "here")
    assert main(["warm-up"]) == 0
    assert capsys.readouterr().out.endswith("; kept in here\n")
