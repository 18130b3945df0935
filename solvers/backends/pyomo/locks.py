"""The lock that Pyomo makes when it is loaded."""

from __future__ import annotations

import multiprocessing
from threading import Lock


def let_go_of_named_locks() -> None:
    """Have Pyomo hold no lock that the system knows by a name.

    It makes one that processes which are forked share. In a process that was not forked but started, as those of loky
    and dask are, such a lock has a name, is shared with nobody, and is missed when the process is killed, as at Ctrl-C:
    Python's resource tracker then writes of leaked semaphores amid what optsum says.
    """
    if multiprocessing.get_start_method(allow_none=True) in {None, "fork"}:
        return
    from pyomo.common import dependencies

    if not isinstance(dependencies.capture_output_lock, type(Lock())):
        dependencies.capture_output_lock = Lock()
