"""Check that Ctrl-C is neither lost nor a crash while a kernel returns its value."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "support" / "pressed.py"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no timers that interrupt")
def test_ctrl_c_neither_crashes_nor_is_lost_where_a_kernel_returns() -> None:
    # numba asks Python for the class of a tuple or array, and does not expect an exception.
    done = subprocess.run([sys.executable, str(SCRIPT), "0.7"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True []\n"), done.stderr
