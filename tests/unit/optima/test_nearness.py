"""Test the options for near-optimal selections: refusals, description, and thresholds by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optsum.coverage.instance import Sense
from optsum.errors import OptionError, UnsupportedError
from optsum.optima.optima import Nearness

MOST, LEAST = Sense.MAXIMIZE, Sense.MINIMIZE


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"within": "1%"}, "within 1%"),
        ({"within": 0.015}, "within 1.5%"),
        ({"within": " 1/3 "}, "within 100/3%"),
        ({"within": 0}, "within 0%"),
        ({"within": "100%"}, "within 100%"),
        ({"within": 1e-7}, "within 0.00001%"),
        ({"at_least": "19/40"}, "at least 0.475"),
        ({"at_least": ".5"}, "at least 0.5"),
        ({"at_least": 120}, "at least 120"),
        ({"at_least": -150.5}, "at least -150.5"),
        ({"within_steps": 0}, "within 0 steps"),
        ({"within_steps": 1}, "within 1 step"),
        ({"best": 1}, "best 1 value"),
        ({"best": 2}, "best 2 values"),
    ],
)
def test_the_description_has_the_given_options(given: dict[str, Any], said: str) -> None:
    assert str(Nearness.given(**given)) == said


def test_no_option_is_no_threshold() -> None:
    assert Nearness.given() is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"within": "1%", "best": 2}, "need one threshold"),
        ({"within": 1.01}, "from 0 to 1"),
        ({"within": "101%"}, "from 0 to 1"),
        ({"within": "-1"}, "from 0 to 1"),
        ({"within": 1}, "1 may mean 1 % or 100 % of the best value: write 1% or 0.01 .*, 100% for the latter"),
        ({"within": "1.0"}, "1 % or 100 %"),
        ({"within": True}, "such as 1%"),
        ({"within": "1/0"}, "such as 1%"),
        ({"within": "nan"}, "such as 1%"),
        ({"at_least": "x"}, "such as 0.475"),
        ({"at_least": np.datetime64("2020")}, "such as 0.475"),
        ({"within": Path("0.1")}, "such as 1%"),
        ({"within_steps": -1}, "is -1; it must be 0 or more"),
        ({"best": 0}, "is 0; it must be 1 or more"),
    ],
)
def test_meaningless_thresholds_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Nearness.given(**given)
    with pytest.raises(OptionError, match="need one threshold"):
        Nearness()


@pytest.mark.parametrize(
    ("given", "best", "sense", "power", "threshold"),
    [
        ({"within": "10%"}, Fraction(1, 2), MOST, 1, Fraction(9, 20)),
        ({"within": "10%"}, 30, LEAST, 1, Fraction(33)),
        ({"within": "10%"}, -30, MOST, 1, Fraction(-33)),
        ({"within": "10%"}, -30, LEAST, 1, Fraction(-27)),
        ({"within": "50%"}, Fraction(1, 8), MOST, 3, Fraction(1, 64)),
        ({"within": "50%"}, Fraction(1, 4), MOST, 2, Fraction(1, 16)),
        ({"within_steps": 2}, Fraction(1, 2), MOST, 1, Fraction(1, 4)),
        ({"within_steps": 2}, 3, LEAST, 1, Fraction(13, 4)),
        ({"at_least": "1/2"}, 1, MOST, 2, Fraction(1, 4)),
        ({"at_least": "1/2"}, 1, MOST, 1, Fraction(1, 2)),
        ({"at_least": 40}, 30, LEAST, 1, Fraction(40)),
    ],
)
def test_thresholds_by_hand(given: dict[str, Any], best: Any, sense: Sense, power: int, threshold: Fraction) -> None:
    nearness = Nearness.given(**given)
    assert nearness is not None
    assert nearness.least(best, sense, step=Fraction(1, 8), power=power) == threshold


def test_a_negative_threshold_under_a_power_is_zero() -> None:
    """Check this because every value is at least the square of -1/2."""
    assert Nearness(at_least=Fraction(-1, 2)).least(1, MOST, step=None, power=2) == 0
    assert Nearness(at_least=Fraction(-1, 2)).least(1, MOST, step=None, power=1) == Fraction(-1, 2)


def test_steps_need_steps_and_values_have_no_threshold() -> None:
    with pytest.raises(UnsupportedError, match="no steps of one size"):
        Nearness(steps=1).least(1, MOST, step=None, power=1)
    with pytest.raises(AssertionError, match="depends on the values"):
        Nearness(values=1).least(1, MOST, step=None, power=1)
