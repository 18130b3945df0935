"""Options of searching and of scoring: typed models, filled from keywords, a TOML file or flags, with hash and schema.

Heavy packages are imported only when an option needs them, so that ``optsum solve --help`` answers at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib import import_module
from inspect import Parameter, signature
from itertools import islice, pairwise, starmap
from logging import getLogger
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, TypeVar, cast, get_origin, get_type_hints

from pydantic import (
    BaseModel,
    ByteSize,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    create_model,
    field_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from optsum.corpus import topic
from optsum.corpus.formats import DECODER
from optsum.corpus.sentences import splitter_of
from optsum.corpus.topic import as_id, digest_of_vectors, parse_columns
from optsum.errors import InputError, OptionError, OptsumError, UnknownNameError, either, spoken, unknown_name
from optsum.metrics.rouge import Metric, official_name, parse_metric
from optsum.options.presets import PRESETS
from optsum.plugins import named_function, place_of
from optsum.registry import BACKENDS, CERTIFIED, DEFAULT_STRATEGY, FORMULATIONS, STRATEGIES
from optsum.system.files import as_path, forget_changed, forget_former, of_files, parse_toml, read_text
from optsum.whole import whole, whole_numbers

if TYPE_CHECKING:
    from optsum.contracts.strategy import Strategy
    from optsum.corpus.topic import Reading
    from optsum.problem.formulation import Formulation, Pairs, Spec
    from optsum.text.analyzer import Analyzer

Cliques = dict[str, tuple[tuple[int, ...], ...]]


def listed_numbers(value: Any) -> str | None:
    """Return sentence numbers (the text ``0, 3``, a list, or a number) as the text ``0,3``."""
    if value is None:
        return None
    items: Any = value.split(",") if isinstance(value, str) else value
    if isinstance(items, int) and not isinstance(items, bool):
        items = [items]
    try:
        texts = [item.strip() if isinstance(item, str) else str(whole(item, "A sentence")) for item in items]
    except (InputError, TypeError):
        texts = [""]  # which is refused
    if not all(text.isascii() and text.isdigit() and len(text) < 10 for text in texts):
        raise ValueError("give numbers of sentences, such as 0,3")
    return ",".join(texts)


def listed_pairs(value: Any) -> Any:
    """Return a list of sentence pairs as JSON text, and a path as text; anything else is returned as given."""
    if isinstance(value, list | tuple):
        try:
            return json.dumps([whole_numbers(pair, "A sentence", least=0) for pair in value])
        except (TypeError, ValueError):
            raise ValueError("give pairs of sentences, such as [[0, 1]], or a file") from None
    return str(value) if isinstance(value, Path) else value


def requires_of(text: str | None) -> Pairs | tuple[tuple[int, int], ...]:
    """Return pairs of sentences for all topics, if `text` is a JSON list, or by topic, if it is the path of a file."""
    if text is None:
        return ()
    if not text.lstrip().startswith("["):
        return cast("Pairs", _read(text, "requires"))
    try:
        return tuple((one, other) for one, other in (whole_numbers(pair, "A sentence") for pair in json.loads(text)))
    except (ValueError, TypeError):
        raise OptionError(f"Pairs of sentences are a list such as [[0, 4]], or a file, not {text!r:.60}.") from None


_NO_SHARE: Final = re.compile(
    r"\s*[+-]?(nan|inf|infinity|\.?\d[\d._]*e[+-]?\d[\d_]{3,}|\.?\d[\d._/e+-]{98,})\s*", re.IGNORECASE
)
"""Pattern of texts that Python reads as numbers but that are no similarity, such as "nan", or very long numbers."""


def exclusive_of(text: str | None) -> Fraction | Cliques | None:
    """Return the similarity that `text` states, exactly; if it is a path, groups of sentences by topic from a file."""
    if text is None:
        return None
    try:
        least = Fraction(0) if _NO_SHARE.fullmatch(text) else Fraction(text)
    except (ValueError, ZeroDivisionError):
        return _read(text, "exclusive")
    if not 0 < least <= 1:
        raise OptionError(
            f"The similarity from which sentences are exclusive must be above 0 and at most 1, not {text}."
        )
    return least


@of_files
@lru_cache(maxsize=8)
def _read(path: str, key: str) -> Cliques:
    """Read groups of sentence numbers by topic from JSON Lines: ``{"id": "t1", "exclusive": [[0, 4], [2, 3, 7]]}``."""
    said = {"exclusive": "exclusive sentences", "requires": "pairs of sentences"}[key]
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise OptionError(f"The file of {said} {path!r} cannot be read: {why}.") from None
    found: Cliques = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = DECODER.decode(line)
            name = as_id(data["id"], "the id of a topic")
            cliques = tuple(map(tuple, data[key]))
        except (ValueError, TypeError, KeyError, RecursionError, InputError):
            example = f'{{"id": "t1", "{key}": [[0, 4]]}}'
            raise OptionError(f"{path}:{number}: {said} are an object such as {example}.") from None
        if name in found:
            raise OptionError(f"{path}:{number}: the topic {name!r} comes twice among the {said}.")
        found[name] = cliques
    return found


Scalar: TypeAlias = bool | int | float | str
OwnOptions: TypeAlias = tuple[tuple[str, Scalar], ...]
"""Pairs of name and value, sorted by name, so that equal options compare and hash alike."""

_OWN_SCHEMA: Final[dict[str, Any]] = {  # JSON schema of a table of own options, such as a solver's, in a file.
    "type": "object",
    "additionalProperties": {"type": ["boolean", "integer", "number", "string"]},
}
_NAMES: Final = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_BACKEND: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "options": _OWN_SCHEMA},
    "additionalProperties": False,
}

_ONLY_IN: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "strategies": ("compare", _NAMES),
    "exact": ("compare", {"type": "string"}),
    "backends": (
        "compare",
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": [{"type": "string"}, _BACKEND]}}]},
    ),
    "seeds": (
        "compare, study",
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer", "minimum": 0}}]},
    ),
    "exact_time_limit": ("compare, study", {"type": "number", "minimum": 0}),
    "threshold": ("align", {"type": "number"}),
    "map": ("--map", {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]}),
}
"""Option that is no field of `Options` or `ScoreOptions` -> the commands that have it, and its JSON schema."""


def own_options(given: Any) -> OwnOptions:
    """Return options of a solver, strategy or formulation (mapping, pairs, or texts ``name=value``) as sorted pairs."""
    advice = "give it as name=value, or as a table of names and values"
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(advice)  # noqa: TRY004 - pydantic's way
    found: dict[str, Scalar] = {}
    for item in given.items() if isinstance(given, Mapping) else given:
        if isinstance(item, str):
            name, separator, text = (part.strip() for part in item.partition("="))
            if not separator or not name:
                raise ValueError(f"give it as name=value, not as {item!r}")
            value: object = {"true": True, "false": False}.get(text.lower(), number_in(text))
        elif not isinstance(item, tuple | list) or len(item) != 2 or not isinstance(item[0], str) or not item[0]:
            raise ValueError(advice)
        else:
            name, value = item
        if not isinstance(value, bool | int | float | str):
            hint = f'; write "{name}.{next(iter(value))}" in quotes' if isinstance(value, dict) and value else ""
            raise ValueError(f"the value of {name} should be a number, a text, true or false{hint}")  # noqa: TRY004
        if name in found:
            raise ValueError(f"{name} is given twice")
        found[name] = value
    return tuple(sorted(found.items()))


def number_in(text: str) -> int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


LEAST_MEMORY: Final = 500_000_000  # Bytes that a process needs for kernels and a solver, before its first topic.
_SIZE: Final[TypeAdapter[ByteSize]] = TypeAdapter(ByteSize)


def parse_size(text: str) -> int:
    """Return the number of bytes that a text such as ``2GB`` or ``1.5 GiB`` states."""
    try:
        return int(_SIZE.validate_python(f"{text}b" if text.lower().endswith("i") else text))
    except (OverflowError, ValidationError):
        raise ValueError("give a number and a unit, such as 2GB or 512MB") from None


def shared_out(given: OwnOptions, strategies: Sequence[str]) -> dict[str, OwnOptions]:
    """Return the options of each of the given strategies, by its name.

    ``k_max`` applies to every strategy that has this option; ``vns.k_max`` applies only to `vns`, for which it
    overrides ``k_max``. Hyphens and underscores are the same.
    """
    known = {name: STRATEGIES.options_of(name) for name in strategies}
    found: dict[str, dict[str, Scalar]] = {name: {} for name in strategies}
    seen = set()
    for name, value in sorted(given, key=lambda pair: "." in pair[0]):  # options of one strategy last, as they override
        strategy, dot, option = name.rpartition(".")
        option = option.replace("-", "_")
        if dot and strategy not in known:
            raise _of_another("strategy", strategy, name, known, STRATEGIES)
        if (strategy, option) in seen:
            raise OptionError(f"The option {name} of a strategy is given twice: give it once.")
        seen.add((strategy, option))
        takers = [each for each in ([strategy] if dot else strategies) if option in known[each]]
        if not takers:
            among = dict.fromkeys(each for own in ([strategy] if dot else strategies) for each in known[own])
            whose = strategy if dot else " or ".join(strategies)
            raise unknown_name(f"option of the strategy {whose}", option, list(among))
        for each in takers:
            found[each][option] = value
    return {name: tuple(sorted(own.items())) for name, own in found.items()}


def _of_another(kind: str, owner: str, option: str, here: Iterable[str], known: Iterable[str]) -> OptionError:
    """Return the error for an option whose prefix `owner` is a strategy or solver that is unknown or not run."""
    if owner not in known:
        return unknown_name(kind, owner, known)
    run = f"this run uses only {' and '.join(here)}: leave it out, or run {owner} too."
    return OptionError(f"The option {option} is for the {kind} {owner}, but {run}")


def own_of_solver(
    given: OwnOptions, backend: str, among: Collection[str] | None = None, *, shared: bool = False
) -> OwnOptions:
    """Return the options that apply to one solver, without the solver's name before them.

    ``highs.presolve`` belongs to `highs`; ``presolve`` belongs to the only solver, or to all solvers if `shared`.
    `among`: all solvers that are run; by default only `backend`.
    """
    found: dict[str, Scalar] = {}
    for name, value in given:
        prefixes = [each for each in {backend, *(among or ()), *BACKENDS} if name.startswith(f"{each}.")]
        solver = max(prefixes, key=len, default=None)  # the longest, because a solver's name may contain a dot
        if solver is None and among is not None and not shared:
            raise OptionError(
                f"With several solvers, an option needs the name of its solver: write {backend}.{name} instead of "
                f"{name}."
            )
        if solver is not None and solver not in (among or (backend,)):
            raise _of_another("solver", solver, name, among or (backend,), BACKENDS)
        if solver in (None, backend):
            option = name if solver is None else name[len(solver) + 1 :]
            if option in found:
                raise OptionError(f"The option {option} of the solver {backend} is given twice: give it once.")
            found[option] = value
    return tuple(sorted(found.items()))


def takes_backend(strategy: str) -> bool:
    return STRATEGIES.create(strategy, {}).backend_name is not None


def solving() -> str:
    return next(filter(takes_backend, STRATEGIES))


_MOST_LENGTHS: Final = 100_000
LONGEST: Final = 10**12  # Sums of larger lengths might overflow the 64-bit integers of the kernels.


def lengths_of(text: str | Sequence[int] | None, max_length: int | None = None) -> tuple[int, ...]:
    """Return maximum lengths, ascending, from ``25:300:25`` (both ends included), ``50,100,200`` or a list."""
    if text is None:
        if max_length is None:
            raise OptionError("A frontier needs lengths: give --lengths 25:300:25, or --max-length N for all to N.")
        text = range(min(1, max_length), max_length + 1)
    try:
        given: Iterable[object] = text if not isinstance(text, str) else map(int, text.split(","))
        if isinstance(text, str) and ":" in text:
            first, last, *step = map(int, text.split(":"))
            given = range(first, last + 1, *step)
        found = whole_numbers(tuple(islice(given, _MOST_LENGTHS + 1)), "Length {}")
    except (TypeError, ValueError):
        found = ()
    if not found or not 0 <= min(found) <= max(found) <= LONGEST or len(found) > _MOST_LENGTHS:
        raise OptionError(
            f"Lengths are numbers from 0 to {LONGEST}, such as 50,100,200 or 25:300:25 (from, to, step; ascending), "
            f"and there may be {_MOST_LENGTHS} of them: {text!s:.80} is something else."
        )
    return tuple(sorted(set(found)))


def text_of_lengths(lengths: Sequence[int]) -> str:
    """Return lengths as a text that `lengths_of` reads: ``25:300:25`` if they have equal steps."""
    steps = {b - a for a, b in pairwise(lengths)}
    if len(lengths) > 2 and len(steps) == 1:
        return f"{lengths[0]}:{lengths[-1]}:{steps.pop()}"
    return ",".join(map(str, lengths))


def with_underscores(table: Mapping[Any, Any], where: str) -> dict[str, Any]:
    """Return a table whose names have underscores for hyphens; a name that is then there twice is refused."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = str(key).replace("-", "_")
        if name in found:
            raise OptionError(f"{where} sets {name} twice: leave out one.")
        found[name] = value
    return found


