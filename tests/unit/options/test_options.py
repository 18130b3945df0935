"""Test the options: defaults, precedence, checks, hash, schema."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optsum.cli import main
from optsum.errors import OptionError, UnknownNameError
from optsum.options.options import (
    Options,
    ScoreOptions,
    described,
    exclusive_of,
    read_config,
    resolve,
    resolve_score,
    schema,
    toml_of,
)
from optsum.options.presets import PRESETS


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(text: str | bytes) -> Path:
        path = tmp_path / "options.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_defaults_are_those_of_the_paper() -> None:
    options = resolve({"max_length": 100})
    assert (options.formulation, options.strategy, options.backend) == ("extractive", "auto", "highs")
    assert (options.metric, options.measure, options.references) == ("rouge-1", "recall", "pooled")
    assert (options.counts, options.boundaries, options.tokenizer) == ("clipped", "sentence", None)
    assert (options.stem, options.stopwords, options.workers, options.time_limit) == (False, "keep", 1, None)


def test_given_options_win_over_the_file_and_the_file_over_the_preset(file: Any) -> None:
    path = file('preset = "hirao-r2"\nmax-length = 60\nstem = false\n')
    options = resolve({"max_length": 50, "seed": None}, config=path)
    assert options.metric == "rouge-2"  # from the preset
    assert options.stem is False  # from the file
    assert options.max_length == 50  # from the call
    assert options.seed == 0  # None means "not given"


def test_the_file_wins_over_a_given_preset(file: Any) -> None:
    options = resolve({"preset": "hirao-r1"}, config=file("max_length = 7"))
    assert (options.max_length, options.stopwords) == (7, "drop")


def test_hyphens_and_underscores_are_the_same(file: Any) -> None:
    assert read_config(file("max-length = 1\nmin_length = 0")) == {"max_length": 1, "min_length": 0}


def test_one_file_serves_all_commands(file: Any) -> None:
    path = file('max-length = 9\nmax-words = 20\nmetric = "rouge-2"\nexact = "none"\nstrategies = ["lead"]')
    assert resolve(config=path).max_length == 9
    assert resolve_score(config=path) == ScoreOptions(metric="rouge-2", max_words=20, max_length=9)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("max-lenght = 3", "no option 'max-lenght'; did you mean max-length"),
        ("[solve]\nmax-length = 3", "no option 'solve'"),
        ("max-length = 3\nmax_length = 4", "sets max_length twice"),
        ("max-length = ", "is not TOML"),
        (b"metric = '\xff'", "is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(file: Any, text: str | bytes, reason: str) -> None:
    path = file(text)
    with pytest.raises(OptionError, match=reason) as caught:
        resolve(config=path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["nosuch.toml", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(OptionError, match="cannot be read"):
        resolve(config=tmp_path / name)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"max_length": -1}, "max_length cannot be -1: give a whole number of at least 0"),
        ({"max_length": 10**30}, "give a whole number from 0 to 1,000,000,000,000 or reference"),
        ({"max_length": "many"}, "max_length cannot be 'many'"),
        ({"max_length": 2.5}, "max_length cannot be 2.5"),
        ({"max_length": True}, "max_length cannot be True"),
        ({"max_length": [3]}, "max_length cannot be"),
        ({"max_length": 3, "time_limit": float("nan")}, "time_limit cannot be nan"),
        ({"max_length": 3, "time_limit": float("inf")}, "time_limit cannot be inf"),
        ({"max_length": 3, "time_limit": -1}, "time_limit cannot be -1"),
        ({"max_length": 3, "stem": 2}, "stem cannot be 2"),
        ({"max_length": 3, "measure": "f2"}, "give recall, precision or f1"),
        ({"max_length": 3, "workers": 0}, "workers cannot be 0"),
        ({"max_length": 3, "seed": -1}, "seed cannot be -1"),
        ({"max_length": 3, "min_length": 4}, "minimum length 4 is above the maximum length 3"),
        ({}, "Recall only grows with the length"),
        ({"max_length": 3, "stopwords": "no/such/file"}, "cannot be read"),
    ],
)
def test_impossible_values_are_refused_in_one_sentence(values: dict[str, Any], reason: str) -> None:
    with pytest.raises((OptionError, ValueError), match=reason) as caught:
        resolve(values)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "near"),
    [
        ({"max_lenght": 3}, "max_length"),
        ({"max_length": 3, "tokenizer": "unicod"}, "unicode"),
        ({"max_length": 3, "metric": "rouge-2x"}, "rouge-2"),
        ({"preset": "hirao-r3"}, "hirao-r"),
        ({"preset": ["hirao-r1"]}, "hirao-r1"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(values: dict[str, Any], near: str) -> None:
    with pytest.raises(UnknownNameError, match=near):
        resolve(values)


@pytest.mark.parametrize("measure", ["precision", "f1"])
def test_precision_and_f1_need_no_length(measure: str) -> None:
    assert resolve({"measure": measure}).max_length is None


def test_numbers_of_numpy_are_numbers() -> None:
    options = resolve({"max_length": np.int64(5), "gap": np.float64(0.5), "stem": np.True_})
    assert (options.max_length, options.gap, options.stem) == (5, 0.5, True)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_used(name: str) -> None:
    resolve({"preset": name})
    resolve_score({"preset": name})


def test_the_hash_is_of_what_can_change_a_result() -> None:
    base = resolve({"preset": "hirao-r1"})
    assert base.config_hash == resolve({"preset": "hirao-r1", "workers": 2}).config_hash
    assert base.config_hash == resolve(dict(PRESETS["hirao-r1"].options)).config_hash
    others = [{"max_length": 99}, {"stem": False}, {"seed": 1}, {"strategy": "greedy"}, {"time_limit": 1.0}]
    assert len({resolve({"preset": "hirao-r1", **other}).config_hash for other in ({}, *others)}) == 6


@pytest.mark.parametrize(
    ("option", "texts"),
    [
        ("stopwords", ("the\nof\n", "of\nthe\n", "the\n")),
        (
            "chunk_rules",
            tuple(
                f'{sign}extends = "ud"\n[lexicon]\ntime = ["{word}"]'
                for sign, word in (("", "a"), ("#\n", "a"), ("", "b"))
            ),
        ),
    ],
)
def test_the_hash_is_of_what_files_hold(option: str, texts: tuple[str, str, str], tmp_path: Path) -> None:
    hashes = []
    for number, text in enumerate(texts):
        (tmp_path / f"{number}").write_text(text)
        hashes.append(
            resolve({"formulation": "compressive", "max_length": 9, option: str(tmp_path / f"{number}")}).config_hash
        )
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize("model", [Options, ScoreOptions])
def test_every_option_says_what_it_is(model: type[Options]) -> None:
    for name, field in model.model_fields.items():
        assert field.description, name
        assert not field.description.endswith("."), name


def test_scoring_options_are_checked_too() -> None:
    with pytest.raises(UnknownNameError, match="rouge-2"):
        resolve_score({"metric": "rouge-2x"})
    with pytest.raises(UnknownNameError, match="max_words"):
        resolve_score({"max_word": 3})
    with pytest.raises(OptionError, match="max_words cannot be 0"):
        resolve_score({"max_words": 0})


def test_the_backend_may_be_a_table(file: Any) -> None:
    path = file('max-length = 3\n[backend]\nname = "cbc"\n[backend.options]\nratioGap = 0.1\ncuts = "off"\n')
    options = resolve(config=path)
    assert (options.backend, options.backend_options) == ("cbc", (("cuts", "off"), ("ratioGap", 0.1)))
    assert options.searcher().backend_name == "cbc"
    # Options given for a backend belong to that backend.
    assert resolve({"backend": "highs"}, config=path).backend_options == ()
    assert resolve({"backend": "cbc"}, config=path).backend_options == options.backend_options
    assert resolve({"backend_options": ["a=1"]}, config=path).backend_options == (("a", 1),)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a=1", "b=2.5", "c=off", "d=true", "e=x=y"], (("a", 1), ("b", 2.5), ("c", "off"), ("d", True), ("e", "x=y"))),
        ({"threads": 2, "a": "b"}, (("a", "b"), ("threads", 2))),
        ([("b", 1), ("a", False)], (("a", False), ("b", 1))),
        ([], ()),
    ],
)
def test_options_of_a_solver_are_given_in_any_way(given: Any, expected: Any) -> None:
    options = resolve({"max_length": 3, "backend_options": given})
    assert options.backend_options == expected
    assert [type(value) for _, value in options.backend_options] == [type(value) for _, value in expected]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["a"], "give it as name=value, not as 'a'"),
        ("a=1", "give it as name=value"),
        (["a=1", "a=2"], "a is given twice"),
        ({"a": [1]}, "the value of a should be a number"),
        (7, "give it as name=value"),
        ([1], "give it as name=value"),
    ],
)
def test_options_of_a_solver_that_cannot_be_read(given: Any, reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        resolve({"max_length": 3, "backend_options": given})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[backend]\nnmae = "cbc"', r"no key 'nmae' of \[backend\]; did you mean name"),
        ("backend-options = {}\n[backend]\noptions = {a = 1}", "has options of the solver in two places"),
        ("threads = 0", "threads cannot be 0"),
        ("exclusive = true", "exclusive cannot be True: give a similarity above 0"),
    ],
)
def test_a_backend_that_cannot_be_read(file: Any, text: str, reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        resolve({"max_length": 3}, config=file(text))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_configuration_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    """The file is read several times; a pipe was ignored, or waited for."""
    os.mkfifo(tmp_path / "c.toml")
    with pytest.raises(OptionError, match="is a pipe, but is read twice: save it to a file"):
        resolve({"max_length": 3}, config=tmp_path / "c.toml")


SHOWN: list[dict[str, Any]] = [
    {"max_length": 7},
    {"preset": "hirao-r1", "time_limit": 1e-7, "gap": 0.1},
    {"max_length": 3, "backend": "cbc", "backend_options": {"ratioGap": 0.5, "a b": 'quoted "\\ \x7f é', "cuts": True}},
    {"formulation": "cover", "weights": "length", "uncoverable": "skip"},
]


@pytest.mark.parametrize("values", SHOWN)
def test_shown_options_read_back_unchanged(file: Any, values: dict[str, Any]) -> None:
    options = resolve(values)
    again = resolve(config=file(toml_of(described(options), {"max_length": "with a comment"})))
    assert again == options
    assert again.config_hash == options.config_hash


def test_the_command_shows_the_options_of_a_run(
    file: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file('preset = "hirao-r2"\n[backend]\nname = "scip"\noptions = {a = 1}')
    assert main(["config", "show", "--config", str(path), "--max-length", "50"]) == 0
    shown = file(capsys.readouterr().out)
    assert resolve(config=shown) == resolve(
        {"preset": "hirao-r2", "max_length": 50, "backend": "scip", "backend_options": {"a": 1}}
    )
    assert main(["config", "show", "--backend-option", "a"]) == 2
    assert "give it as name=value" in capsys.readouterr().err


def test_the_schema_knows_every_option() -> None:
    made = schema()
    known = set(made["properties"])
    every = {*Options.model_fields, *ScoreOptions.model_fields} - {"backend_options"}
    assert {name.replace("_", "-") for name in every} <= known
    assert {"strategies", "exact", "backends"} <= known
    for name, field in made["properties"].items():
        assert field.get("description"), name
    assert made["properties"]["max-length"]["anyOf"][0]["minimum"] == 0
    assert set(made["properties"]["backend"]["anyOf"][1]["properties"]) == {"name", "options"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('max-length = "30"', "The option max-length cannot be '30': give a whole number"),
        ("max-length = 30.0", "The option max-length cannot be 30.0: give a whole number"),
        ("max-length = 30\nstem = 1", "The option stem cannot be 1: give true or false"),
        ('max-length = 30\ngap = "0.1"', "The option gap cannot be '0.1': give a number of at least 0"),
    ],
)
def test_values_of_the_wrong_type_in_a_file_are_refused(file: Any, text: str, reason: str) -> None:
    with pytest.raises(OptionError, match=f"options.toml: {reason}"):
        resolve(config=file(text))
    assert resolve(config=file("max-length = 30\ntime-limit = 3")).time_limit == 3.0


def test_naming_the_default_solver_keeps_its_options(file: Any) -> None:
    path = file("max-length = 30\n[backend.options]\npresolve = 'off'")
    assert resolve({"backend": "highs"}, config=path).backend_options == (("presolve", "off"),)
    assert resolve({"backend": "cbc"}, config=path).backend_options == ()


def test_the_schema_says_of_what_kind_every_option_is() -> None:
    for name, field in schema()["properties"].items():
        assert {"type", "anyOf", "enum"} & set(field), name


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()


_KINDS: dict[Any, tuple[Any, ...]] = {
    **dict.fromkeys((int, int | None), ("1", "100", " 7", "1e2", "", b"1", True, False, np.True_, 1.5, float("nan"))),
    **dict.fromkeys((float, float | None), ("1", "0.5", ".5", "nan", "", b"1", True, False, np.False_, float("nan"))),
    **dict.fromkeys((bool, bool | None), ("true", "yes", "1", "off", "", b"1", 2, 0.5, float("nan"))),
}


@pytest.mark.parametrize(("resolver", "model", "least"), [(resolve, Options, 150), (resolve_score, ScoreOptions, 50)])
def test_values_that_are_no_numbers_are_refused(resolver: Any, model: Any, least: int) -> None:
    tried = [(name, value) for name, field in model.model_fields.items() for value in _KINDS.get(field.annotation, ())]
    assert len(tried) > least
    for name, value in tried:
        with pytest.raises(OptionError, match=f"The option {name} cannot be .*: .*"):
            resolver({"max_length": 9, name: value})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"weights": "length"}, ['weights changes nothing with formulation="extractive"']),
        ({"strategy": "vns", "bound": "knapsack"}, ['bound changes nothing with strategy="vns"']),
        ({"similarity_unit": 5}, ['similarity_unit changes nothing with metric="rouge-1"']),
        ({"stem": False, "stemmer": "rouge-score"}, ["stemmer changes nothing with stem=False"]),
        ({"stemmer": "rouge-score"}, []),
        ({"strategy": "greedy", "bound": "none"}, []),
        ({"bound": "knapsack", "weights": "one"}, []),
        ({"formulation": "cover", "weights": "length", "max_length": None}, []),
    ],
)
def test_options_that_change_nothing_are_reported(
    caplog: pytest.LogCaptureFixture, options: dict[str, Any], said: list[str]
) -> None:
    for _ in range(2):  # each call says it
        caplog.clear()
        resolve({"max_length": 9, **options})
        assert [record.getMessage() for record in caplog.records] == said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('topics = "news.jsonl"', "is an experiment, because it has topics: give it to optsum run"),
        ("[grid]\nmax-length = [1, 2]", "is an experiment, because it has grid: give it to optsum run"),
        ('strategy = "vns"\n[strategy-options]\nvns.k_max = 2', 'write "vns.k_max" in quotes'),
    ],
)
def test_files_of_another_kind_and_dotted_names_are_refused_with_what_to_do(
    tmp_path: Path, text: str, reason: str
) -> None:
    (path := tmp_path / "given.toml").write_text(text)
    with pytest.raises(OptionError, match=reason):
        resolve(config=path)


@pytest.mark.parametrize(
    "name", ["info.jsonl", "nantes.jsonl", "file1234.jsonl", "1e12345.jsonl", "long/" + "x/" * 60 + "f"]
)
def test_a_file_of_groups_may_have_a_name_that_begins_like_a_number(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text('{"id": "t", "exclusive": [[0, 1]]}')
    assert exclusive_of(name) == {"t": ((0, 1),)}


@pytest.mark.parametrize(
    "text", ["nan", " -Infinity ", "1e9999999", ".1E-99_999_999", "0." + "1" * 200, "1" * 5000, "1/" + "1" * 5000]
)
def test_numbers_that_are_no_similarity_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="must be above 0 and at most 1"):
        exclusive_of(text)


def test_an_option_of_a_formulation_is_given_once() -> None:
    with pytest.raises(OptionError, match="sets max_x twice"):
        resolve({"max_length": 3, "formulation_options": {"max-x": 1, "max_x": 2}})
