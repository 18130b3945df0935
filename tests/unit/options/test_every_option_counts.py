"""Check that each option, set to another value, changes the resolved setup or the result, or only who does the work."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import pytest

import optsum
from optsum.options.options import OF_PROBLEMS, OF_WORKERS, Options, ScoreOptions, resolve, resolve_score
from optsum.running.one_problem import setup_of

TOPIC: Final = {
    "id": "t",
    "documents": [["a b b c", "c d", "the cat runs"], ["e f g.", "a b running"]],
    "references": [["b c d. the f"], ["a e running. g f"], ["g"], ["a b b c the u v w x y z q"]],
}
COVER: Final = {"id": "t", "documents": [["a b", "c", "d e f"]], "cover": [[[0], [1, 2]], [[2]], []]}
COVERS: Final = {"formulation": "cover", "uncoverable": "skip"}
MILP: Final = {"strategy": "milp"}
OTHERS: Final[dict[str, tuple[Any, dict[str, Any]]]] = {
    "formulation": ("cover", {"uncoverable": "skip", "max_length": 5}),
    "formulation_options": ({"first": 2}, {"formulation": f"{__file__}:Own"}),
    "strategy": ("greedy", {}),
    "backend": ("cp-sat", MILP),
    "backend_options": ({"presolve": "off"}, MILP),
    "threads": (2, MILP),
    "verify": (True, MILP),
    "strategy_options": ({"k_max": 3}, {"strategy": "vns"}),
    "bound": ("none", {"strategy": "greedy"}),
    "metric": ("rouge-2", {}),
    "vectors": ("VECTORS", {"metric": "similarity"}),
    "similarity_unit": (100, {}),
    "measure": ("f1", {}),
    "references": ("each", {}),
    "model_units": ("sentences", {}),
    "max_length": (6, {}),
    "min_length": (3, {}),
    "length_unit": ("characters", {}),
    "length_tokenizer": (f"{__file__}:halves", {}),
    "max_sentences": (1, {}),
    "max_characters": (9, {}),
    "per_document": (1, {}),
    "require": ("1", {}),
    "forbid": ("1", {}),
    "exclusive": ("0.5", {}),
    "requires": ("PAIRS", {}),
    "tokenizer": ("blank", {}),
    "stem": (True, {}),
    "stemmer": ("rouge-score", {"stem": True}),
    "stopwords": ("drop", {}),
    "counts": ("set", {}),
    "boundaries": ("joined", {}),
    "keep_unmatched": (True, {}),
    "weights": ("length", COVERS),
    "uncoverable": ("error", COVERS),
    "chunk_profile": ("paper", {"formulation": "compressive"}),
    "chunk_rules": ("ud", {"formulation": "compressive"}),
    "language": ("de", {}),
    "splitter": (f"{__file__}:halves", {}),
    "flat": ("texts", {}),
    "lines": (True, {}),
    "source_words": (7, {}),
    "preset": ("hirao-r2", {}),
    "time_limit": (9.0, {}),
    "node_limit": (9, {}),
    "evaluation_limit": (9, {}),
    "gap": (0.5, {}),
    "target": (0.5, {}),
    "seed": (1, {}),
}
"""Option -> another value, and the options with which it has an effect."""
SCORES: Final[dict[str, tuple[Any, dict[str, Any]]]] = {
    "metric": ("rouge-2", {}),
    "references": ("first", {}),
    "best_by": ("precision", {"references": "best"}),
    "max_words": (2, {}),
    "oracles": (True, {"max_length": 5}),
    "each_oracle": (1, {"oracles": True, "max_length": 5}),
    "formulation": ("cover", {"max_length": 5}),
    "max_length": (3, {"oracles": True, "max_length": 5}),
    "length_unit": ("sentences", {**COVERS, "max_length": 2}),
    "length_tokenizer": (f"{__file__}:halves", {**COVERS, "max_length": 2}),
    "uncoverable": ("error", {**COVERS, "max_length": 2}),
    "time_limit": (0.0, {"oracles": True, "max_length": 5}),
    "preset": ("lin-hovy-100", {}),
}
"""The same of the options of scoring; those that are left are tested as options of a search, which they are too."""


@dataclass(frozen=True)
class Own(optsum.Formulation):
    """A formulation with an option of its own."""

    name: ClassVar[str] = "own"
    about: ClassVar[str] = "nothing"
    first: int = 1

    def build(self, topic: optsum.Topic, spec: optsum.Spec) -> optsum.Task:
        """Fail, because nothing is built in this test."""
        raise AssertionError(topic.id, spec)


def halves(text: str) -> list[str]:
    """Split a text in two."""
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def resolved(options: dict[str, Any]) -> Any:
    """Return all that options are resolved into, without the options and their hash."""
    setup = setup_of(resolve(options))
    parts = (setup.formulation, setup.spec, setup.spec_of_tokens, setup.strategy, setup.limits, setup.scores)
    return parts, reading_of(setup.options), setup.blank.seed


def reading_of(options: Options | ScoreOptions) -> Any:
    """Return the options of reading without the notes, which differ each time."""
    return {name: value for name, value in options.reading._asdict().items() if name != "notes"}


def found(options: dict[str, Any]) -> Any:
    """Return the rows of a search without times and the description of the options."""
    topic = COVER if options.get("formulation") == "cover" else TOPIC
    return [without_times(result.to_row()) for result in optsum.solve_all([topic], **options)]


def without_times(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without times and the description of its options."""
    statistics = {name: value for name, value in (row.get("statistics") or {}).items() if not name.endswith("_s")}
    left_out = {"config_hash", "signature", "seconds", "statistics"}
    return {name: value for name, value in row.items() if name not in left_out} | {"statistics": statistics}


