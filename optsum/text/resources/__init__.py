"""Word lists of ROUGE-1.5.5, included as data; `LICENSES.md` names origin and licence of each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

# The order in which the original script's exception database is filled: a later entry replaces an earlier
# one.
_EXCEPTION_FILES = ("adj.exc", "adv.exc", "noun.exc", "verb.exc")


@cache
def smart_stopwords() -> frozenset[str]:
    """Return the stop words of the SMART system as ROUGE-1.5.5 ships them (596 lower-case words)."""
    return frozenset(_lines("smart_common_words.txt"))


@cache
def wordnet_exceptions() -> Mapping[str, str]:
    """Return irregular form -> base form, from the exception lists of WordNet 2.0 (5,930 entries)."""
    return MappingProxyType(dict(line.split()[:2] for name in _EXCEPTION_FILES for line in _lines(name)))


def _lines(name: str) -> list[str]:
    return files(__name__).joinpath(name).read_text(encoding="ascii").splitlines()
