"""Check that working threads can be interrupted by a message, but not during set-up or clean-up."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from optsum.running.workers import _Interrupts


def test_an_interrupted_thread_cleans_up() -> None:
    interrupts, ready, go, put_away = _Interrupts(), threading.Event(), threading.Event(), []

    @contextmanager
    def context() -> Iterator[None]:
        yield
        ready.set()
        while not go.is_set():
            time.sleep(0.001)
        put_away.append(True)

    def work() -> None:
        with interrupts.working("run"):
            with context():
                pass
            while True:
                time.sleep(0.001)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    ready.wait()
    interrupts.end("run")
    time.sleep(0.05)
    go.set()
    thread.join(60)
    assert not thread.is_alive()
    assert put_away
