"""Choose who does the work: processes of this machine, a cluster, or an executor of the caller.

All worker processes of loky send their results through one pipe, one at a time. If one is killed while sending, half a
message remains, and this process would wait for the rest forever, because the other workers keep the pipe open. So
`mend_pipes` replaces the reading end by one that detects incomplete messages.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from optsum._version import __version__
from optsum.errors import ExecutorError, OptionError, show_tracebacks, tracebacks_are_shown
from optsum.running.workers import KEEPS_MEMORY, STOP, Crew, interrupt_here, start_process
from optsum.system.processes.children import SAFE_PATH, environment, has_one_thread

if TYPE_CHECKING:
    from optsum.options.options import Options

_LOG = logging.getLogger("optsum")
_CONNECT_S: Final = 15.0  # Seconds that a scheduler may take to answer.
_LOOKS_S: Final = 2.0  # Seconds between two counts of the workers of a cluster.

_QUIET: Final = {
    # optsum itself repeats topics whose worker died, one at a time.
    "distributed.scheduler.allowed-failures": 0,
    # Monitoring, which nobody reads here, takes as much time as short topics do.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
    # Every user of this machine could read the web pages.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    **{f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in KEEPS_MEMORY.items()},
}
"""Configuration of clusters that optsum starts; by default, workers would return memory in pieces of 64 kB."""


class Dask(Crew):
    """The workers of a cluster.

    `scheduler`: address of its scheduler; None starts a cluster on this machine for one call. `width`, `memory`: number
    of workers, and memory limit of each in bytes, of a cluster that is started.
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

        theirs = [name for name in logging.root.manager.loggerDict if name.startswith("distributed.")]
        for name in ("distributed", "tornado.application", *theirs):
            logger = logging.getLogger(name)  # optsum reports what matters in its own words
            self._stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        try:
            if scheduler is None:
                try:  # a key for this run only, because a scheduler runs the code of anyone who reaches it
                    security = distributed.Security.temporary()
                except ImportError as error:
                    raise OptionError(
                        "A cluster on this machine is encrypted, which needs the package cryptography: "
                        "pip install 'optsum[cluster]'."
                    ) from error
                with dask.config.set(_QUIET), environment(SAFE_PATH):
                    cluster = distributed.LocalCluster(
                        n_workers=width,
                        threads_per_worker=1,
                        processes=True,
                        host="127.0.0.1",
                        protocol="tls://",
                        security=security,
                        dashboard_address="127.0.0.1:0",  # the default would be a fixed port
                        scheduler_kwargs={"dashboard": False},
                        memory_limit=memory or 0,
                        silence_logs=logging.CRITICAL,
                    )
                self._stack.callback(cluster.close, timeout=5)
                client = distributed.Client(cluster, security=security, set_as_default=False)
            else:
                client = distributed.Client(scheduler, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ExecutorError(
                f"The scheduler {self._where} does not respond ({error}): check its address, tcp://HOST:PORT, and "
                f"that it runs."
            ) from error
        self._stack.enter_context(suppress(Exception))  # the scheduler may have ended
        self._stack.callback(client.close, timeout=2)
        return client

    def _wait_for_workers(self) -> None:
        """Wait for the first worker without a time limit, because it may be queued on a busy cluster."""
        from distributed import TimeoutError as LateError

        try:
            self._client.wait_for_workers(1, timeout=20.0)  # then a warning says that there is none yet
        except LateError:
            if not self._client.scheduler_info(n_workers=-1)["workers"]:
                _LOG.warning("the scheduler %s has no workers yet; waiting for the first", self._where)
                self._client.wait_for_workers(1)

    def _check_versions(self) -> None:
        try:
            found = self._client.run(_version, on_error="return")
        except (OSError, ValueError) as error:
            raise ExecutorError(f"The workers of the scheduler {self._where} do not respond: {error}.") from error
        for worker, version in found.items():
            if version != __version__:
                held = f"has optsum {version}" if isinstance(version, str) else "cannot import optsum"
                raise ExecutorError(
                    f"The worker {worker} {held}, and this is {__version__}: install the same version in its "
                    f"environment."
                )

    @property
    def width(self) -> int:
        """Number of threads of all workers; each has one if it was started as documented."""
        if monotonic() - self._looked > _LOOKS_S:
            self._looked = monotonic()
            with suppress(Exception):  # waiting for results reports the error
                self._width = max(1, sum(self._client.nthreads().values()))
        return self._width

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        ours: Future[Any] = Future()
        task = (_with_tracebacks, tracebacks_are_shown(), function, *arguments)
        try:
            theirs = self._client.submit(*task, pure=False, retries=0)
        except (OSError, RuntimeError) as error:
            raise self._gone() from error
        ours.set_running_or_notify_cancel()
        theirs.add_done_callback(lambda done: self._pass_on(done, ours))
        return ours

    def _pass_on(self, theirs: Any, ours: Future[Any]) -> None:
        """Pass the outcome of a task of dask (`theirs`) to our future, which always gets a result or an exception."""
        from distributed.scheduler import KilledWorker

        try:
            error = theirs.exception(timeout=_CONNECT_S) if theirs.status == "error" else None
            if isinstance(error, KilledWorker):
                ours.set_exception(BrokenExecutor(str(error)))
            elif error is not None:
                ours.set_exception(error)
            elif theirs.status == "finished":
                ours.set_result(theirs.result(timeout=_CONNECT_S))
            else:
                ours.set_exception(self._gone())
        except BaseException as reason:  # noqa: BLE001 - many kinds, if a result can no longer be fetched
            if not ours.done():
                gone = self._gone()
                gone.__cause__ = reason
                ours.set_exception(gone)

    def check(self) -> None:
        if self._client.status not in {"running", "connecting"}:
            raise self._gone()

    def _gone(self) -> ExecutorError:
        return ExecutorError(
            f"The scheduler {self._where} has ended, or has lost its tasks: start it again; finished work is kept."
        )

    def interrupt(self, name: str, futures: Iterable[Future[Any]]) -> None:
        del futures  # interrupted workers return all later work at once
        with suppress(Exception):  # the scheduler may have ended
            self._client.run(interrupt_here, name, wait=False)

    def end(self, futures: Iterable[Future[Any]] = ()) -> None:
        del futures  # closing the client cancels them
        self._stack.close()


# Functions that a worker of a cluster runs.


def _version() -> str:
    return __version__


def _with_tracebacks(shown: bool, function: Callable[..., Any], *arguments: Any) -> Any:
    if shown:
        show_tracebacks()
    return function(*arguments)


_IDLE_S = 60  # Seconds that idle processes stay alive, so that the next call can reuse them.


class Local(Crew):
    """Processes of this machine, kept for the next call; `copied`: forked from this process where that is safe."""

    width = 1

    def __init__(self, width: int, memory: int | None = None, *, copied: bool = False) -> None:
        self.width, self._memory = width, memory
        self._copied = copied and memory is None and sys.platform == "linux"  # a copy already uses much
        self._executor: Any = None
        if self._copied and has_one_thread():
            self.submit(int)  # starts processes while there is one thread; later they could not be copies

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            return self._submit(function, *arguments)
        except BrokenExecutor:  # a process died since the last check; the second call starts new ones
            return self._submit(function, *arguments)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        from loky import get_reusable_executor

        if os.name == "posix" and self._executor is None:
            # Starting the resource trackers unblocks signals in Python 3.11, so start them before signals are blocked.
            silent = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker"]))
            with environment({**SAFE_PATH, "PYTHONWARNINGS": silent}):
                from loky.backend import resource_tracker as lokys

                resource_tracker.ensure_running()
                lokys.ensure_running()
        context, folder = None, None
        if self._copied:
            from optsum.running import copies

            context = copies.CONTEXT
        with suppress(FileNotFoundError):  # the current folder has been removed
            folder = str(Path.cwd())
        with _signals_held(), environment(SAFE_PATH):
            self._executor = get_reusable_executor(
                self.width,
                context=context,
                timeout=_IDLE_S,
                initializer=start_process,
                initargs=(os.getpid(), tracebacks_are_shown(), self._memory, folder),  # if changed, loky starts anew
                env={**SAFE_PATH, **KEEPS_MEMORY},
            )
            mend_pipes(self._executor)
            future: Future[Any] = self._executor.submit(function, *arguments)
        return future

    def interrupt(self, name: str, futures: Iterable[Future[Any]]) -> None:
        # Interrupted processes return all later work at once. Futures are not cancelled: loky 3.7 fails to end these.
        del name, futures
        interrupt_processes(self._executor)

    def end(self, futures: Iterable[Future[Any]] = ()) -> None:
        del futures
        if self._executor is not None:
            with warnings.catch_warnings():  # loky warns if it lacks pgrep, which finds child processes
                warnings.simplefilter("ignore")
                self._executor.shutdown(wait=True, kill_workers=True)

    def close(self) -> None:
        """Keep the processes for the next call; they end after `_IDLE_S` seconds without work."""


def interrupt_processes(executor: Any) -> None:
    """Send SIGINT to the processes of an executor, in case only this process received it."""
    for process in list(getattr(executor, "_processes", None) or {}) if os.name == "posix" else ():
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGINT)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Block Ctrl-C and SIGTERM; processes started meanwhile inherit the block, and end it when they are ready."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Results(Connection):
    """The reading end of a pipe of results. `handle`: its descriptor, which it closes; `processes`: the senders."""

    def __init__(self, handle: int, processes: Mapping[int, Any]) -> None:
        super().__init__(handle, writable=False)
        self._processes = processes

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle as None: loky sends this object to processes that replace others, and these never read results."""
        return type(None), ()

    def _recv(self, size: int, read: Any = None) -> Any:
        del read
        return super()._recv(size, self._next)  # type: ignore[misc]

    def _next(self, handle: int, size: int) -> bytes:
        """Return the available bytes of a message; raise `EOFError` if there are none and a sender has died."""
        senders = {process.sentinel: process for process in list(self._processes.values())}
        while handle not in (ready := wait([handle, *senders])):
            idle = [sentinel for sentinel in ready if senders[sentinel].exitcode == 0]
            if not idle:
                raise EOFError("a process died while results were sent")
            for sentinel in idle:  # it ended normally, when idle, and has sent everything
                del senders[sentinel]
        return os.read(handle, size)


def mend_pipes(executor: Any) -> None:
    """Enlarge the buffers of a loky executor's pipes, and let it detect incomplete results, before it gets work."""
    results = executor._result_queue  # noqa: SLF001 - loky has no other way to its pipes
    if os.name != "posix" or isinstance(results._reader, Results):  # noqa: SLF001
        return
    if sys.platform == "linux":
        from fcntl import F_SETPIPE_SZ, fcntl

        # The largest size that Linux allows to ordinary users. With the default of 64 kB, the sender of a batch
        # repeatedly waits for the reader, which waits for Python's global lock.
        for pipe in (results, executor._call_queue):  # noqa: SLF001
            with suppress(OSError):  # this user's pipes have reached their memory limit
                fcntl(pipe._writer.fileno(), F_SETPIPE_SZ, 1 << 20)  # noqa: SLF001
    results._reader = Results(os.dup(results._reader.fileno()), executor._processes)  # noqa: SLF001


