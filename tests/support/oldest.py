"""Print the oldest versions that pyproject.toml allows, as constraints for pip: `make test-oldest` installs them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent / "pyproject.toml"


def oldest(requirement: str) -> str:
    """Return ``name==version`` with the lower bound of a requirement.

    Raises
    ------
    ValueError
        If it has none.
    """
    found = re.match(r"([\w.-]+)(?:\[[^\]]*\])?>=([\w.]+)", requirement)
    if found is None:
        raise ValueError(f"{requirement!r} has no lower bound")
    return f"{found[1]}=={found[2]}"


def pins() -> list[str]:
    """Return the constraints for all that is installed by default."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    return [oldest(requirement) for requirement in project["dependencies"]]


if __name__ == "__main__":
    print("\n".join(pins()))
