"""Compare every strategy on random topics and options with the optimum found from the text alone (`fuzz`).

There are about 5,000 answers, including slow tests; `python tests/support/fuzz.py` goes on with other seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz import Fuzz, main
from plain_oracle import Plain

import optsum
from optsum.running.one_problem import setup_of

BLOCK = 10
QUICK, ALL = 6, 10
"""Blocks of cases in every run of the tests, and with the slow ones."""

blocks = [pytest.param(block, marks=[pytest.mark.slow] if block >= QUICK else []) for block in range(ALL)]

few_blocks = [pytest.param(block, marks=[pytest.mark.slow] if block >= 3 else []) for block in range(4)]


def seeds(block: int, most: int = BLOCK) -> range:
    return range(block * BLOCK, block * BLOCK + most)


@pytest.fixture(autouse=True)
def _half_of_the_work_is_left_out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Skip warming up in most blocks: each case has options of its own, so that it would double the work."""
    left_out = request.node.callspec.params["block"] > 1 if hasattr(request.node, "callspec") else False
    if left_out:
        monkeypatch.setattr("optsum.running.one_problem._made_ready", lambda *_: 0.0)
    yield
    if left_out:
        setup_of.cache_clear()  # other tests must not take these options as warmed up


@pytest.mark.parametrize("block", blocks)
def test_extracts_are_those_of_brute_force(block: int, tmp_path: Path) -> None:
    for seed in seeds(block):
        Fuzz(tmp_path).extract(seed)


@pytest.mark.parametrize("block", blocks)
def test_compressions_are_those_of_brute_force(block: int, tmp_path: Path) -> None:
    for seed in seeds(block, BLOCK // 2):
        Fuzz(tmp_path).compression(seed)


@pytest.mark.parametrize("block", blocks)
def test_covers_are_those_of_brute_force(block: int, tmp_path: Path) -> None:
    for seed in seeds(block, BLOCK // 2):
        Fuzz(tmp_path).cover(seed)


@pytest.mark.parametrize("block", few_blocks)
def test_extracts_with_side_constraints_are_those_of_brute_force(block: int, tmp_path: Path) -> None:
    for seed in seeds(block):
        Fuzz(tmp_path).extract(seed, sides=True)


@pytest.mark.parametrize("block", few_blocks)
def test_compressions_with_side_constraints_are_those_of_brute_force(block: int, tmp_path: Path) -> None:
    for seed in seeds(block):
        Fuzz(tmp_path).compression(seed, sides=True)


@pytest.mark.parametrize("block", few_blocks)
def test_scores_are_those_of_the_definition(block: int, tmp_path: Path) -> None:
    for seed in seeds(block):
        Fuzz(tmp_path).score(seed)


def test_a_mistake_is_found_and_its_case_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a brute force that halves all values, as if the package doubled them."""
    real = Plain.value
    monkeypatch.setattr(Plain, "value", lambda self, selection: real(self, selection) / 2)
    with pytest.raises(AssertionError) as told:
        Fuzz(tmp_path).extract(0)
    assert any(note.startswith("case: ('extract', ") for note in told.value.__notes__)


def test_the_program_counts_and_fails(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def lied(self: Fuzz, seed: int, **_: Any) -> None:
        self.answers["a lie"] += 1
        raise AssertionError(f"seed {seed}")

    for way in ("extract", "compression", "cover", "score"):
        monkeypatch.setattr(Fuzz, way, lied)
    assert main(["--runs", "1", "--first", "7"]) == 1
    assert "6 answers, seeds 7 to 7, 6 cases failed" in capsys.readouterr().out


def test_every_strategy_is_tried() -> None:
    from fuzz import EXACT, HEURISTIC

    missing = set(optsum.STRATEGIES.names()) - {*EXACT, *HEURISTIC}
    assert missing == {"genetic-paper", "genetic-paper+greedy", "vns-paper+greedy"}
