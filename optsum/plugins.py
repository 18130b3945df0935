"""Registries of classes by name: built-in classes, which are loaded on demand, and classes of installed plug-ins."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property, lru_cache, partial
from hashlib import sha256
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from operator import attrgetter
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from optsum.errors import OptionError, UnsupportedError, unknown_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
_PLACE = re.compile(r"(?:.+\.py|\w+(?:\.\w+)*):[A-Za-z_][\w.]*")


@dataclass(eq=False, repr=False)
class Registry(Generic[T]):
    """Classes of one kind by name, or functions of one kind, such as tokenizers.

    `kind`: what an entry is, for messages: "strategy". `builtin`: name -> ``"module:attribute"``, or the function
    itself. `group`: entry-point group of plug-ins. A plug-in whose name is taken is left out with a warning; a plug-in
    that cannot be imported is an error only when it is used. `base`: ``"module:attribute"`` of the base class of all
    entries; None for functions. `families`: prefix of names, such as ``pyomo:`` -> ``"module:attribute"`` of the
    function that returns the class for a name without this prefix.
    """

    kind: str
    builtin: Mapping[str, Any]
    group: str
    base: str | None = None
    families: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _plugins(self) -> dict[str, EntryPoint]:
        from importlib.metadata import entry_points  # slow to import, and it reads the metadata of every package

        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            if entry.name in self.builtin or entry.name in found:
                warnings.warn(
                    f"The {self.kind} {entry.name!r} of {entry.value} is left out: that name is taken.", stacklevel=2
                )
            else:
                found[entry.name] = entry
        return found

    def __repr__(self) -> str:
        return f"<Registry of {self.kind} names: {', '.join(self.names())}>"

    def names(self) -> list[str]:
        """Return all names, built-ins first."""
        return [*self.builtin, *self._plugins]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def load(self, name: str) -> type[T]:
        """Return the class or function of a name, a place (`is_place`) or an `OwnFunction`, or raise `OptionError`."""
        if isinstance(name, OwnFunction):
            return name.function  # type: ignore[return-value]
        if not isinstance(name, str):
            raise unknown_name(self.kind, name, self.names())
        if name in self.builtin:
            found = self.builtin[name]
            loaded: type[T] = _attribute(found) if isinstance(found, str) else found
            return loaded
        if name in self._plugins:
            return self._checked(f"{name} of {self._plugins[name].value}", self._plugins[name].load)
        for prefix, place in self.families.items():
            if name.startswith(prefix):
                member: type[T] = _attribute(place)(name.removeprefix(prefix))
                return member
        if is_place(name):
            return self._checked(name, partial(load_place, name))
        families = [f"{prefix}NAME" for prefix in self.families if prefix.endswith(":")]
        raise unknown_name(self.kind, name, [*self.names(), *families])

    def _checked(self, said: str, load: Callable[[], Any]) -> type[T]:
        try:
            plugin: Any = load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a module may call sys.exit
            raise OptionError(f"The {self.kind} {said} cannot be imported: {error!r}.") from error
        fault: str | None = None
        if self.base is None:
            fault = None if callable(plugin) else "it is not a function"
        elif not isinstance(plugin, type) or not issubclass(plugin, base := _attribute(self.base)):
            fault = f"it is not a subclass of {self.base.replace(':', '.')}"
        elif lacking := sorted(getattr(plugin, "__abstractmethods__", ())):
            fault = f"it does not define {' and '.join(lacking)}, as a {self.kind} must"
        elif "__init__" not in vars(plugin):
            for name in ("name", "form"):
                if name in base.__annotations__ and not hasattr(plugin, name):
                    fault = f'it has no {name}: set {name} = "..." in the class'
        if fault is not None:
            raise OptionError(f"The {self.kind} {said} cannot be used: {fault}.")
        checked: type[T] = plugin
        return checked

    def options_of(self, name: str) -> list[str]:
        """Return the names of a class's options: its fields if it is a dataclass, otherwise none."""
        cls = self.load(name)
        return [item.name for item in fields(cls)] if is_dataclass(cls) else []

    def create(self, name: str, options: Mapping[str, Any], flags: Mapping[str, Any] | None = None) -> T:
        """Create an instance of the class with a name, with its options set.

        `options`: options of the class. `flags`: all options of a run; the class takes those that its attribute `flags`
        names.
        """
        cls = self.load(name)
        flagged = {} if flags is None else {flag: flags[flag] for flag in getattr(cls, "flags", ())}
        for option in options:
            if option in flagged:
                flag = f"--{option.replace('_', '-')}"
                raise OptionError(f"The option {option} of {name} has a flag of its own: give {flag}.")
        values = {**flagged, **options}
        known = self.options_of(name) if values else []
        for option in values:
            if option not in known:
                raise unknown_name(f"option of the {self.kind} {name}", option, known)
        fielded: Any = cls  # a type[T] is not known to be hashable
        hints = _hints_of(fielded) if values else {}
        for option, value in values.items():
            if (wanted := _kind_wanted(value, hints[option])) is not None:
                raise OptionError(f"The option {option} is {value!r:.80}; give {wanted}.")
        return cls(**values)


