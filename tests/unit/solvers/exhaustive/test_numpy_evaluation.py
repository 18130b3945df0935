"""Compare selections evaluated at once by numpy, before kernels are compiled, with the kernel."""

from __future__ import annotations

import numpy as np
import pytest
from optsum.solvers.exhaustive.meet_in_the_middle import _integers, many_ones

from optsum.system.compiled import plain_of

_EDGES = np.array([0, 1, -1, 2**63 - 1, -(2**63), 0x5555_5555_5555_5555], np.int64)


@pytest.fixture(params=["newest numpy", "oldest numpy"], autouse=True)
def _counting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "oldest numpy":
        monkeypatch.delattr(np, "bitwise_count", raising=False)
    elif not hasattr(np, "bitwise_count"):
        pytest.skip("this numpy counts no bits")


def test_bits_of_many_words() -> None:
    words = np.concatenate([_EDGES, np.random.default_rng(1).integers(-(2**63), 2**63 - 1, 1000)])
    assert many_ones(words).tolist() == [(int(word) % 2**64).bit_count() for word in words]


@pytest.mark.parametrize("words", [0, 1, 2, 3])
@pytest.mark.parametrize("shifts", [1, 4])
def test_selections_evaluated_at_once(words: int, shifts: int) -> None:
    rng = np.random.default_rng(words + 10 * shifts)
    plain = plain_of(_integers)
    assert plain is not None
    assert plain.__name__ == "_integers_at_once"
    for _ in range(50):
        sets, depth = int(rng.integers(1, 300)), int(rng.integers(3))
        first = int(rng.integers(sets))
        size = int(rng.integers(1, sets - first + 1))
        given = (
            int(rng.integers(1000)),
            rng.integers(0, 10_000, (2, sets)),
            rng.integers(-(2**63), 2**63 - 1, (3, max(words, 1))),
            depth,
            rng.integers(-(2**63), 2**63 - 1, (max(words, 1), sets)),
            rng.integers(0, shifts, max(words, 1)),
            words,
            first,
            size,
        )
        rows = np.zeros((2, 1, 1024), np.int64)
        most = [_integers(rows[0], *given), plain(rows[1], *given)]
        assert most[0] == most[1]
        assert rows[0].tolist() == rows[1].tolist()
