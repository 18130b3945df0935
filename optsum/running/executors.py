"""Executors: processes of this machine or of a cluster, and the choice between them.

All processes of loky send results through one pipe, and the sender holds its lock. A process killed while sending
leaves half a message, and the reader would wait for the rest forever, because other processes have the pipe open too.
So the pipes are replaced by wide ones, on which an incomplete message is detected.
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
_CONNECT_S: Final = 15.0  # How long a scheduler may take to answer.
_FIRST_S: Final = 20.0  # How long nothing is said of a cluster that has no workers yet.
_LOOKS_S: Final = 2.0  # Between two looks at how many workers there are.

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
"""Configuration of our own clusters; by default, nannies make workers return memory in pieces of 64 kB."""


class DiedError(BrokenExecutor):
    """A worker died while processing its items."""


class Dask(Crew):
    """The workers of a cluster.

    `scheduler`: its address; None starts a cluster on this machine for the call. `width`, `memory`: its number of
    workers, and their memory limit in bytes.
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
            logger = logging.getLogger(name)  # what matters of their news is said in a sentence of ours
            self._stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        try:
            if scheduler is None:
                try:  # a key of this run alone, as a scheduler runs the code of anyone who can reach it
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
                f"The scheduler {self._where} does not respond ({error}): check its address, tcp://HOST:PORT, and "
                f"that it runs."
            ) from error

    def _entered(self, client: Any) -> Any:
        self._stack.enter_context(suppress(Exception))  # a scheduler that is gone has nothing to be told
        self._stack.callback(client.close, timeout=2)
        return client

    def _wait_for_workers(self) -> None:
        """Wait for a first worker without a time limit, because it may be queued for a machine."""
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
        """Number of threads of all workers: one each, if they were started as documented."""
        if monotonic() - self._looked > _LOOKS_S:
            self._looked = monotonic()
            with suppress(Exception):  # whoever waits for the work will see what is wrong
                self._width = max(1, sum(self._client.nthreads().values()))
        return self._width

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
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
        """Pass the outcome of a task to its future, which always gets a result or an exception."""
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
        if self._client.status not in {"running", "connecting"}:
            raise self._gone()

    def _gone(self) -> ExecutorError:
        return ExecutorError(
            f"The scheduler {self._where} has ended, or has lost its tasks: start it again; finished work is kept."
        )

    def interrupt(self, name: str, futures: Iterable[Future[Any]]) -> None:
        del futures  # workers answer at once to whatever comes
        with suppress(Exception):  # a scheduler that is gone has nothing to be told
            self._client.run(interrupt_here, name, wait=False)

    def end(self, futures: Iterable[Future[Any]] = ()) -> None:
        del futures  # a client that leaves takes its own with it
        self._stack.close()


# At a worker.


def _version() -> str:
    return __version__


def _with_tracebacks(shown: bool, function: Callable[..., Any], *arguments: Any) -> Any:
    if shown:
        show_tracebacks()
    return function(*arguments)


_IDLE_S = 60  # How long processes wait for more work, so that a next call need not start new ones.


class Local(Crew):
    """Processes of this machine, kept for the next call; `copied`: begun as copies of this one, where that is safe."""

    width = 1

    def __init__(self, width: int, memory: int | None = None, *, copied: bool = False) -> None:
        self.width, self._memory = width, memory
        self._copied = copied and memory is None and sys.platform == "linux"  # a copy has taken memory already
        self._executor: Any = None
        if self._copied and has_one_thread():
            self.submit(int)  # before anybody starts a thread: then there are no more copies

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            return self._submit(function, *arguments)
        except BrokenExecutor:  # a process died since it was looked whether they are well; others are started now
            return self._submit(function, *arguments)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        from loky import get_reusable_executor

        if os.name == "posix" and self._executor is None:
            # Python 3.11 lets signals through again once it has started this one, which loky needs; so start it before.
            silent = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker"]))
            with environment({**SAFE_PATH, "PYTHONWARNINGS": silent}):
                from loky.backend import resource_tracker as lokys

                resource_tracker.ensure_running()
                lokys.ensure_running()
        context, folder = None, None
        if self._copied:
            from optsum.running import copies

            context = copies.CONTEXT
        with suppress(FileNotFoundError):  # somebody has removed it
            folder = str(Path.cwd())
        with _signals_held(), environment(SAFE_PATH):
            self._executor = get_reusable_executor(
                self.width,
                context=context,
                timeout=_IDLE_S,
                initializer=start_process,
                initargs=(os.getpid(), tracebacks_are_shown(), self._memory, folder),  # others: new processes
                env={**SAFE_PATH, **KEEPS_MEMORY},
            )
            mend_pipes(self._executor)
            future: Future[Any] = self._executor.submit(function, *arguments)
        return future

    def interrupt(self, name: str, futures: Iterable[Future[Any]]) -> None:
        # They do nothing else, and answer at once to whatever comes; loky 3.7 stumbles when it kills what is cancelled.
        del name, futures
        interrupt_processes(self._executor)

    def end(self, futures: Iterable[Future[Any]] = ()) -> None:
        del futures
        if self._executor is not None:
            with warnings.catch_warnings():  # that there is no pgrep to find a process's own processes with
                warnings.simplefilter("ignore")
                self._executor.shutdown(wait=True, kill_workers=True)

    def close(self) -> None:
        """Keep the processes for a while."""