class Given(Crew):
    """An executor that the caller made and ends, or a function that makes executors: another one after each crash."""

    def __init__(self, source: Executor | Callable[[], Executor]) -> None:
        self._make = None if isinstance(source, Executor) or not callable(source) else source
        made: Any = source if self._make is None else self._make()
        if not callable(getattr(made, "submit", None)):
            what = "executor is" if self._make is None else "The function executor returns"
            raise OptionError(f"{what} {made!r:.60}: give an Executor, or a function that makes them.")
        self._executor: Executor = made

    @property
    def width(self) -> int:
        """Number of workers that the executor reports; 1 if it reports none."""
        found = getattr(self._executor, "_max_workers", None)
        return found if isinstance(found, int) and found > 0 else 1

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            return self._executor.submit(function, *arguments)
        except BrokenExecutor as error:
            if self._make is None:
                raise ExecutorError(
                    "The executor is broken, because one of its processes died: give a function that makes "
                    "executors, so that it can be replaced."
                ) from error
            self._executor = self._make()
            return self._executor.submit(function, *arguments)
        except RuntimeError as error:
            raise ExecutorError(f"The executor accepts no work: {error}.") from error

    def interrupt(self, name: str, futures: Iterable[Future[Any]]) -> None:
        for future in futures:
            future.cancel()
        interrupt_here(name)  # for threads of this process
        interrupt_processes(self._executor)

    def end(self, futures: Iterable[Future[Any]] = ()) -> None:
        for future in futures:
            future.cancel()
        if self._make is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)


AnyExecutor: TypeAlias = "Executor | Callable[[], Executor]"
"""An executor of the caller, or a function that makes one."""


def crew_of(
    options: Options, executor: AnyExecutor | None = None, *, apart: bool = False, copied: bool = False
) -> Crew | None:
    """Return the workers; None: work in this process (never if `apart`). `copied`: workers may be forked from it."""
    memory = options.memory
    if executor is not None:
        if memory is not None:
            raise OptionError("An executor of your own has its own limits: leave out memory, the limit of each worker.")
        return Given(executor)
    if options.executor == "dask":
        if options.scheduler is not None and memory is not None:
            raise OptionError("The workers of a cluster have their own limits: give dask worker --memory-limit.")
        return Dask(options.scheduler, options.workers, memory)
    if options.scheduler is not None:
        raise OptionError("Only the executor dask has a scheduler: give --executor=dask.")
    several = apart or memory is not None or options.workers > 1
    return Local(options.workers, memory, copied=copied) if several else None
