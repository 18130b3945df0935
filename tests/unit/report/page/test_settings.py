"""Check that the page describes every setting of a problem."""

from __future__ import annotations

from typing import get_args

import pytest

from optsum.options.options import Options
from optsum.registry import FORMULATIONS
from optsum.report.page.write import Setting

REFERENCES = get_args(Options.model_fields["references"].annotation)


@pytest.mark.parametrize("references", REFERENCES)
def test_every_way_to_take_references_has_its_words(references: str) -> None:
    options = Options(max_length=100, references=references)
    assert " recall against " in Setting("extractive", "rouge-1", options).sentence


def test_formulations_say_what_their_selections_are_called() -> None:
    assert "agreed" in REFERENCES
    names = {name: Setting(name, None).sentence for name in [*FORMULATIONS.builtin, "somebodys"]}
    assert names == {
        "extractive": "extracts",
        "compressive": "compressions",
        "cover": "covers",
        "somebodys": "somebodys summaries",
    }


def test_the_formulation_says_whether_less_is_better() -> None:
    assert Setting("cover", None).minimizes
    assert not Setting("extractive", "rouge-1").minimizes
    assert not Setting("somebodys", None).minimizes
    assert not Setting("somewhere.py:Own", None).minimizes  # the code of the module is not run to learn its name