class OwnFunction(str):
    """The name that rows and messages use for a function given by the caller, together with the function.

    Two instances are equal only if name and function are the same, so that caches never mix them up. Pickling the name
    pickles the function too.
    """

    function: Callable[..., Any]

    def __new__(cls, name: str, function: Callable[..., Any]) -> Self:
        own = super().__new__(cls, name)
        own.function = function
        return own

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) and getattr(other, "function", None) is self.function

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    @cached_property
    def sent(self) -> bytes:
        """The pickled function, to send it to another process."""
        from cloudpickle import dumps

        try:
            return bytes(dumps(self.function))
        except Exception as error:
            raise OptionError(
                f"The function {self} cannot be sent to other processes ({error!r:.120}): put it into a module and "
                "give it as module:function, or use only this process with --workers=1."
            ) from error

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (str(self), self.sent)


@lru_cache(maxsize=16)
def _received(name: str, sent: bytes) -> OwnFunction:
    import pickle

    return OwnFunction(name, pickle.loads(sent))  # noqa: S301 - sent by the process that started this one


def check_sent(values: Iterable[object]) -> None:
    """Refuse values that are functions of the caller and cannot be pickled for other processes."""
    for each in values:
        if isinstance(each, OwnFunction):
            _ = each.sent  # made now


def named_function(function: Callable[..., Any]) -> str:
    """Return ``module:name`` of a function if other processes can import it by that; otherwise an `OwnFunction`."""
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", type(function).__qualname__)
    with suppress(AttributeError, KeyError):
        if module != "__main__" and attrgetter(name)(sys.modules[module]) is function:
            return f"{module}:{name}"
    if (code := getattr(function, "__code__", None)) is not None:  # values of variables that the code uses do not count
        constants = [each for each in code.co_consts if not hasattr(each, "co_code")]
        said = repr((code.co_code.hex(), code.co_names, constants))
        name = f"{name}@{sha256(said.encode()).hexdigest()[:8]}"
    return OwnFunction(name, function)


def is_place(name: str) -> bool:
    """Return whether a name is the place of an object: ``FILE.py:Class`` or ``module.of.a.package:Class``."""
    return _PLACE.fullmatch(name) is not None


def place_of(plugin: type) -> str:
    """Return the place ``module:Class`` from which `load_place` loads a class."""
    return f"{plugin.__module__}:{plugin.__qualname__}"


def load_place(place: str) -> Any:
    """Import and return the object named ``FILE.py:NAME`` or ``module:NAME``."""
    home, _, name = place.rpartition(":")
    if not home.endswith(".py"):
        return attrgetter(name)(import_module(home))
    if not Path(home).is_file():
        raise ImportError(f"there is no Python file {home}")
    module = import_module(_OWN + os.fsencode(Path(home).resolve()).hex())
    try:
        return attrgetter(name)(module)
    except AttributeError:
        raise ImportError(f"{home} has no {name}") from None


_OWN = "optsum_own_"
"""Prefix of the module name of a single file; the encoded path follows, so that other processes can import it."""


class _OwnFiles:
    """Finder of the modules that `load_place` makes of single files, also for unpickling in another process."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        del path, target
        if not name.startswith(_OWN):
            return None
        file = os.fsdecode(bytes.fromhex(name.removeprefix(_OWN)))
        if (folder := str(Path(file).parent)) not in sys.path:
            sys.path.append(folder)  # last, so that files in it hide no installed module
        return spec_from_file_location(name, file)


sys.meta_path.append(_OwnFiles)


_hints_of = cache(get_type_hints)  # Types of the fields of a class, cached because evaluating annotations takes .2 ms.


def _attribute(path: str) -> Any:
    try:
        return load_place(path)
    except ModuleNotFoundError as error:
        if error.name is None or not path.startswith(error.name) or error.name.count(".") != 1:
            raise
        raise UnsupportedError(
            f"optsum is imported from {Path(__file__).parent}, a source tree without {error.name}: start it from "
            "another folder, or install that tree (pip install -e .)."
        ) from error


_LARGEST = 2**62  # Sums with larger numbers might overflow the 64-bit integers of the kernels.
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", NoneType: "nothing"}


def _kind_wanted(value: object, hint: Any) -> str | None:
    """Return a description of the type `hint` if it is a simple type and `value` is not of it; None otherwise."""
    hints = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    words = []
    for each in hints:
        if get_origin(each) is Literal:
            fits, word = value in get_args(each), " or ".join(map(str, get_args(each)))
        elif each in _KINDS:
            kinds = (int, float) if each is float else (each,)
            fits, word = isinstance(value, kinds) and (each is bool or not isinstance(value, bool)), _KINDS[each]
            if fits and isinstance(value, int | float) and not -_LARGEST <= value <= _LARGEST:  # true for NaN, too
                fits, word = False, f"{word} from -2^62 to 2^62"
        else:
            return None
        if fits:
            return None
        words.append(word)
    return " or ".join(words)


def _extension_names() -> set[str]:
    face = import_module("optsum")
    homes: Mapping[str, str] = vars(face)["_HOME"]
    return {*homes, *import_module("optsum.registry").PUBLIC_NAMES} - set(face.__all__)


def __getattr__(name: str) -> Any:
    """Return a public name of `optsum` that is meant for extensions."""
    if not name.startswith("_") and name in _extension_names():
        return getattr(import_module("optsum"), name)
    raise AttributeError(f"module 'optsum.plugins' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({"Registry", *_extension_names()})
