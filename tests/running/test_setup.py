"""Options are resolved once; a setup sent to another process is made there from them."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from optsum.corpus.topic import as_topic
from optsum.errors import OptionError
from optsum.options.options import resolve
from optsum.running.setup import setup_of


def test_equal_options_are_one_way_and_so_are_those_that_come_from_elsewhere() -> None:
    setup = setup_of(resolve({"max_length": 5, "strategy": "vns", "strategy_options": {"k_max": 3}}))
    assert setup_of(resolve({"max_length": 5, "strategy": "vns", "strategy_options": {"k_max": 3}})) is setup
    assert pickle.loads(pickle.dumps(setup)) is setup  # noqa: S301 - made here
    assert len(pickle.dumps(setup)) < 5000


def test_a_way_holds_what_each_part_takes() -> None:
    setup = setup_of(resolve({"max_length": 5, "metric": "rouge-2+rouge-su4", "strategy": "milp", "time_limit": 3}))
    assert (setup.spec.max_length, setup.limits.time_s, setup.strategy.name) == (5, 3, "milp")
    assert [metric.name for metric in setup.scores] == ["rouge-2", "rouge-su4", "rouge-1", "rouge-l"]
    assert (setup.blank.metric, setup.blank.backend) == ("rouge-2+rouge-su4", "highs")
    assert setup_of(resolve({"formulation": "cover"})).blank.metric is None


@pytest.mark.parametrize(("given", "tokenizer"), [({}, "tokens"), ({"tokenizer": "unicode"}, "unicode")])
def test_tokens_are_taken_as_they_are_unless_a_tokenizer_is_asked_for(given: dict[str, Any], tokenizer: str) -> None:
    setup = setup_of(resolve({"max_length": 5, **given}))
    raw = as_topic({"id": "t", "documents": [["a b"]], "references": [["a b"]]})
    split = as_topic({"id": "t", "documents": [[["a", "b"]]], "references": [[["a", "b"]]]})
    assert setup.spec_for(raw).analyzer.tokenizer == given.get("tokenizer", "rouge")
    assert setup.spec_for(split).analyzer.tokenizer == tokenizer


def test_an_own_option_that_has_a_flag_is_refused() -> None:
    with pytest.raises(OptionError, match="has a flag of its own: give threads"):
        setup_of(resolve({"max_length": 5, "strategy": "milp", "strategy_options": {"threads": 2}}))
