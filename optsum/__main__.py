"""``python -m optsum`` is the command ``optsum``."""

import sys

from optsum.cli import main

if __name__ == "__main__":
    sys.exit(main())
