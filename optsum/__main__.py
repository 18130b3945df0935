"""``python -m optsum`` is the command ``optsum``."""

import sys

from optsum.cli import main

sys.exit(main())