def read_table(path: str | Path, known: Collection[str]) -> dict[str, Any]:
    """Read options of `known` names from TOML; a table ``[backend]`` sets `backend` and `backend_options`."""
    text = read_text(path, "the configuration", error=OptionError)
    table = parse_toml(text, f"the configuration {path}", error=OptionError)
    options = with_underscores(table, f"The configuration {path}")
    for key, name in zip(table, options, strict=True):
        if name not in known:
            if name in {"topics", "grid"}:
                raise OptionError(
                    f"{path} is an experiment, because it has {name}: give it to optsum run (optsum.run)."
                )
            dashed = [each.replace("_", "-") for each in known]
            raise OptionError(f"{path}: {unknown_name('option', key, dashed)}")
    if isinstance(options.get("backend"), dict):
        own, names = dict(options.pop("backend")), {"name": "backend", "options": "backend_options"}
        if "options" in own and "backend_options" in options:
            raise OptionError(
                f"The configuration {path} has options of the solver in two places, backend_options and [backend]: "
                "leave one of them out."
            )
        options |= {name: own.pop(key) for key, name in names.items() if key in own}
        if own:
            raise OptionError(f"{path}: {unknown_name('key of [backend]', next(iter(own)), names)}")
    return options


def check_kinds(model: type[BaseModel], options: Mapping[str, Any], path: str | Path) -> None:
    """Refuse values of the wrong type in a file, such as 1.5 for a whole number, or a text for a number."""
    try:
        model.model_validate({name: options[name] for name in options if name in model.model_fields}, strict=True)
    except ValidationError as error:
        raise OptionError(f"{path}: {sentence_of(error, model, in_file=True)}") from None


