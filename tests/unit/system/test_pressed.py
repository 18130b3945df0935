"""Ctrl-C while a kernel hands over what it returns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "support" / "pressed.py"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no timers that interrupt")
def test_ctrl_c_neither_crashes_nor_is_lost_where_a_kernel_returns() -> None:
    # numba asks Python for the class of a tuple or an array, and takes no exception for an answer.
    done = subprocess.run([sys.executable, str(SCRIPT), "0.7"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True []\n"), done.stderr
