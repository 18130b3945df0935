"""The clock of searches stands while kernels are compiled, whoever looks at it and whatever comes between."""

from __future__ import annotations

from time import sleep
from typing import Any

import pytest

from optsum.system import clock as module
from optsum.system.clock import clock, standing


class Watched:
    """How long the clock has stood, with a look at the clock after each change, as another thread may have it."""

    def __init__(self, before: Any) -> None:
        vars(self).update(vars(before), seen=[])

    def __setattr__(self, name: str, value: object) -> None:
        vars(self)[name] = value
        vars(self)["seen"].append(clock())


def test_no_thread_sees_what_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
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
    """Where it has just begun to stand."""

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