def sentence_of(error: ValidationError, model: type[BaseModel], *, in_file: bool = False) -> str:
    """Return a sentence that says which value is wrong and which are allowed; `in_file`: no dashes before names."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    own = first["type"] == "value_error"
    reason = first["msg"].removeprefix("Value error, ") if own else f"give {_wanted(model, name, first['type'])}"
    flag = name.replace("_", "-")
    option = flag if in_file else f"--{flag.removesuffix('s') if flag.endswith('-options') else flag}"
    value = first["input"]
    near = get_close_matches(value, _words(model, name), n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]}?" if near else "."
    return f"The option {option} cannot be {value!r:.80}: {reason}{hint}"


_SPOKEN: Final = {"boolean": "true or false", "object": "a table", "array": "a list", "string": "a text"}


def _alternatives(model: type[BaseModel], name: str) -> list[dict[str, Any]]:
    schema = model.model_json_schema()["properties"].get(name, {})
    return [each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]


def _words(model: type[BaseModel], name: str) -> list[str]:
    found = [each.get("enum", [each["const"]] if "const" in each else []) for each in _alternatives(model, name)]
    return [str(word) for words in found for word in words]


def _wanted(model: type[BaseModel], name: str, fault: str) -> str:
    """Describe the allowed values of an option; an upper limit of 10^9 or more is mentioned only if it is exceeded."""
    wanted = []
    for each in _alternatives(model, name):
        kind = "a whole number" if each.get("type") == "integer" else "a number"
        least, most = each.get("minimum"), each.get("maximum")
        if "enum" in each or "const" in each:
            continue
        if each.get("type") not in {"integer", "number"}:
            wanted.append(_SPOKEN.get(each.get("type", ""), "another"))
        elif most is not None and (most < 10**9 or fault == "less_than_equal"):
            wanted.append(f"{kind} from {least:,} to {most:,}")
        else:
            wanted.append(kind if least is None else f"{kind} of at least {least:g}")
    return either([*wanted, *_words(model, name)])


def toml_of(options: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Return options as TOML, a value None as a comment; `comments`: comments at the end of lines, by option."""
    lines: list[str] = []
    tables: list[str] = []
    for name, value in options.items():
        key = name.replace("_", "-")
        said = f"  # {comments[name]}" if comments and name in comments else ""
        if isinstance(value, Mapping):
            bare = re.compile(r"[A-Za-z0-9_-]+")  # a key that needs no quotes
            own = (f"{each if bare.fullmatch(each) else _value(each)} = {_value(one)}" for each, one in value.items())
            tables += ["", f"[{key}]{said}", *own]
        elif value is None:
            lines.append(f"# {key} is not set{said}")
        else:
            lines.append(f"{key} = {_value(value)}{said}")
    return "\n".join([*lines, *tables]) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        # TOML has the escapes of JSON, and also requires one for the character 127.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


_KINDS: Final[dict[Any, Literal["int_type", "float_type", "bool_type"]]] = {
    **dict.fromkeys((int, int | None), "int_type"),
    **dict.fromkeys((float, float | None), "float_type"),
    **dict.fromkeys((bool, bool | None), "bool_type"),
}

_SAME: Final = {"random_state": "seed", "n_jobs": "workers"}  # Names of scikit-learn, which are accepted.

_NEAR: Final = {  # Names in other libraries, and abbreviations in the signature of a result -> our name.
    **_SAME,
    **dict.fromkeys(("algorithm", "method"), "strategy"),
    **dict.fromkeys(("budget", "len", "length", "length_limit", "max_words", "summary_length", "words"), "max_length"),
    **dict.fromkeys(("jobs", "num_workers", "processes"), "workers"),
    **dict.fromkeys(("rouge", "rouge_type", "rouge_types", "score"), "metric"),
    "solver": "backend",
    "timeout": "time_limit",
    "form": "formulation",
    "of": "measure",
    "refs": "references",
    "tok": "tokenizer",
    "stop": "stopwords",
}

_ELSEWHERE: Final = {  # Advice about options that only some commands have.
    "embed": "only solve and solve_all of optsum take it; optsum.with_vectors adds the vectors to a topic, for "
    "every function",
    "input": "the file of topics is an argument after the command",
    "seeds": "optsum compare and the studies akhmetov, gap and hirao run random strategies with several",
    "exact_time_limit": "optsum compare and the studies akhmetov, gap and hirao also prove the optimum; here the "
    "time limit applies to every search",
}

_F1: Final = dict.fromkeys(("fmeasure", "f_measure", "f-measure", "f1-score", "f1_score", "f"), "f1")
_UNITS: Final = {unit.removesuffix("s"): unit for unit in ("words", "sentences", "characters", "tokens")}
_OTHER_VALUES: Final[Mapping[str, Mapping[str, str]]] = {
    "measure": _F1,
    "length_unit": {**_UNITS, "chars": "characters"},
    "best_by": _F1,
}
"""Accepted synonyms of values, by option: the names of other libraries such as rouge-score, and singular forms."""


