"""Conformance suites for third parties' problems, strategies, backends, tokenizers, stemmers and splitters.

They need only Python and numpy; a failed check raises `ConformanceError`, an `AssertionError` whose message names the
instance.

>>> from optsum.testing import check_strategy
>>> check_strategy("greedy", instances=1)
"""

from optsum.testing.backends import check_backend
from optsum.testing.instances import (
    KINDS,
    ConformanceError,
    Enumeration,
    OwnMetric,
    brute_force,
    random_coverage,
    random_topic,
)
from optsum.testing.problems import check_problem
from optsum.testing.strategies import check_strategy
from optsum.testing.text import check_splitter, check_stemmer, check_tokenizer

__all__ = [
    "KINDS",
    "ConformanceError",
    "Enumeration",
    "OwnMetric",
    "brute_force",
    "check_backend",
    "check_problem",
    "check_splitter",
    "check_stemmer",
    "check_strategy",
    "check_tokenizer",
    "random_coverage",
    "random_topic",
]
