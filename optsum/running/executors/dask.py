"""Processes of a cluster, by dask.distributed: one that runs already, or one of this machine for this call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Future
from contextlib import ExitStack, suppress
from time import monotonic
from typing import Any, Final

from optsum._version import __version__
from optsum.errors import ExecutorError, OptionError, show_tracebacks, tracebacks_are_shown
from optsum.running.executors.work import KEEPS_MEMORY, interrupt_here
from optsum.system.processes.children import SAFE_PATH, environment

_LOG = logging.getLogger("optsum")

_CONNECT_S: Final = 15.0
"""How long a scheduler may take to answer."""

_FIRST_S: Final = 20.0
"""How long nothing is said of a cluster that has no workers yet."""

_LOOKS_S: Final = 2.0
"""Between two looks at how many workers there are."""

_QUIET: Final = {
    # A topic that kills its worker is tried again by us, alone, and by nobody else.
    "distributed.scheduler.allowed-failures": 0,
    # Nobody looks at what these would show; together they take as much as short topics do.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
    # Pages that anybody on this machine could read.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    **{f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in KEEPS_MEMORY.items()},
}
"""How a cluster of ours is configured; nannies would else have workers hand back each 64 kB that are free."""


def _loggers() -> list[str]:
    """Return who says what happens: those below ``distributed`` too, some of which have levels of their own."""
    return ["distributed", "tornado.application"] + [
        name for name in logging.root.manager.loggerDict if name.startswith("distributed.")
    ]


class DiedError(BrokenExecutor):
    """A worker died of what it was given."""


class Dask:
    """The workers of a cluster.

    Parameters
    ----------
    scheduler : str or None
        Its address; None starts a cluster on this machine, which ends with the call.
    width, memory : int
        How many workers that has, and the bytes that each may take.

    Raises
    ------
    OptionError
        If the package is missing, or cryptography for a cluster of this machine.
    ExecutorError
        If the scheduler does not answer, or its workers have another version of optsum.
    """

    falls_together = False
    batch_s = 0.5

    def __init__(self, scheduler: str | None, width: int, memory: int | None = None) -> None:
        try:
            import distributed
        except ImportError as error:
            raise OptionError(
                "The executor dask needs the package distributed: pip install 'optsum[cluster]'."
            ) from error
        self._stack = ExitStack()
        self._looked, self._width = -_LOOKS_S, 1
        self._where = scheduler or "of this machine"
        try:
            self._client = self._connect(distributed, scheduler, width, memory)
            self._wait_for_workers()
            self._check_versions()
        except BaseException:
            self.end()
            raise

    def _connect(self, distributed: Any, scheduler: str | None, width: int, memory: int | None) -> Any:
        import dask

        for name in _loggers():
            logger = logging.getLogger(name)  # what matters of their news is said in a sentence of ours
            self._stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        try:
            if scheduler is None:
                security = _key_of_run(distributed)
                with dask.config.set(_QUIET), environment(SAFE_PATH):
                    cluster = distributed.LocalCluster(
                        n_workers=width,
                        threads_per_worker=1,
                        processes=True,
                        host="127.0.0.1",
                        protocol="tls://",
                        security=security,
                        dashboard_address="127.0.0.1:0",  # without an address it would be a fixed port
                        scheduler_kwargs={"dashboard": False},
                        memory_limit=memory or 0,
                        silence_logs=logging.CRITICAL,
                    )
                self._stack.callback(cluster.close, timeout=5)
                return self._entered(distributed.Client(cluster, security=security, set_as_default=False))
            return self._entered(distributed.Client(scheduler, timeout=_CONNECT_S, set_as_default=False))
        except (OSError, ValueError, TimeoutError) as error:
            raise ExecutorError(
                f"The scheduler {self._where} does not answer ({error}): look at its address, tcp://HOST:PORT, and "
                "whether it runs."
            ) from error

    def _entered(self, client: Any) -> Any:
        self._stack.callback(self._close, client)
        return client

    @staticmethod
    def _close(client: Any) -> None:
        with suppress(Exception):  # a scheduler that is gone has nothing to be told
            client.close(timeout=2)

    def _wait_for_workers(self) -> None:
        """Wait for a first worker, as long as it takes; a queue may have to be passed first."""
        from distributed import TimeoutError as LateError

        limit = _FIRST_S
        while True:
            try:
                self._client.wait_for_workers(1, timeout=limit)
            except LateError:
                if not self._client.scheduler_info(n_workers=-1)["workers"]:
                    if limit == _FIRST_S:
                        _LOG.warning("the scheduler %s has no workers yet; waiting for the first", self._where)
                    limit = 3600.0
                    continue
            return

    def _check_versions(self) -> None:
        try:
            found = self._client.run(_version, on_error="return")
        except (OSError, ValueError) as error:
            raise ExecutorError(f"The workers of the scheduler {self._where} do not answer: {error}.") from error
        for worker, version in found.items():
            if version != __version__:
                held = f"has optsum {version}" if isinstance(version, str) else "has no optsum that can be imported"
                raise ExecutorError(
                    f"The worker {worker} {held}, and this is {__version__}: install the same in its environment."
                )

    @property
    def width(self) -> int:
        """As many threads as all workers have: one each, if they were started as the documentation says."""
        if monotonic() - self._looked > _LOOKS_S:
            self._looked = monotonic()
            with suppress(Exception):  # whoever waits for the work will see what is wrong
                self._width = max(1, sum(self._client.nthreads().values()))
        return self._width

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have something done, as `Crew.submit`."""
        ours: Future[Any] = Future()
        try:
            theirs = self._client.submit(
                _with_tracebacks, tracebacks_are_shown(), function, *arguments, pure=False, retries=0
            )
        except (OSError, RuntimeError) as error:
            raise self._gone() from error
        ours.set_running_or_notify_cancel()
        theirs.add_done_callback(lambda done: self._pass_on(done, ours))
        return ours

    def _pass_on(self, theirs: Any, ours: Future[Any]) -> None:
        """Hand over what became of a task; whatever happens, whoever waits for it gets an answer."""
        from distributed.scheduler import KilledWorker

        try:
            error = theirs.exception(timeout=_CONNECT_S) if theirs.status == "error" else None
            if isinstance(error, KilledWorker):
                ours.set_exception(DiedError(str(error)))
            elif error is not None:
                ours.set_exception(error)
            elif theirs.status == "finished":
                ours.set_result(theirs.result(timeout=_CONNECT_S))
            else:
                ours.set_exception(self._gone())
        except BaseException as reason:  # noqa: BLE001 - of a result that cannot be fetched any more, many kinds
            if not ours.done():
                gone = self._gone()
                gone.__cause__ = reason
                ours.set_exception(gone)

    def check(self) -> None:
        """Look whether the scheduler is still there."""
        if self._client.status not in {"running", "connecting"}:
            raise self._gone()

    def _gone(self) -> ExecutorError:
        return ExecutorError(
            f"The scheduler {self._where} is gone, or has thrown away what it was to do: start it again; what is done "
            "by now is kept."
        )

    def interrupt(self, name: str, futures: Iterable[Future[Any]]) -> None:
        """Have the searches of a run end."""
        del futures  # workers answer at once to whatever comes
        with suppress(Exception):  # a scheduler that is gone has nothing to be told
            self._client.run(interrupt_here, name, wait=False)

    def end(self, futures: Iterable[Future[Any]] = ()) -> None:
        """Give up what is under way."""
        del futures  # a client that leaves takes its own with it
        self._stack.close()

    def close(self) -> None:
        """Let go."""
        self.end()


def _key_of_run(distributed: Any) -> Any:
    """Return a key and its certificate, which nobody else has: whoever reaches a scheduler has code run by it."""
    try:
        return distributed.Security.temporary()
    except ImportError as error:
        raise OptionError(
            "A cluster of this machine is encrypted, which needs the package cryptography: "
            "pip install 'optsum[cluster]'."
        ) from error


# At a worker.


def _version() -> str:
    return __version__


def _with_tracebacks(shown: bool, function: Callable[..., Any], *arguments: Any) -> Any:
    if shown:
        show_tracebacks()
    return function(*arguments)