def in_our_names(given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in given.items():
        ours = _SAME.get(name, name)
        if ours in found or (ours != name and given.get(ours) is not None):
            raise OptionError(f"The options {name} and {ours} are the same: give one of them.")
        found[ours] = value
    return found


def _said_of(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the given options that are not None, by our names."""
    return in_our_names({name: value for name, value in (given or {}).items() if value is not None})


def our_name(name: str) -> UnknownNameError | None:
    """Return an error that advises on an option of another library or command; None if there is no advice."""
    plain = name.lstrip("-").replace("-", "_")
    if (why := _ELSEWHERE.get(plain)) is not None:
        return UnknownNameError(f"there is no option {name!r} here: {why}")
    ours = _NEAR.get(plain)
    if ours is None:
        return None
    ours = f"--{ours.replace('_', '-')}" if name.startswith("-") else ours
    return UnknownNameError(f"there is no option {name!r}; optsum's name for it is {ours}")


class Model(BaseModel):
    """Base class of options: immutable, without unknown fields, and no text, true or false is taken for a number."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    _columns: str | Mapping[str, str] | None = None  # The columns of topics by their meaning: ``map`` in a file.

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        if type(value).__module__ == "numpy" and not getattr(value, "shape", None):  # tested without importing numpy
            if value.dtype.kind in "mM":  # times, which `item` may turn into integers
                raise PydanticCustomError("no_number", "a time is not a number")
            value = value.item()
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation not in {bool, bool | None}:
            raise PydanticCustomError("no_number", "true or false is not a number")
        if isinstance(value, str | bytes) and (kind := _KINDS.get(cls.model_fields[str(info.field_name)].annotation)):
            raise PydanticKnownError(kind)
        if info.field_name != "metric":
            return _OTHER_VALUES.get(str(info.field_name), {}).get(value, value) if isinstance(value, str) else value
        if isinstance(value, Metric):  # an instance without parameters is represented by its class
            value = type(value) if value == type(value).read(value.form) else value.name
        if isinstance(value, type) and issubclass(value, Metric):
            forget_former(place_of(value), value)
            return place_of(value)
        return official_name(value) if isinstance(value, str) else value


def function_or_name(value: Any, otherwise: ValidatorFunctionWrapHandler) -> Any:
    """Validate the name of a function; a function itself is replaced by its name (`optsum.plugins.named_function`)."""
    if isinstance(value, str) and hasattr(value, "function"):  # pydantic would turn an `OwnFunction` into plain text
        return value
    return named_function(value) if callable(value) else otherwise(value)


def _number_or_reference(value: Any, otherwise: ValidatorFunctionWrapHandler) -> Any:
    if isinstance(value, str | bytes) and value != "reference":
        raise PydanticCustomError("no_number", "a text is not a number")
    return otherwise(value)


MaxLength: TypeAlias = Annotated[
    Annotated[int, Field(ge=0, le=LONGEST)] | Literal["reference"] | None, WrapValidator(_number_or_reference)
]


@dataclass(frozen=True)
class FlagHint:
    """Settings for showing an option on the command line."""

    brief: bool = False  # Whether the short help contains it.
    names: str = ""  # The key in `optsum.cli.flags.NAMES` of the names to which a value is completed.


Own: TypeAlias = Annotated[OwnOptions, WithJsonSchema(_OWN_SCHEMA)]

# Searching and scoring share these options of reading texts, with their descriptions.
Tokenizer: TypeAlias = Annotated[
    str | None,
    FlagHint(brief=True, names="tokenizers"),
    WrapValidator(function_or_name),
    Field(
        description="rouge (default), unicode, characters, blank, another name or module:function, or tokens "
        "(default for pre-tokenized topics)"
    ),
]
Language: TypeAlias = Annotated[
    str,
    FlagHint(brief=True, names="languages"),
    Field(description="language of raw text, for splitting, such as en, de or zh"),
]
SplitterName: TypeAlias = Annotated[
    str,
    FlagHint(names="splitters"),
    WrapValidator(function_or_name),
    Field(description="splitter of raw text into sentences: sentencex, or module:function"),
]
LengthTokenizer: TypeAlias = Annotated[
    str | None,
    WrapValidator(function_or_name),
    Field(
        description="tokenizer that counts the tokens of lengths: tiktoken:NAME, hf:NAME or module:function; implies "
        "--length-unit tokens"
    ),
]
Stem: TypeAlias = Annotated[
    bool,
    FlagHint(brief=True),
    Field(description="Porter stemming like ROUGE-1.5.5 -m, or like the named stemmer (rouge-score: google-stemmed)"),
]
Stemmer: TypeAlias = Annotated[
    str,
    FlagHint(names="stemmers"),
    WrapValidator(function_or_name),
    Field(
        description="rouge155 (as ROUGE-1.5.5 -m) or rouge-score, both English, snowball:LANGUAGE, another name or "
        "module:function; implies --stem"
    ),
]
Stopwords: TypeAlias = Annotated[str, Field(description="keep, drop (SMART list), or a file with one word a line")]
Metrics: TypeAlias = Annotated[str, FlagHint(brief=True, names="metrics")]
Preset: TypeAlias = Annotated[
    str | None,
    FlagHint(brief=True, names="presets"),
    Field(description="a set of options from a paper (optsum list presets)"),
]
Counts: TypeAlias = Annotated[
    Literal["clipped", "set"], Field(description="count each n-gram as often as it occurs, or once")
]
ModelUnits: TypeAlias = Annotated[
    Literal["whole", "sentences"],
    Field(description="clip counts by the whole of a reference, or by each of its sentences separately"),
]
FlatLists: TypeAlias = Annotated[
    Literal["sentences", "texts", "tokens"] | None,
    Field(
        description="what a flat list of strings in documents or references holds: the sentences of one text, raw "
        "texts, or tokens"
    ),
]
Lines: TypeAlias = Annotated[
    bool | None, Field(description="each line of raw text is a sentence [only in dialogues and highlights]")
]
SourceWords: TypeAlias = Annotated[
    int | None, Field(ge=1, description="read only the sentences within the first N words of the documents")
]


@of_files
@lru_cache(maxsize=64)
def analyzer_of(tokenizer: str, stem: bool, stopwords: str, stemmer: str) -> Analyzer:
    from optsum.text.analyzer import Analyzer, load_stopwords  # imported late to keep --help quick

    dropped = stopwords if stopwords in {"keep", "drop"} else load_stopwords(stopwords)
    return Analyzer(tokenizer, stem, dropped, stemmer)


def reading_of(options: Any) -> Reading:
    """Return how texts are read: their splitter, language and layout, from the options of any command."""
    as_rouge_score = (getattr(options, "preset", None) or "").startswith("google")
    return topic.Reading(
        split=splitter_of(options.language, options.splitter),
        flat=options.flat,
        lines=options.lines,
        summary_lines="always" if as_rouge_score else None,
        source_words=options.source_words,
        columns=None if options._columns is None else parse_columns(options._columns),  # noqa: SLF001
        notes=topic.Notes(),
    )


OF_WORKERS: Final = ("workers", "executor", "scheduler", "memory_per_worker")  # Options of the processes that search.

OF_SEARCHES: Final = frozenset(  # Options that define the search, but not the problem.
    {
        *("strategy", "strategy_options", "bound", "backend", "backend_options", "threads", "seed", *OF_WORKERS),
        *("time_limit", "node_limit", "evaluation_limit", "gap", "target"),
    }
)

OF_PROBLEMS: Final = OF_SEARCHES | {  # Options that apply to problems without texts; all others are only for texts.
    *("formulation", "formulation_options", "verify", "max_length"),
    *("max_sentences", "require", "forbid", "exclusive", "requires"),
}

_NOT_IN_HASH = {"preset", *OF_WORKERS}
"""Options that are left out of the hash: they cannot change a result; a preset is hashed as the options it sets."""

_ADDED_LATER: Final = ("language", "splitter", "lines", "source_words", "length_tokenizer", "requires")
"""Options added since the first rows were written: they enter the hash only if they differ from their default."""


class Options(Model):
    """Every option of a search; names as on the command line (``--max-length`` is ``max_length``)."""

    formulation: Annotated[str, FlagHint(brief=True, names="formulations")] = Field(
        "extractive", description="choice of units, such as sentences (optsum list formulations)"
    )
    formulation_options: Own = Field((), description="other options of the formulation")
    strategy: Annotated[str, FlagHint(brief=True, names="strategies")] = Field(
        DEFAULT_STRATEGY, description="how to search (optsum list strategies)"
    )
    backend: Annotated[str, FlagHint(names="backends")] = Field(
        "highs", description="MILP solver, or pyomo:NAME (optsum list backends)"
    )
    backend_options: Own = Field(
        (),
        description="the solver's own options, which override those of optsum; highs.NAME if there are several solvers",
    )
    threads: int = Field(1, ge=1, description="number of threads of the solver, if it can use several")
    verify: bool = Field(False, description="let optsum prove the solver's claims again by its own search, if possible")
    strategy_options: Own = Field(
        (),
        description="the strategy's own options; in a comparison for all strategies that have them, or for "
        "one: vns.k_max=3",
    )
    bound: Literal["root", "none", "lagrangian", "knapsack"] = Field(
        "root",
        description="for a strategy that proves nothing, root computes a bound and none does not; for "
        "branch-and-bound, the bound by which it prunes: lagrangian (default) or knapsack (Hirao et al. 2017)",
    )
    metric: Metrics = Field(
        "rouge-1", description="rouge-N, rouge-suK, rouge-l, a mean of several with +, ngram-I-J, or similarity"
    )
    vectors: str | None = Field(
        None, description="for metric similarity: vectors of each topic, an npz file or a folder of ID.npz"
    )
    similarity_unit: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        description="for metric similarity: number of steps from 0 to 1 to which similarities are rounded down",
    )
    measure: Annotated[Literal["recall", "precision", "f1"], FlagHint(brief=True)] = Field(
        "recall", description="measure that is maximized"
    )
    references: Annotated[Literal["pooled", "each", "mean", "best", "first", "agreed"], FlagHint(brief=True)] = Field(
        "pooled",
        description="several references: all together, a problem for each, the mean over them, the one with the "
        "largest value, the first, or the one with which another agrees best",
    )
    model_units: ModelUnits = "whole"
    max_length: Annotated[MaxLength, FlagHint(brief=True)] = Field(
        None,
        description="longest summary, in the length unit; reference: as long as each topic's reference (the "
        "mean of several)",
    )
    min_length: int = Field(0, ge=0, le=LONGEST, description="shortest summary, in the length unit")
    length_unit: Annotated[Literal["words", "sentences", "characters", "tokens", "given"], FlagHint(brief=True)] = (
        Field("words", description="unit of lengths; words are separated by blanks; given: the lengths in each topic")
    )
    length_tokenizer: LengthTokenizer = None
    max_sentences: int | None = Field(
        None, ge=0, le=LONGEST, description="largest number of sentences, besides the maximum length"
    )
    max_characters: int | None = Field(
        None, ge=0, le=LONGEST, description="largest number of characters, besides the maximum length"
    )
    per_document: int | None = Field(None, ge=0, le=LONGEST, description="largest number of sentences of one document")
    require: str | None = Field(None, description="sentences that must be chosen, by number from 0: 0,3")
    forbid: str | None = Field(None, description="sentences that must not be chosen, by number from 0: 0,3")
    exclusive: str | None = Field(
        None,
        description="sentences of which at most one is chosen: those whose words have at least this similarity, such "
        "as 0.5, or those in a FILE of JSON Lines with id and exclusive",
    )
    requires: str | None = Field(
        None,
        description="pairs of sentences of which the first is chosen only with the second: a FILE of JSON Lines "
        "with id and requires",
    )
    tokenizer: Tokenizer = None
    stem: Stem = False
    stemmer: Stemmer = "rouge155"
    stopwords: Stopwords = "keep"
    counts: Counts = "clipped"
    boundaries: Literal["sentence", "joined"] = Field(
        "sentence", description="n-grams of the summary lie within sentences, or also cross their ends"
    )
    keep_unmatched: bool = Field(default=False, description="keep sentences without any counted n-gram as units")
    weights: Literal["one", "length"] = Field(
        "one", description="minimum cover: minimize the number of sentences, or their length"
    )
    uncoverable: Literal["error", "skip"] = Field(
        "error",
        description="cover: an abstract sentence that no source sentences support is an error (with a maximum length: "
        "counts as missed), or is left out and reported",
    )
    chunk_profile: Literal["strict", "paper"] = Field(
        "strict",
        description="compressive: which parts can be left out; strict keeps subjects and objects with their verb",
    )
    chunk_rules: str | None = Field(
        None, description="compressive: rules that form chunks: ud, clearnlp, or a file [by the parse's labels]"
    )
    language: Language = "en"
    splitter: SplitterName = "sentencex"
    flat: FlatLists = None
    lines: Lines = None
    source_words: SourceWords = None
    preset: Preset = None
    time_limit: Annotated[float | None, FlagHint(brief=True)] = Field(
        None, ge=0, description="seconds of search per problem (compare also takes a list)"
    )
    node_limit: int | None = Field(
        None, ge=0, description="nodes of the search tree per problem; a step that has begun is completed"
    )
    evaluation_limit: int | None = Field(
        None, ge=0, description="selections evaluated per problem; a step that has begun is completed"
    )
    gap: float | None = Field(None, ge=0, description="relative gap that is good enough")
    target: float | None = Field(None, description="objective that is good enough")
    seed: int = Field(0, ge=0, description="seed of random choices; the same seed gives the same result")
    workers: Annotated[int, FlagHint(brief=True)] = Field(1, ge=1, le=10_000, description="number of processes")
    executor: Literal["local", "dask"] = Field(
        "local", description="where processes run: on this machine, or in a cluster of dask"
    )
    scheduler: str | None = Field(None, description="scheduler of dask, such as tcp://HOST:8786 [one on this machine]")
    memory_per_worker: str | None = Field(None, description="memory limit of each process, such as 2GB (Linux)")

    @field_validator("memory_per_worker")
    @classmethod
    def _size(cls, value: str | None) -> str | None:
        if value is not None and parse_size(value) < LEAST_MEMORY:
            raise ValueError("a process needs at least 500MB to start")
        return value

    _own = field_validator("backend_options", "strategy_options", "formulation_options", mode="before")(own_options)
    _numbers = field_validator("require", "forbid", mode="before")(listed_numbers)
    _pairs = field_validator("requires", mode="before")(listed_pairs)

    @field_validator("exclusive", mode="before")
    @classmethod
    def _similarity(cls, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError("give a similarity above 0 and at most 1, or a file")  # noqa: TRY004 - pydantic's way
        return str(value) if isinstance(value, int | float | Path) else value

    def analyzer(self) -> Analyzer:
        return analyzer_of(self.tokenizer or "rouge", self.stem, self.stopwords, self.stemmer)

    @cached_property
    def reading(self) -> Reading:
        """The result of `reading_of` for these options, made once, so that everything read shares its `Notes`."""
        return reading_of(self)

    def spec(self) -> Spec:
        """Return the specification of the objective, with the tokenizer for topics that are not tokenized yet."""
        return _spec(self)

    def formulated(self) -> Formulation:
        shipped = self.formulation in FORMULATIONS.builtin and not self.formulation_options
        return _formulated(self) if shipped else _formulated.__wrapped__(self)

    @property
    def memory(self) -> int | None:
        """The memory limit of a process in bytes; None without a limit."""
        return None if self.memory_per_worker is None else parse_size(self.memory_per_worker)

    @property
    def elsewhere(self) -> bool:
        return self.workers > 1 or self.executor != "local" or self.memory_per_worker is not None

    def searcher(self) -> Strategy:
        own = shared_out(self.strategy_options, [self.strategy])[self.strategy]
        return STRATEGIES.create(self.strategy, dict(own), vars(self))

    @property
    def files(self) -> list[str]:
        """The paths of existing files and folders in options; pipes are left out, as they can be read only once."""
        named = [getattr(self, name, None) for name in _NAMING_FILES]
        return [name for name in named if isinstance(name, str) and (Path(name).is_file() or Path(name).is_dir())]

    @property
    def config_hash(self) -> str:
        """Twelve hexadecimal digits that differ, almost surely, if any option that can change a result differs."""
        return _hash(self)


_NAMING_FILES: Final = ("stopwords", "vectors", "chunk_rules")  # Options that may be the path of a file or folder.
_WITH_FILES: Final = (*_NAMING_FILES, "exclusive", "requires")


class ScoreOptions(Model):
    """Every option of scoring; names as on the command line."""

    model_config = ConfigDict(defer_build=True)  # building takes time, and most commands do not score

    metric: Metrics = Field("rouge-1+rouge-2+rouge-l", description="one metric, or several joined by +")
    references: Literal["pooled", "mean", "best", "first", "agreed"] = Field(
        "pooled",
        description="all references together, the mean over them, the best of them, the first alone, or the one with "
        "which another agrees best",
    )
    best_by: Literal["recall", "precision", "f1"] = Field(
        "recall", description="measure that chooses the best reference: recall like ROUGE-1.5.5, f1 like rouge-score"
    )
    tokenizer: Tokenizer = None
    stem: Stem = False
    stemmer: Stemmer = "rouge155"
    stopwords: Stopwords = "keep"
    counts: Counts = "clipped"
    model_units: ModelUnits = "whole"
    max_words: int | None = Field(None, ge=1, description="cut summaries and references after N words")
    oracles: bool = Field(
        default=False,
        description="also precision, recall and F1 of the chosen sentences against all oracles within --max-length",
    )
    each_oracle: int = Field(
        default=0, ge=0, description="like --oracles, and also against each of the first N oracles"
    )
    formulation: str | None = Field(
        None,
        description="cover: score selections by the claims supported within --max-length, and compare with the "
        "optimum [score by ROUGE]",
    )
    max_length: MaxLength = Field(
        None,
        description="longest oracle, in words or what the preset counts, or the budget of a cover; reference: as long "
        "as each topic's reference",
    )
    length_unit: Literal["words", "sentences", "characters", "tokens", "given"] | None = Field(
        None, description="unit of --max-length [words; given for a cover if topics have lengths]"
    )
    length_tokenizer: LengthTokenizer = None
    uncoverable: Literal["error", "skip"] = Field(
        "error",
        description="cover: an abstract sentence that no unit supports counts as missed (error) or is left out (skip)",
    )
    time_limit: float | None = Field(
        None, ge=0, description="seconds for finding the optimum, or all oracles, of a topic"
    )
    language: Language = "en"
    splitter: SplitterName = "sentencex"
    flat: FlatLists = None
    lines: Lines = None
    source_words: SourceWords = None
    preset: Preset = None

    @cached_property
    def reading(self) -> Reading:
        return reading_of(self)

    def analyzer(self, *, pretokenized: bool = False) -> Analyzer:
        tokenizer = self.tokenizer or ("tokens" if pretokenized else "rouge")
        return analyzer_of(tokenizer, self.stem, self.stopwords, self.stemmer)


_OF_READING: Final[dict[str, Any]] = {
    name: (Options.model_fields[name].annotation, Options.model_fields[name])
    for name in ("language", "splitter", "flat", "lines", "source_words")
}
READING: Final = create_model("ReadingOptions", __base__=Model, **_OF_READING)
"""The options of reading texts, for commands whose own options do not include them."""


@of_files
@lru_cache(maxsize=64)
def _formulated(options: Options) -> Formulation:
    own = with_underscores(dict(options.formulation_options), f"The formulation {options.formulation}")
    return FORMULATIONS.create(options.formulation, own, vars(options))


@of_files
@lru_cache(maxsize=64)
def _spec(options: Options) -> Spec:
    from optsum.coverage.instance import NO_LIMIT
    from optsum.problem.formulation import Sides, Spec

    require, forbid = (tuple(map(int, text.split(","))) if text else () for text in (options.require, options.forbid))
    analyzer = options.analyzer()
    sides = Sides(
        max_sentences=options.max_sentences,
        max_characters=options.max_characters,
        per_document=options.per_document,
        require=require,
        forbid=forbid,
        exclusive=exclusive_of(options.exclusive),
        requires=requires_of(options.requires),
    )
    same = {field.name for field in fields(Spec)} & Options.model_fields.keys()
    values = {name: getattr(options, name) for name in same}
    values["references"] = "mean" if options.references == "mean" else "pooled"
    # A maximum length "reference" depends on the topic (`optsum.running.one_problem.Setup.spec_for`).
    values["max_length"] = options.max_length if isinstance(options.max_length, int) else NO_LIMIT
    return Spec(analyzer=analyzer, sides=sides, **values)


@of_files
@lru_cache(maxsize=256)
def _hash(options: Options) -> str:
    data = options.model_dump(exclude=_NOT_IN_HASH)
    for name in _ADDED_LATER:  # rows of earlier versions have a hash without them
        if data[name] == Options.model_fields[name].default:
            del data[name]
    with suppress(OptsumError):  # the content of a file counts, not its name
        if options.stopwords not in {"keep", "drop"}:
            data["stopwords"] = sorted(options.analyzer().stopwords)
        data |= options.formulated().contents()
        least = exclusive_of(options.exclusive)  # equal numbers have one hash, in any notation
        if isinstance(least, Fraction):
            short = float(least)  # earlier versions hashed a float
            data["exclusive"] = short if Fraction(str(short)) == least else str(least)
        else:
            data["exclusive"] = least
        if options.requires is not None:
            data["requires"] = requires_of(options.requires)
        if options.vectors is not None:
            data["vectors"] = digest_of_vectors(options.vectors)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]


def columns_in(table: Mapping[str, Any], path: str | Path) -> str | Mapping[str, str] | None:
    """Return the columns that ``map`` names among the options of a file."""
    said = table.get("map")
    if isinstance(said, Mapping) and all(isinstance(column, str) for column in said.values()):
        return dict(said)
    if said is not None and not isinstance(said, str):
        raise OptionError(f'{path}: map is neither a string nor a table of strings: write map = "documents=COLUMN,..."')
    return said


_OF_BACKENDS: Final = ("backend", "threads", "backend_options", "verify")  # Options of MILP solvers.


def read_config(path: str | Path, *, also: Iterable[str] = ()) -> dict[str, Any]:
    """Read the options of any command, or those in `also`, from TOML; hyphens and underscores in names are the same."""
    place = as_path(path, "The configuration")
    if os.path.exists(place) and place.is_fifo():  # noqa: PTH110 - the name may be too long
        raise OptionError(f"The configuration {path} is a pipe, but is read twice: save it to a file.")
    known = dict.fromkeys([*Options.model_fields, *ScoreOptions.model_fields, *_ONLY_IN, *also])
    return read_table(path, known)


def resolve(
    given: Mapping[str, Any] | None = None,
    *,
    config: str | Path | None = None,
    strategy: str | None = None,
    among_others: bool = False,
    taken: Collection[str] = (),
    reports: bool = True,
) -> Options:
    """Return the checked options of a search: defaults, overridden by the preset, by the file, and by given options.

    A given value None means "not given". `strategy`: the default; if None, the one that a given option implies, or
    "auto". `among_others`: whether other searches share the options, so that some may not apply to this one. `taken`:
    options of the file to ignore. `reports`: whether given options that change nothing are reported.
    """
    if config is None and not any(starmap(_may_change, (given or {}).items())):
        told = tuple((name, repr(value), value) for name, value in (given or {}).items())  # True, 1 and 1.0 are equal
        options = _resolved(told, strategy, among_others)
    else:
        options = _resolve(given, config, strategy, among_others, taken)
    if given and reports and not among_others:
        report_idle(given, options)
    return options


_USED_BY: Final = {
    **dict.fromkeys(("chunk_profile", "chunk_rules", "uncoverable", "weights"), "formulation"),
    **dict.fromkeys(("backend", "threads", "backend_options", "verify", "bound"), "strategy"),
    "similarity_unit": "metric", "stemmer": "stem",
}  # fmt: skip
"""Option that not every search uses -> the option that decides whether a search uses it."""


def report_idle(given: Mapping[str, Any], options: Options, strategies: Sequence[str] = ()) -> None:
    """Warn of given options that have no effect with the other options; `strategies`: several instead of the one."""
    for name, why in idle_options(given, options, strategies).items():
        getLogger("optsum").warning("%s", spoken(f"--{name.replace('_', '-')} changes nothing with {why}"))


def idle_options(given: Mapping[str, Any], options: Options, strategies: Sequence[str] = ()) -> dict[str, str]:
    """Return given options that have no effect, each with the option or the strategies that make it idle."""
    idle: dict[str, str] = {}
    if _USED_BY.keys().isdisjoint(given):
        return idle
    used = set(options.formulated().flags)
    for each in strategies or (options.strategy,):
        used.update(STRATEGIES.load(each).flags)
    used |= set(_OF_BACKENDS) if "backend" in used else set()
    used |= {"bound"} if options.bound in CERTIFIED else set()  # these bounds are for the results of every strategy
    used |= {"stemmer"} if options.stem else set()
    used |= set() if all(part.of_texts for part in parse_metric(options.metric).components) else {"similarity_unit"}
    for name, by in _USED_BY.items():
        asked = given.get(name) is not None and getattr(options, name) != Options.model_fields[name].default
        if asked and name not in used:
            several = by == "strategy" and len(strategies) > 1
            value = strategies[0] if by == "strategy" and strategies else getattr(options, by)
            why = "--no-stem" if by == "stem" else f"--{by}={value}"
            idle[name] = f"the strategies {' and '.join(strategies)}" if several else why
    return idle


def _may_change(name: str, value: Any) -> bool:
    """Return whether an option's value may mean something else later: a file, a user's class, or a list or table."""
    unsafe = type(value) not in {str, int, float, bool, NoneType} or _SAME.get(name, name) in _WITH_FILES
    return unsafe or (isinstance(value, str) and ":" in value)


@of_files
@lru_cache(maxsize=64)
def _resolved(told: tuple[tuple[str, str, Any], ...], strategy: str | None, among_others: bool) -> Options:
    """Return the cached result of `_resolve`, because resolving options takes longer than many searches."""
    return _resolve({name: value for name, _, value in told}, None, strategy, among_others, ())


def _resolve(
    given: Mapping[str, Any] | None,
    config: str | Path | None,
    strategy: str | None,
    among_others: bool,
    taken: Collection[str],
) -> Options:
    options = resolve_as(Options, given, config=config, taken=taken)
    if named := [value for name in _WITH_FILES if (value := getattr(options, name)) not in {None, "keep", "drop"}]:
        forget_changed(named)
    if not among_others and options.backend_options:
        own = own_of_solver(options.backend_options, options.backend)
        options = options.model_copy(update={"backend_options": own})
    if "strategy" not in options.model_fields_set and (name := strategy or _meant(options)) is not None:
        options = options.model_copy(update={"strategy": name})
    if not among_others:
        check_solver_is_used(given, options.strategy)
    if not options.formulated().reads_topics:  # a file may serve texts too, so only given options are refused
        told = _said_of(given)
        alike = isinstance(exclusive_of(options.exclusive), Fraction) or None
        told |= {"preset": options.preset, "min_length": options.min_length or None}
        refuse_of_texts(**told, **{f"exclusive={options.exclusive}": alike})
    _checked(options)
    return options


def refuse_of_texts(**told: object) -> None:
    """Refuse options and arguments that are not None and apply only to texts, for problems without texts."""
    if named := [name for name, value in told.items() if value is not None and name not in OF_PROBLEMS]:
        said = " and ".join(f"--{name.replace('_', '-')}" for name in named)
        raise OptionError(f"A problem of your own is not a text: leave out {said}, which is for texts.")


def check_solver_is_used(
    given: Mapping[str, Any] | None, *strategies: str, enumerates: bool = False, compares: bool = False
) -> None:
    """Refuse given options of a MILP solver if none of the strategies uses a solver.

    `given`: options from arguments, not from a file. `enumerates`: whether optima are enumerated, which no solver can.
    `compares`: whether the strategies are compared.
    """
    values = _said_of(given)
    empty = {name for name, value in values.items() if isinstance(value, tuple | list | dict) and not value}
    named = [name for name in _OF_BACKENDS if values.get(name, False) is not False and name not in empty]
    if not named or not (enumerates or not any("backend" in STRATEGIES.load(name).flags for name in strategies)):
        return
    flag = "--backend-option" if named[0] == "backend_options" else f"--{named[0]}"
    if enumerates:
        why, other = "none enumerates optima", ""
    else:
        why = f"{' and '.join(strategies)} {'uses' if len(strategies) == 1 else 'use'} none"
        other = f", or add {solving()} to --strategies" if compares else f", or give --strategy={solving()}"
    raise OptionError(f"The option {flag} is for searches with a MILP solver, but {why}: leave it out{other}.")


def _meant(options: Options) -> str | None:
    if options.bound not in CERTIFIED:
        return next(name for name in STRATEGIES if "bound" in STRATEGIES.load(name).flags)
    return None if options.model_fields_set.isdisjoint(_OF_BACKENDS) else solving()


@of_files
@lru_cache(maxsize=64)
def _checked(options: Options) -> Spec:
    """Return the specification; refuse options that contradict one another, unknown names and unreadable files."""
    from optsum.coverage.instance import Sense

    formulation = options.formulated()
    shortest = formulation.sense is Sense.MINIMIZE and formulation.reads_topics
    if shortest and (options.max_length is not None or options.min_length):
        budget = "max_length" in formulation.flags
        neither = "no --min-length without a --max-length" if budget else "no --max-length and no --min-length"
        raise OptionError(f"A {formulation.name} is as short as possible, so it takes {neither}.")
    if not formulation.has_metric and options.references in {"each", "best", "agreed"}:
        raise OptionError(
            f"A {formulation.name} is not measured against references one by one: leave out --references."
        )
    if options.max_length == "reference" and not (formulation.reads_topics and options.length_unit != "given"):
        what = "lengths are given of sentences" if formulation.reads_topics else "a problem has no reference"
        raise OptionError(f"--max-length=reference is not possible where {what}: give --max-length N.")
    limits = (options.max_length, options.max_sentences, options.max_characters, options.per_document)
    if formulation.has_metric and not shortest and options.measure == "recall" and limits == (None,) * len(limits):
        raise OptionError("Recall only grows with the length, so it needs a limit: give --max-length N, or a --preset.")
    if isinstance(options.max_length, int) and options.min_length > options.max_length:
        raise OptionError(f"The minimum length {options.min_length} is above the maximum length {options.max_length}.")
    metric = parse_metric(options.metric)
    if options.vectors is not None and all(part.of_texts for part in metric.components):
        raise OptionError(f"Vectors are for the metric similarity, not for {metric}: give --metric=similarity.")
    options.reading  # noqa: B018
    spec = options.spec()
    if spec.length_unit == "tokens":  # raises now if the tokenizer cannot be loaded
        spec.length_of  # noqa: B018
    return spec


def resolve_score(given: Mapping[str, Any] | None = None, *, config: str | Path | None = None) -> ScoreOptions:
    options = resolve_as(ScoreOptions, given, config=config)
    cover = options.formulation is not None and not FORMULATIONS.load(options.formulation).has_metric
    optima = cover or options.oracles or options.each_oracle > 0
    of_optima = "--oracles or --formulation cover"
    needs = {  # what each of these options is for, and whether that is asked
        "best_by": ("--references best or agreed", options.references in {"best", "agreed"}),
        **dict.fromkeys(("max_length", "length_unit", "length_tokenizer", "time_limit"), (of_optima, optima)),
        "uncoverable": ("--formulation cover", cover),
    }
    for name, (what, asked) in needs.items():
        if not asked and (given or {}).get(name) is not None:
            getLogger("optsum").warning("--%s changes nothing without %s", name.replace("_", "-"), what)
    forget_changed([options.stopwords])
    if cover:  # its documents are lists of passages, each one unit
        options = options.model_copy(update={"flat": options.flat or "sentences"})
    parse_metric(options.metric)
    options.analyzer()
    reading_of(options)
    return options


M = TypeVar("M", bound=Model)


@lru_cache(maxsize=64)
def options_of(made_by: Callable[..., Any]) -> type[Model]:
    """Return a model of the keyword-only parameters of a function, or of the keyword-only fields of a dataclass.

    Each parameter or field is annotated ``Annotated[type, Field(description=..., ge=...)]``; otherwise the annotation
    of the field of `Options` with the same name is used.
    """
    # `get_type_hints` evaluates the annotation of an inherited field in the module of the class that declares it.
    types, shared = get_type_hints(made_by, include_extras=True), get_type_hints(Options, include_extras=True)
    types = {name: kind if get_origin(kind) is Annotated else shared.get(name, kind) for name, kind in types.items()}
    own = signature(made_by).parameters.values()
    fields: dict[str, Any] = {
        each.name: (types[each.name], each.default) for each in own if each.kind is Parameter.KEYWORD_ONLY
    }
    return create_model(made_by.__name__, __base__=Model, **fields)


def resolve_as(
    model: type[M],
    given: Mapping[str, Any] | None = None,
    *,
    config: str | Path | None = None,
    taken: Collection[str] = (),
) -> M:
    """Return the checked options of a class: defaults, overridden by the preset, the file, and given options."""
    values = _said_of(given)
    for name in values:
        if name not in model.model_fields:
            raise our_name(name) or unknown_name("option", name, model.model_fields)
    values, columns = _with_implied(values), None
    if config is not None:
        file = read_config(config, also=model.model_fields)
        columns = columns_in(file, config)
        file = {name: value for name, value in file.items() if name not in taken}
        check_kinds(model, file, config)
        file = _with_implied(file)
        own = file.get("backend", model.model_fields["backend"].default if "backend" in model.model_fields else None)
        if values.get("backend", own) != own:
            file.pop("backend_options", None)  # they are those of another solver
        values = {**file, **values}
    if (preset := values.get("preset")) is not None:
        if not isinstance(preset, str) or preset not in PRESETS:
            raise unknown_name("preset", preset, PRESETS)
        values = {**PRESETS[preset].options, **values}
    try:
        # A file or a preset may set options of other commands.
        made = model(**{name: value for name, value in values.items() if name in model.model_fields})
    except ValidationError as error:
        raise OptionError(sentence_of(error, model)) from None
    made._columns = columns  # noqa: SLF001
    return made


def _with_implied(values: Mapping[str, Any]) -> dict[str, Any]:
    implied = {"stem": True} if "stemmer" in values else {}
    return {**implied, **({"length_unit": "tokens"} if values.get("length_tokenizer") else {}), **values}


def with_options(function: Callable[..., Any], keywords: str) -> None:
    """Add each option of a TypedDict in `keywords` to the signature and docstring of a function, for `help`."""
    known = import_module("optsum.options.keywords")
    model = ScoreOptions if keywords == known.ScoreKeywords.__name__ else Options
    plain = signature(function)
    hints = {
        name: str(getattr(hint, "__forward_arg__", hint)).removesuffix(" | None")
        for name, hint in getattr(known, keywords).__annotations__.items()
        if name not in plain.parameters
    }
    taken = [each for each in plain.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=hint) for name, hint in hints.items()]
    function.__signature__ = plain.replace(parameters=[*taken, *more])  # type: ignore[attr-defined]
    lines = ["    Options", "    -------"]
    for name, hint in hints.items():
        told = model.model_fields[name].description or ""
        lines += [f"    {name} : {hint}", f"        {told[:1].upper()}{told[1:]}."]
    function.__doc__ = "\n".join([f"{(function.__doc__ or '').rstrip()}\n", *lines, "    "])