def written(value: Any, folder: Path) -> Any:
    """Return an option's value, after writing the file that it names."""
    if value == "PAIRS":
        path = folder / "pairs.jsonl"
        path.write_text(json.dumps({"id": "t", "requires": [[0, 1]]}))
    elif value == "VECTORS":
        path = folder / "vectors.npz"
        np.savez(path, **{"t/sentences": np.eye(5), "t/references": np.eye(5)[:4]})
    else:
        return value
    return str(path)


@pytest.mark.parametrize("name", [name for name in Options.model_fields if name not in OF_WORKERS])
def test_another_value_changes_what_is_resolved_or_found(name: str, tmp_path: Path) -> None:
    other, context = OTHERS[name]
    plain = context if context.get("formulation") == "cover" else {"max_length": 5, **context}
    changed = {**plain, name: written(other, tmp_path)}
    assert resolved(plain) != resolved(changed) or found(plain) != found(changed)


@pytest.mark.parametrize("name", sorted(Options.model_fields.keys() - OF_PROBLEMS))
def test_an_option_of_texts_is_refused_where_a_problem_is_none(name: str, tmp_path: Path) -> None:
    problem = optsum.CoverageProblem.of(optsum.Coverage.facility([[1, 2]], 1))
    with pytest.raises(optsum.OptionError, match=rf"leave out .*\b{name}\b.*for texts"):
        optsum.solve(problem, **{name: written(OTHERS[name][0], tmp_path)})
    with pytest.raises(optsum.OptionError, match=r"leave out exclusive=.0\.5"):
        optsum.solve(problem, exclusive=0.5)


@pytest.mark.parametrize("name", OF_WORKERS)
def test_options_of_executors_do_not_change_the_result(name: str) -> None:
    other = {"workers": 2, "executor": "dask", "scheduler": "tcp://one:8786", "memory_per_worker": "2GB"}[name]
    plain, changed = {"max_length": 5}, {"max_length": 5, name: other}
    assert resolve(plain) != resolve(changed)
    assert resolve(plain).config_hash == resolve(changed).config_hash
    assert resolved(plain) == resolved(changed)


@pytest.mark.parametrize("name", ScoreOptions.model_fields)
def test_another_value_of_a_scoring_option_changes_scores(name: str) -> None:
    other, context = SCORES.get(name) or (OTHERS[name][0], {})
    changed = {**context, name: other}
    if name not in SCORES:
        plain, different = resolve_score(context), resolve_score(changed)
        read = name in {"counts", "model_units"}
        assert read or (reading_of(plain), plain.analyzer()) != (reading_of(different), different.analyzer())
        assert not read or scored(context) != scored(changed)
    else:
        assert scored(context) != scored(changed)


def scored(options: dict[str, Any]) -> Any:
    """Return the printed scores of two summaries."""
    topic = COVER if options.get("formulation") == "cover" else TOPIC
    systems = [
        {"topic_id": "t", "system": "one", "selection": [0, 2]},
        {"topic_id": "t", "system": "two", "selection": [1, 1] if topic is TOPIC else [2]},
    ]
    scores = optsum.score([topic], systems, **options)
    return str(scores)
