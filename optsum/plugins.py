"""Classes by name: built-ins loaded on demand, third parties announced by entry points."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from optsum.errors import OptionError, UnsupportedError, unknown_name

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Generic[T]):
    """Classes by name.

    Parameters
    ----------
    kind : str
        For messages: "strategy", "formulation", "backend".
    builtin : mapping of name to ``"module:attribute"``
        Imported only when asked for.
    group : str
        Entry-point group in which third parties announce theirs. One that takes a built-in's name, or a name that is
        already taken, warns and is left out; one that cannot be imported is an error only when it is used.
    base : str
        ``"module:attribute"`` of the class that every entry derives from.
    """

    def __init__(self, kind: str, builtin: Mapping[str, str], group: str, base: str) -> None:
        self.kind = kind
        self.group = group
        self.base = base
        self.builtin = builtin

    @cached_property
    def _plugins(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            if entry.name in self.builtin or entry.name in found:
                warnings.warn(
                    f"The {self.kind} {entry.name!r} of {entry.value} is left out: that name is taken.",
                    stacklevel=2,
                )
            else:
                found[entry.name] = entry
        return found

    def names(self) -> list[str]:
        """Return all names, built-ins first."""
        return [*self.builtin, *self._plugins]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def load(self, name: str) -> type[T]:
        """Return the class of a name.

        Raises
        ------
        UnknownNameError
            With the nearest names.
        OptionError
            If a third party's class cannot be imported, or is no class of this kind.
        """
        if name in self.builtin:
            loaded: type[T] = _attribute(self.builtin[name])
            return loaded
        if name in self._plugins:
            try:
                plugin: type[T] = self._plugins[name].load()
            except Exception as error:
                raise OptionError(
                    f"The {self.kind} {name} of {self._plugins[name].value} cannot be imported: {error!r}."
                ) from error
            if not _derives(plugin, _attribute(self.base)):
                raise OptionError(
                    f"The {self.kind} {name} of {self._plugins[name].value} cannot be used: it is no subclass of "
                    f"{self.base.replace(':', '.')}."
                )
            return plugin
        raise unknown_name(self.kind, name, self.names())

    def options_of(self, name: str) -> list[str]:
        """Return the names of what can be set: the fields of the class, where it is a dataclass."""
        cls = self.load(name)
        return [item.name for item in fields(cls)] if is_dataclass(cls) else []

    def create(self, name: str, options: Mapping[str, Any], flags: Mapping[str, Any] | None = None) -> T:
        """Return one with its options set.

        Parameters
        ----------
        name : str
        options : mapping
            Its own.
        flags : mapping, optional
            All options of a run, of which it takes those that it names as its flags.

        Raises
        ------
        UnknownNameError
            For a name or an option that does not exist, with the nearest ones.
        OptionError
            For a value of another kind than the field's, or an option of its own that has a flag.
        """
        cls, known = self.load(name), self.options_of(name)
        flagged = {} if flags is None else {flag: flags[flag] for flag in getattr(cls, "flags", ())}
        for option in options:
            if option in flagged:
                flag = f"--{option.replace('_', '-')}"
                raise OptionError(f"The option {option} of {name} has a flag of its own: give {flag}.")
        values = {**flagged, **options}
        for option in values:
            if option not in known:
                raise unknown_name(f"option of the {self.kind} {name}", option, known)
        hints = get_type_hints(cls) if values else {}
        for option, value in values.items():
            if (wanted := _kind_wanted(value, hints[option])) is not None:
                raise OptionError(f"The option {option} is {value!r:.80}; give {wanted}.")
        return cls(**values)


def _derives(plugin: object, base: type) -> bool:
    return isinstance(plugin, type) and issubclass(plugin, base)


def _attribute(path: str) -> Any:
    module, _, attribute = path.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name) or error.name.count(".") != 1:
            raise
        raise UnsupportedError(
            f"optsum is imported from {Path(__file__).parent}, a source tree without {error.name}: start it from "
            "another folder, or install that tree (pip install -e .)."
        ) from error


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", NoneType: "nothing"}


def _kind_wanted(value: object, hint: Any) -> str | None:
    """Return what a field takes, if that is something simple and `value` is nothing of it."""
    hints = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    words = []
    for each in hints:
        if get_origin(each) is Literal:
            fits, word = value in get_args(each), " or ".join(map(str, get_args(each)))
        elif each in _KINDS:
            kinds = (int, float) if each is float else (each,)
            fits, word = isinstance(value, kinds) and (each is bool or not isinstance(value, bool)), _KINDS[each]
        else:
            return None
        if fits:
            return None
        words.append(word)
    return " or ".join(words)
