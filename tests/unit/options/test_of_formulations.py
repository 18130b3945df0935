"""Test options that belong to a formulation, as flags and by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from optsum.errors import InputError, OptionError, UnknownNameError
from optsum.options.options import resolve
from optsum.plugins import Registry
from optsum.problem.formulation import Formulation

RECALL = {"max_length": 5}


@dataclass(frozen=True)
class Own:
    first: int = 1


def test_flags_reach_the_formulation_that_takes_them() -> None:
    cover: Any = resolve({"formulation": "cover", "weights": "length", "uncoverable": "skip"}).formulated()
    assert (cover.weights, cover.uncoverable) == ("length", "skip")
    compressive: Any = resolve({**RECALL, "formulation": "compressive", "chunk_profile": "paper"}).formulated()
    assert compressive.chunk_profile == "paper"
    assert resolve({**RECALL, "weights": "length"}).formulated() == resolve(RECALL).formulated()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({**RECALL, "formulation_options": ["first=3"]}, "no option 'first' of the formulation extractive"),
        ({"formulation": "cover", "formulation_options": ["weights=length"]}, "a flag of its own: give weights"),
        (
            {**RECALL, "formulation": "compressive", "formulation_options": ["chunk-rules=x"]},
            "a flag of its own: give chunk_rules",
        ),
        ({"formulation": "cover", "min_length": 3}, "no min_length without a max_length"),
        ({"formulation": "cover", "references": "each"}, "leave out references"),
        ({"formulation": "covr"}, "did you mean cover"),
    ],
)
def test_impossible_options_are_refused_at_once(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        resolve(options)


def test_rules_that_cannot_be_read_are_refused_at_once() -> None:
    with pytest.raises(InputError, match="chunk rules"):
        resolve({**RECALL, "formulation": "compressive", "chunk_rules": "no/such/file"})


@pytest.mark.parametrize(
    ("value", "sentence"),
    [(3, None), ("many", "give a whole number"), (True, "give a whole number"), (2.5, "give a whole number")],
)
def test_a_value_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch, value: Any, sentence: str | None) -> None:
    names: Registry[Formulation] = Registry("formulation", {"own": f"{__name__}:Own"}, "nowhere", "builtins:object")
    monkeypatch.setattr("optsum.plugins._attribute", lambda path: Own)
    if sentence is None:
        assert names.create("own", {"first": value}) == Own(value)
        return
    with pytest.raises(OptionError, match=f"The option first is .*{sentence}"):
        names.create("own", {"first": value})
    with pytest.raises(UnknownNameError, match="did you mean first"):
        names.create("own", {"frst": value})
