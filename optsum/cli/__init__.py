"""The command line: parse, call the library, say how it went."""

from optsum.cli.app import main

__all__ = ["main"]