def described(options: Options) -> dict[str, Any]:
    """Return options by name as a file holds them, with the solver's own options in the table ``[backend.options]``."""
    values = options.model_dump()
    for own in ("strategy_options", "formulation_options"):
        values[own] = dict(values[own]) or None
    own_of_backend, backend = dict(values.pop("backend_options")), values["backend"]
    if own_of_backend:
        del values["backend"]
        values |= {"backend": {"name": backend}, "backend.options": own_of_backend}
    return values


def schema() -> dict[str, Any]:
    """Return the JSON schema of a TOML file of options, which may hold the options of every command."""
    made = Options.model_json_schema()
    for name, field in ScoreOptions.model_json_schema()["properties"].items():
        made["properties"].setdefault(name, field)
    for name, (where, kind) in _ONLY_IN.items():
        made["properties"].setdefault(name, {"description": f"of optsum {where}", **kind})
    del made["properties"]["backend_options"]  # in the schema of the table [backend] instead
    backend = made["properties"]["backend"]
    made["properties"]["backend"] = {
        "description": backend["description"],
        "default": backend["default"],
        "anyOf": [{"type": "string"}, _BACKEND],
    }
    made["properties"]["time_limit"]["anyOf"].append({"type": "array", "items": {"type": "number", "minimum": 0}})
    made["properties"] = {name.replace("_", "-"): field for name, field in made["properties"].items()}
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Options of optsum"
    made["additionalProperties"] = False
    return made