def interrupt_processes(executor: Any) -> None:
    """Send Ctrl-C to the processes of an executor, which do not get it if it was sent only to this process."""
    for process in list(getattr(executor, "_processes", None) or {}):
        if os.name == "posix":
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGINT)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Block Ctrl-C and SIGTERM in a starting process until it can handle them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_WIDTH: Final = 1 << 20
"""Capacity of a pipe in bytes, the most that Linux allows everybody. With 64 kB, a sender of a batch repeatedly waits
for the reader, which waits for Python's lock.
"""


class Results(Connection):
    """The reading end of a pipe of results: `handle`, which this closes; `processes`: the living senders."""

    def __init__(self, handle: int, processes: Mapping[int, Any]) -> None:
        super().__init__(handle, writable=False)
        self._processes = processes

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle as nothing: workers only write, but loky pickles this object when one process replaces another."""
        return type(None), ()

    def _recv(self, size: int, read: Any = None) -> Any:
        del read
        return super()._recv(size, self._next)  # type: ignore[misc]

    def _next(self, handle: int, size: int) -> bytes:
        """Return the available bytes of a message; raise `EOFError` if a sender has died and nothing more comes."""
        senders = {process.sentinel: process for process in list(self._processes.values())}
        while handle not in (ready := wait([handle, *senders])):
            idle = [sentinel for sentinel in ready if senders[sentinel].exitcode == 0]
            if not idle:
                raise EOFError("a process died while results were sent")
            for sentinel in idle:  # it ended by itself, having nothing to do, and had sent all it had
                del senders[sentinel]
        return os.read(handle, size)


def mend_pipes(executor: Any) -> None:
    """Widen the pipes of an executor of loky without submitted work, and make it detect incomplete messages."""
    results = executor._result_queue  # noqa: SLF001 - loky has no other way to its pipes
    if os.name != "posix" or isinstance(results._reader, Results):  # noqa: SLF001
        return
    if sys.platform == "linux":
        from fcntl import F_SETPIPE_SZ, fcntl

        for pipe in (results, executor._call_queue):  # noqa: SLF001
            with suppress(OSError):  # the user has as many pages in pipes as are allowed
                fcntl(pipe._writer.fileno(), F_SETPIPE_SZ, _WIDTH)  # noqa: SLF001
    results._reader = Results(os.dup(results._reader.fileno()), executor._processes)  # noqa: SLF001


class Given(Crew):
    """An executor of the caller, who ends it; or a function that makes one, again after a crash."""

    def __init__(self, source: Executor | Callable[[], Executor]) -> None:
        self._make = None if isinstance(source, Executor) else source
        self._executor = source if isinstance(source, Executor) else source()

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
        interrupt_here(name)  # threads
        interrupt_processes(self._executor)

    def end(self, futures: Iterable[Future[Any]] = ()) -> None:
        for future in futures:
            future.cancel()
        if self._make is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)


AnyExecutor: TypeAlias = "Executor | Callable[[], Executor]"
"""An executor of the caller's, or a function that makes one."""


def crew_of(
    options: Options, executor: AnyExecutor | None = None, *, apart: bool = False, copied: bool = False
) -> Crew | None:
    """Return the workers, or None; `apart`: one at least; `copied`: they may begin as copies of this process."""
    memory = options.memory
    if executor is not None:
        if memory is not None:
            raise OptionError("An executor of your own has its own limits: leave out the memory per worker.")
        return Given(executor)
    if options.executor == "dask":
        if options.scheduler is not None and memory is not None:
            raise OptionError("The workers of a cluster have their own limits: give dask worker --memory-limit.")
        return Dask(options.scheduler, options.workers, memory)
    if options.scheduler is not None:
        raise OptionError("Only the executor dask has a scheduler: give --executor=dask.")
    several = apart or memory is not None or options.workers > 1
    return Local(options.workers, memory, copied=copied) if several else None
