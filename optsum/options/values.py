"""Option values that are not plain numbers or texts: solvers' own options, side constraints; TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from pydantic import BaseModel, ByteSize, TypeAdapter, ValidationError

from optsum.corpus.topic import as_id
from optsum.errors import InputError, OptionError, unknown_name
from optsum.registry import BACKENDS, STRATEGIES
from optsum.system.files import of_files, parse_toml, read_text
from optsum.whole import whole, whole_numbers

if TYPE_CHECKING:
    from optsum.problem.formulation import Pairs, Sides

Cliques = dict[str, tuple[tuple[int, ...], ...]]


def listed_numbers(value: Any) -> str:
    """Return sentence numbers as the text ``0,3``, from such a text or a list."""
    items = value.split(",") if isinstance(value, str) else value
    if isinstance(items, int) and not isinstance(items, bool):
        items = [items]
    if not isinstance(items, Iterable):
        raise ValueError("give numbers of sentences, such as 0,3")  # noqa: TRY004 - pydantic's way
    texts = [item.strip() if isinstance(item, str) else str(whole(item, "A sentence")) for item in items]
    if not all(text.isascii() and text.isdigit() and len(text) < 10 for text in texts):
        raise ValueError("give numbers of sentences, such as 0,3")
    return ",".join(texts)


def side_constraints_of(options: Mapping[str, Any]) -> Sides:
    from optsum.problem.formulation import Sides  # --help is quicker without

    return Sides(
        max_sentences=options["max_sentences"],
        max_characters=options["max_characters"],
        per_document=options["per_document"],
        require=_numbers(options["require"]),
        forbid=_numbers(options["forbid"]),
        exclusive=exclusive_of(options["exclusive"]),
        requires=requires_of(options["requires"]),
    )


def listed_pairs(value: Any) -> Any:
    """Return a list of pairs as JSON text; a path as text."""
    if isinstance(value, list | tuple):
        try:
            return json.dumps([whole_numbers(pair, "A sentence", least=0) for pair in value])
        except (TypeError, ValueError):
            raise ValueError("give pairs of sentences, such as [[0, 1]], or a file") from None
    return str(value) if isinstance(value, Path) else value


def requires_of(text: str | None) -> Pairs | tuple[tuple[int, int], ...]:
    """Return pairs of sentences: from JSON text for all topics, or from a file by topic."""
    if text is None:
        return ()
    if not text.lstrip().startswith("["):
        return cast("Pairs", _read(text, "requires"))
    try:
        pairs = tuple((one, other) for one, other in (whole_numbers(pair, "A sentence") for pair in json.loads(text)))
    except (ValueError, TypeError):
        raise OptionError(f"Pairs of sentences are a list such as [[0, 4]], or a file, not {text!r:.60}.") from None
    return pairs


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


_NO_SHARE: Final = re.compile(r"\s*[+-]?(nan|inf)|.*e[+-]?\d{4}|.{100}", re.IGNORECASE)
"""Numbers that are not shares, including those whose digits would fill the memory."""


def exclusive_of(text: str | None) -> Fraction | Cliques | None:
    """Return a similarity exactly as written, or the groups in a file by topic; `OptionError` for neither."""
    if text is None:
        return None
    try:
        least = Fraction(0) if _NO_SHARE.match(text) else Fraction(text)
    except (ValueError, ZeroDivisionError):
        return _read(text, "exclusive")
    if not 0 < least <= 1:
        raise OptionError(f"Sentences are exclusive from a similarity above 0, up to 1, on, not {text}.")
    return least


@of_files
@lru_cache(maxsize=8)
def _read(path: str, key: str) -> Cliques:
    """Read JSON Lines with lists under a key: ``{"id": "t1", "exclusive": [[0, 4], [2, 3, 7]]}``."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise OptionError(f"The file of {_SAID[key]} {path!r} cannot be read: {why}.") from None
    found: Cliques = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            name = as_id(data["id"], "the id of a topic")
            cliques = tuple(map(tuple, data[key]))
        except (ValueError, TypeError, KeyError, RecursionError, InputError):
            raise OptionError(
                f'{path}:{number}: {_SAID[key]} are an object such as {{"id": "t1", "{key}": [[0, 4]]}}.'
            ) from None
        if name in found:
            raise OptionError(f"{path}:{number}: the topic {name!r} comes twice among the {_SAID[key]}.")
        found[name] = cliques
    return found


_SAID: Final = {"exclusive": "exclusive sentences", "requires": "pairs of sentences"}


