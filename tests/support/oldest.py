"""Print the lower bounds of pyproject.toml as constraints for pip, which `make test-oldest` installs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent / "pyproject.toml"
FOR_DEVELOPERS = {"dev", "docs"}


def oldest(requirement: str) -> str:
    """Return ``name==version`` with the lower bound of a requirement.

    Raises
    ------
    ValueError
        If the requirement has no lower bound.
    """
    found = re.match(r"([\w.-]+)(?:\[[^\]]*\])?>=([\w.]+)", requirement)
    if found is None:
        raise ValueError(f"{requirement!r} has no lower bound")
    return f"{found[1]}=={found[2]}"


def pins() -> list[str]:
    """Return the constraints of the default dependencies and of all extras but those for developers."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = [
        requirement
        for extra, requirements in project["optional-dependencies"].items()
        if extra not in FOR_DEVELOPERS
        for requirement in requirements
    ]
    return list(dict.fromkeys(oldest(requirement) for requirement in [*project["dependencies"], *extras]))


if __name__ == "__main__":
    print("\n".join(pins()))
