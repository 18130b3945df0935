"""Check that the clock of searches stops while kernels are compiled, for all threads and after interrupts."""

from __future__ import annotations

from time import sleep
from typing import Any

import pytest

from optsum.system import clock as module
from optsum.system.clock import clock, standing


class Watched:
    """Record the clock after each change of the pause, as another thread might see it."""

    def __init__(self, before: Any) -> None:
        vars(self).update(vars(before), seen=[])

    def __setattr__(self, name: str, value: object) -> None:
        vars(self)[name] = value
        vars(self)["seen"].append(clock())


def test_no_thread_sees_time_that_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(module._STOPS)
    monkeypatch.setattr(module, "_STOPS", watched)
    began = clock()
    with standing():
        sleep(0.5)
    assert len(vars(watched)["seen"]) >= 4
    assert max(vars(watched)["seen"]) < began + 0.4


def test_the_clock_goes_on_after_ctrl_c() -> None:
    with pytest.raises(KeyboardInterrupt), standing():
        raise KeyboardInterrupt
    began = clock()
    sleep(0.01)
    assert clock() > began


def test_the_clock_goes_on_after_ctrl_c_at_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test an interrupt just after the pause began."""

    class Lock:
        calls = 0

        def __enter__(self) -> None:
            pass

        def __exit__(self, *error: object) -> None:
            self.calls += 1
            if self.calls == 1:
                raise KeyboardInterrupt

    monkeypatch.setattr(module._STOPS, "lock", Lock())
    with pytest.raises(KeyboardInterrupt), standing():
        pass
    assert module._STOPS.depth == 0