ONLY_IN: Final = {  # Options of one command that are not fields of a model, and the command.
    "strategies": "compare",
    "exact": "compare",
    "backends": "compare",
    "seeds": "compare, study",
    "exact_time_limit": "compare, study",
    "threshold": "align",
    "map": "--map",
}

Scalar: TypeAlias = bool | int | float | str
OwnOptions: TypeAlias = tuple[tuple[str, Scalar], ...]
"""Name and value, sorted by name, so that they can be compared and hashed."""

OWN_OPTIONS_SCHEMA: Final[dict[str, Any]] = {  # The JSON schema of the table of a solver's own options in a file.
    "type": "object",
    "additionalProperties": {"type": ["boolean", "integer", "number", "string"]},
}


def own_options(given: Any) -> OwnOptions:
    """Return options given as a mapping, as pairs, or as texts ``name=value``."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(_AS_PAIRS)  # noqa: TRY004 - pydantic's way
    found: dict[str, Scalar] = {}
    for item in given.items() if isinstance(given, Mapping) else given:
        if isinstance(item, str):
            name, separator, text = (part.strip() for part in item.partition("="))
            if not separator or not name:
                raise ValueError(f"give it as name=value, not as {item!r}")
            value: object = {"true": True, "false": False}.get(text.lower(), number_in(text))
        elif not isinstance(item, tuple | list) or len(item) != 2 or not isinstance(item[0], str) or not item[0]:
            raise ValueError(_AS_PAIRS)
        else:
            name, value = item
        if not isinstance(value, bool | int | float | str):
            raise ValueError(f"the value of {name} should be a number, a text, true or false")  # noqa: TRY004
        if name in found:
            raise ValueError(f"{name} is given twice")
        found[name] = value
    return tuple(sorted(found.items()))


_AS_PAIRS: Final = "give it as name=value, or as a table of names and values"


def number_in(text: str) -> int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


LEAST_MEMORY: Final = 500_000_000  # Bytes that a process needs before its first topic, for kernels and a solver.
_SIZE: Final[TypeAdapter[ByteSize]] = TypeAdapter(ByteSize)


def parse_size(text: str) -> int:
    """Return a number of bytes: of ``2GB``, or ``1.5 GiB``."""
    try:
        return int(_SIZE.validate_python(f"{text}b" if text.lower().endswith("i") else text))
    except (OverflowError, ValidationError):
        raise ValueError("give a number and a unit, such as 2GB or 512MB") from None


def shared_out(given: OwnOptions, strategies: Sequence[str]) -> dict[str, OwnOptions]:
    """Return the options of each of the strategies that are run.

    ``k_max`` applies to every strategy with such an option, ``vns.k_max`` only to `vns`, with precedence; hyphens and
    underscores are the same.
    """
    known = {name: STRATEGIES.options_of(name) for name in strategies}
    found: dict[str, dict[str, Scalar]] = {name: {} for name in strategies}
    seen = set()
    for name, value in sorted(given, key=lambda pair: "." in pair[0]):  # what is given to one strategy wins
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
    """Return the error for an option of a strategy or solver that is not run."""
    if owner not in known:
        return unknown_name(kind, owner, known)
    return OptionError(
        f"The option {option} is for the {kind} {owner}, but this run uses only {' and '.join(here)}: leave it out, "
        f"or run {owner} too."
    )


def own_of_solver(
    given: OwnOptions, backend: str, among: Collection[str] | None = None, *, shared: bool = False
) -> OwnOptions:
    """Return the options of a solver; ``highs.presolve`` is one of `highs` alone, ``presolve`` one of the only solver.

    `among`: all solvers that are run; by default only this one. `shared`: whether ``presolve`` applies to each of them.
    """
    found: dict[str, Scalar] = {}
    for name, value in given:
        prefixes = [each for each in {backend, *(among or ()), *BACKENDS} if name.startswith(f"{each}.")]
        solver = max(prefixes, key=len, default=None)  # pyomo:cbc.ratio is no option of another
        if solver is None and among is not None and not shared:
            raise OptionError(
                f"Options of one solver cannot be those of several: say whose {name} is, as in {backend}.{name}."
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
LONGEST: Final = 10**12  # Lengths beyond it would leave the range of the kernels' integers.


def lengths_of(text: str | Sequence[int] | None, max_length: int | None = None) -> tuple[int, ...]:
    """Return maximum lengths, ascending: ``25:300:25`` (both ends included), ``50,100,200``, or numbers."""
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
            f"Lengths are numbers from 0 to {LONGEST}, such as 25:300:25 (from, to, step) or 50,100,200, at most "
            f"{_MOST_LENGTHS}, not {text!s:.80}."
        )
    return tuple(sorted(set(found)))


def text_of_lengths(lengths: Sequence[int]) -> str:
    """Return lengths in a form that `lengths_of` reads."""
    steps = {b - a for a, b in pairwise(lengths)}
    if len(lengths) > 2 and len(steps) == 1:
        return f"{lengths[0]}:{lengths[-1]}:{steps.pop()}"
    return ",".join(map(str, lengths))


def read_table(path: str | Path, known: Collection[str]) -> dict[str, Any]:
    """Read options by name, with hyphens or underscores; the table ``[backend]`` has its ``name`` and ``options``."""
    text = read_text(path, "the configuration", error=OptionError)
    table = parse_toml(text, f"the configuration {path}", error=OptionError)
    options: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name in options:
            raise OptionError(f"The configuration {path} sets {name} twice.")
        if name not in known:
            raise OptionError(f"{path}: {unknown_name('option', key, known)}")
        options[name] = value
    if isinstance(options.get("backend"), dict):
        own = dict(options.pop("backend"))
        if "options" in own and "backend_options" in options:
            raise OptionError(
                f"The configuration {path} has options of the solver in two places, backend_options and [backend]: "
                "leave one of them out."
            )
        options |= {name: own.pop(key) for key, name in _OF_BACKEND.items() if key in own}
        if own:
            raise OptionError(f"{path}: {unknown_name('key of [backend]', next(iter(own)), _OF_BACKEND)}")
    return options


_OF_BACKEND: Final = {"name": "backend", "options": "backend_options"}


def check_kinds(model: type[BaseModel], options: Mapping[str, Any], path: str | Path) -> None:
    """Refuse values of the wrong kind, naming the file: fractions for whole numbers, and texts for any number."""
    try:
        model.model_validate({name: options[name] for name in options if name in model.model_fields}, strict=True)
    except ValidationError as error:
        raise OptionError(f"{path}: {sentence_of(error, model, in_file=True)}") from None


def sentence_of(error: ValidationError, model: type[BaseModel], *, in_file: bool = False) -> str:
    """Return a sentence about a wrong value and the allowed values; a file names options without dashes."""
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


_FAR: Final = 10**9
_KINDS: Final = {"boolean": "true or false", "object": "a table", "array": "a list", "string": "a text"}


def _alternatives(model: type[BaseModel], name: str) -> list[dict[str, Any]]:
    schema = model.model_json_schema()["properties"].get(name, {})
    return [each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]


def _words(model: type[BaseModel], name: str) -> list[str]:
    found = [each.get("enum", [each["const"]] if "const" in each else []) for each in _alternatives(model, name)]
    return [str(word) for words in found for word in words]


def _wanted(model: type[BaseModel], name: str, fault: str) -> str:
    """Describe the allowed values of an option; mention very large limits only if they are exceeded."""
    wanted = []
    for each in _alternatives(model, name):
        kind = "a whole number" if each.get("type") == "integer" else "a number"
        least, most = each.get("minimum"), each.get("maximum")
        if "enum" in each or "const" in each:
            continue
        if each.get("type") not in {"integer", "number"}:
            wanted.append(_KINDS.get(each.get("type", ""), "another"))
        elif most is not None and (most < _FAR or fault == "less_than_equal"):
            wanted.append(f"{kind} from {least:,} to {most:,}")
        else:
            wanted.append(kind if least is None else f"{kind} of at least {least:g}")
    *others, last = [*wanted, *_words(model, name)]
    return f"{', '.join(others)} or {last}" if others else last


def toml_of(options: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Return options as TOML that reads back; None becomes a comment, tables come last; `comments` are added."""
    lines: list[str] = []
    tables: list[str] = []
    for name, value in options.items():
        key = name.replace("_", "-")
        said = f"  # {comments[name]}" if comments and name in comments else ""
        if isinstance(value, Mapping):
            own = (f"{each if _BARE.fullmatch(each) else _value(each)} = {_value(one)}" for each, one in value.items())
            tables += ["", f"[{key}]{said}", *own]
        elif value is None:
            lines.append(f"# {key} is not set{said}")
        else:
            lines.append(f"{key} = {_value(value)}{said}")
    return "\n".join([*lines, *tables]) + "\n"


_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")  # A key that needs no quotes.


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        # What JSON escapes, TOML reads in the same way; it alone also escapes the character 127.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
