"""Test `Alarm`, which stops work in Python at the deadline, but never in the middle of an import."""

from __future__ import annotations

import gc
import importlib
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
from optsum.solvers.backends.pyomo import Alarm, Overran
from optsum.solvers.backends.through_pyomo import PyomoHighs

import optsum
from optsum.errors import behind
from optsum.system.clock import Deadline
from optsum.system.processes.signal_guard import postponing

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")


def test_work_is_left_at_the_deadline() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(Overran, match="the time limit was over"), Alarm(Deadline(0.05)):
        time.sleep(10)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_silenced_alarm_does_not_stop_work() -> None:
    with Alarm(Deadline(0.05)) as alarm:
        alarm.silence()
        time.sleep(0.1)
    with Alarm(Deadline()):
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_an_import_is_finished_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test this because a module whose import is interrupted stays broken for the whole process."""
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.3)\nready = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Overran), Alarm(Deadline(0.05)):
        time.sleep(len([importlib.import_module("slow_to_import")]))
    assert sys.modules.pop("slow_to_import").ready


def put_away() -> None:
    with Alarm(Deadline(60)):
        pass
    time.sleep(60)


def test_an_interrupt_during_clean_up_leaves_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test this because a timer that stays on would end the process, or whatever it does next."""

    def pressed(self: Alarm) -> None:
        monkeypatch.undo()
        signal.raise_signal(signal.SIGINT)
        self.silence()

    monkeypatch.setattr(Alarm, "silence", pressed)
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(KeyboardInterrupt), postponing():
        put_away()
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def swallowed() -> None:
    assert not gc.isenabled()
    with suppress(Overran):
        time.sleep(10)
    time.sleep(10)


def test_an_alarm_swallowed_by_a_finalizer_is_raised_again() -> None:
    was = gc.isenabled()
    with pytest.raises(Overran), Alarm(Deadline(0.05)):
        swallowed()
    assert gc.isenabled() == was


def descriptors() -> int:
    return len([*Path("/dev/fd").iterdir()])


def captured(stream: StringIO) -> None:
    from pyomo.common.tee import capture_output

    with capture_output(stream, capture_fd=True):
        print("words")
    time.sleep(5)


def test_a_capture_of_output_is_closed_whole() -> None:
    class Slow(StringIO):
        """A stream that delays the one who closes the capture until the deadline has passed."""

        def write(self, text: str) -> int:
            time.sleep(0.3)
            return super().write(text)

    before, threads, printed = descriptors(), threading.active_count(), Slow()
    with pytest.raises(Overran), Alarm(Deadline(0.1)):
        captured(printed)
    assert printed.getvalue() == "words\n"
    assert descriptors() == before
    assert threading.active_count() == threads


def test_an_alarm_behind_another_exception_is_recognised() -> None:
    over, said, unsaid, other = Overran("late"), TypeError(), TypeError(), TypeError()
    said.__cause__ = over
    unsaid.__context__ = over  # raised while the library handled it
    other.__cause__ = ValueError()
    assert behind(over, Overran) is behind(said, Overran) is behind(unsaid, Overran) is over
    assert behind(other, Overran) is None
    assert behind(said, Overran, before=over) is None


def test_a_solver_that_was_not_made_in_time_is_not_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def factory(_: PyomoHighs) -> None:
        with suppress(Overran):  # Pyomo swallows all exceptions while it makes a solver
            time.sleep(10)
        raise RuntimeError("Attempting to use an unavailable solver.")

    monkeypatch.setattr(PyomoHighs, "factory", factory)
    topic = {"id": "t", "documents": [["a b", "b c", "c d"]], "references": [["a b c"]]}
    options = {"strategy": "milp", "backend": "pyomo:highs", "max_length": 4}
    found = optsum.solve(topic, time_limit=0.05, **options)
    assert (found.status, found.termination) == (optsum.Status.FEASIBLE, optsum.Termination.TIME_LIMIT)
    assert found.selection


def test_cyclic_causes_end_and_groups_are_searched() -> None:
    first, second, over = ValueError("first"), TypeError("second"), Overran("over")
    first.__cause__, second.__context__ = second, first
    assert behind(first, Overran) is None
    assert behind(BaseExceptionGroup("several", [first, over]), Overran) is over
    second.__cause__ = over
    assert behind(first, Overran) is over

    @dataclass  # a dataclass with eq is unhashable
    class OfOnesOwn(Exception):  # noqa: N818
        exceptions: int

    assert behind(OfOnesOwn(3), Overran) is None
