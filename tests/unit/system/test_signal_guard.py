"""Check that Ctrl-C is postponed where an exception would be lost or end the process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from optsum.system.processes.signal_guard import postponing

posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


def done(lines: str) -> tuple[str, str, int]:
    """Run a program, and return its output, its error output and its exit status."""
    code = "import os, signal, sys, time\nfrom optsum.system.processes.signal_guard import postponing\n" + lines
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    return ended.stdout, ended.stderr, ended.returncode


@posix
def test_a_kernel_that_makes_a_tuple_is_not_broken_off() -> None:
    """Test this because numba's request for the class of the tuple must not raise: the process would crash."""
    found = done(
        "from collections import namedtuple\n"
        "from numba import int64, njit\n"
        "from numba.core import serialize\n"
        "Pair = namedtuple('Pair', 'left right')\n"
        "@njit\n"
        "def pair(number):\n"
        "    return Pair(number, number)\n"
        "pair.compile((int64,))\n"
        "loads = serialize.cloudpickle.loads\n"
        "def signalled(data):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return loads(data)\n"
        "serialize.cloudpickle.loads = signalled\n"
        "try:\n"
        "    with postponing():\n"
        "        print(pair(3))\n"
        "        time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('heard')\n"
    )
    assert found == ("Pair(left=3, right=3)\nheard\n", "", 0)


@posix
def test_a_kernel_that_is_being_linked_does_not_lose_it() -> None:
    """Test this because LLVM calls Python through ctypes, which prints exceptions and continues."""
    found = done(
        "from numba import njit\n"
        "@njit\n"
        "def same(number):\n"
        "    return number\n"
        "def trace(frame, event, argument):\n"
        "    if event == 'call' and frame.f_code.co_name.startswith('_raw_object_cache'):\n"
        "        sys.setprofile(None)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "try:\n"
        "    with postponing():\n"
        "        sys.setprofile(trace)\n"
        "        same(3)\n"
        "        print('linked' if sys.getprofile() is None else 'never called')\n"
        "        time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('heard')\n"
    )
    assert found[1:] == ("", 0)
    assert found[0] in {"linked\nheard\n", "heard\n"}  # raised while compiling continues, or after it


@posix
def test_an_interrupt_in_other_code_is_raised_at_once() -> None:
    found = done(
        "before = signal.getsignal(signal.SIGINT)\n"
        "try:\n"
        "    with postponing(), postponing():\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        print('too late')\n"
        "except KeyboardInterrupt:\n"
        "    print('heard', signal.getsignal(signal.SIGINT) is before)\n"
    )
    assert found == ("heard True\n", "", 0)


def test_a_handler_of_others_stays() -> None:
    def own(*_: object) -> None:
        """Handle the signal like a user's handler."""

    before = signal.signal(signal.SIGINT, own)
    try:
        with postponing():
            assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_have_no_handlers() -> None:
    found: list[object] = []

    def work() -> None:
        with postponing():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]


CONTEXT = """
from contextlib import contextmanager, redirect_stdout
from io import StringIO
begun = []
@contextmanager
def context():
    press('set up')
    begun.append('set up')
    try:
        yield
    finally:
        press('put away')
        begun.remove('set up')
def press(where):
    if where == {where!r}:
        os.kill(os.getpid(), signal.SIGINT)
before = sys.stdout
try:
    with postponing():
        with redirect_stdout(StringIO()), context():
            press('inside')
        time.sleep(60)
except KeyboardInterrupt:
    print('heard', begun, sys.stdout is before)
"""


@posix
@pytest.mark.parametrize("where", ["set up", "put away", "inside"])
def test_a_context_is_set_up_and_put_away_whole(where: str) -> None:
    assert done(CONTEXT.format(where=where)) == ("heard [] True\n", "", 0)


@posix
def test_a_module_of_ours_is_imported_whole(tmp_path: Path) -> None:
    """Test functions and classes of the module that are called during its import."""
    (tmp_path / "pressed.py").write_text(
        "import os, signal\nclass Own:\n    os.kill(os.getpid(), signal.SIGINT)\nready = True\n"
    )
    found = done(
        "import optsum\n"
        f"optsum.__path__.append({str(tmp_path)!r})\n"
        "try:\n"
        "    with postponing():\n"
        "        import optsum.pressed\n"
        "        time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('heard', optsum.pressed.ready)\n"
    )
    assert found == ("heard True\n", "", 0)


@posix
def test_an_import_of_a_user_s_module_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(
        "import os, signal\n"
        "from optsum.system.processes.signal_guard import postponing\n"
        "@postponing()\n"
        "def work():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    print('too late')\n"
        "work()\n"
    )
    found = done(
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "try:\n"
        "    import caller\n"
        "except KeyboardInterrupt:\n"
        "    print('heard')\n"
    )
    assert found == ("heard\n", "", 0)
