"""Files of chunk rules: tables that a linguist can change (``rules_ud.toml`` explains the format)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from inspect import signature
from typing import Any, Final, TypeAlias

from optsum.chunks.parse import Parse, WorkingTree
from optsum.chunks.rules.rules import STEPS, Action, ChunkRule, NamePattern, Pattern, Rules
from optsum.errors import InputError, OptsumError, unknown_name
from optsum.system.files import PathLike, parse_toml, read_text


@cache
def relations() -> dict[str, frozenset[str]]:
    """Return the relations that each label scheme has."""
    found = parse_toml(_shipped("relations"), "relations")
    return {scheme: frozenset(names.split()) for scheme, names in found.items()}


def mistyped(name: str, scheme: str) -> OptsumError | None:
    """Return the error for a relation, as a file of rules has it (``!obl:*``), that a scheme does not have, or None."""
    plain, known = name.removeprefix("!").removesuffix(":*"), relations()[scheme]
    if plain in known or plain == "*":
        return None
    if plain.partition(":")[0] not in known:
        return unknown_name(f"relation in the scheme {scheme}", plain, sorted(known))
    # A subtype is free, but one letter beside a known one is a slip.
    subtypes = [each for each in known if ":" in each]
    near = get_close_matches(plain, subtypes, n=1, cutoff=0.9)
    return unknown_name(f"relation in the scheme {scheme}", plain, sorted(subtypes)) if near else None


SCHEMES: Final = ("ud", "clearnlp")
"""Label schemes with rules of their own: Universal Dependencies v2, and that of spaCy's English models."""

_WORDS: Final = ("english",)
_UPOS: Final = (
    "*", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SPACE", "SYM", "VERB", "X",
)  # fmt: skip
"""Those of Universal Dependencies, and what spaCy adds."""


def load_rules(name: PathLike) -> Rules:
    """Return the rules of a label scheme (a name in `SCHEMES`), or those in a file."""
    if str(name) in SCHEMES:
        return _built_in(str(name))
    return parse_rules(read_text(name, "the chunk rules"), name=str(name))


def rules_for(parse: Parse) -> Rules:
    """Return the rules of the label scheme that has more labels of its own in a parse; those of UD, if none has."""
    labels = [token.deprel for token in parse.tokens]
    return max(map(_built_in, SCHEMES), key=lambda rules: sum(map(rules.known_by.match, labels)))  # first of equals


def parse_rules(text: str, name: str = "rules") -> Rules:
    """Return rules from the TOML text of a file, which messages call `name`.

    Examples
    --------
    >>> rules = parse_rules('''
    ... extends = "ud"
    ... [[rule]]
    ... relation = ["advmod"]
    ... lemma = ["only"]
    ... action = "MERGE"
    ... ''')
    >>> rules.rules[0].action.value, len(rules.rules) - len(load_rules("ud").rules)
    ('MERGE', 1)
    """
    given = parse_toml(text, f"the file of chunk rules {name}")
    try:
        table = _full(given)
        # Only where it says which scheme its rules are for; labels of another one are anybody's.
        reader = _Reader(_lexicon(table["lexicon"]), given.get("extends"))
        known_by = reader.names(table["known_by"], "known_by")
        steps = tuple(_each("reattach", table["reattach"], reader.step))
        rules = tuple(_each("rule", table["rule"], reader.rule))
    except OptsumError as error:
        raise InputError(f"the chunk rules {name}: {error}") from None
    digest = sha256(json.dumps(table, sort_keys=True, default=str).encode()).hexdigest()
    return Rules(name, steps, rules, known_by, digest)


@cache
def _built_in(name: str) -> Rules:
    return parse_rules(_shipped(f"rules_{name}"), name=name)


def _shipped(name: str) -> str:
    return files("optsum.chunks.rules").joinpath(f"{name}.toml").read_text(encoding="utf-8")


def _full(table: dict[str, Any]) -> dict[str, Any]:
    _check_keys(table, ("extends", "words", "known_by", "reattach", "rule", "lexicon"), "entry")
    own: dict[str, Any] = {"known_by": ["!*"], "reattach": [], "rule": [], "lexicon": {}} | table
    for key in ("reattach", "rule"):
        if not isinstance(own[key], list) or not all(isinstance(each, dict) for each in own[key]):
            raise InputError(f"write [[{key}]], with two brackets, above each {key}")
    if not isinstance(own["lexicon"], dict):
        raise InputError("[lexicon] is no table; write lists of words there, each with a name")
    if "words" in own:
        if own["words"] not in _WORDS:
            raise unknown_name("list of words", own["words"], _WORDS)
        own["lexicon"] = parse_toml(_shipped(f"words_{own['words']}"), own["words"]) | own["lexicon"]
    if "extends" in own:
        if own["extends"] not in SCHEMES:
            raise unknown_name("table of chunk rules to extend", own["extends"], SCHEMES)
        base = _full(parse_toml(_shipped(f"rules_{own['extends']}"), own["extends"]))
        own = base | {
            "reattach": own["reattach"] or base["reattach"],
            "rule": own["rule"] + base["rule"],
            "lexicon": base["lexicon"] | own["lexicon"],
        }
    if not own["rule"]:
        raise InputError("there is no [[rule]]; give at least one")
    return own


def _each(what: str, tables: list[dict[str, Any]], read: Callable[[dict[str, Any]], Any]) -> list[Any]:
    found = []
    for number, table in enumerate(tables, start=1):
        try:
            found.append(read(table))
        except OptsumError as error:
            note = f" ({table['note']!r:.60})" if "note" in table else ""
            raise InputError(f"{what} {number}{note}: {error}") from None
    return found


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], kind: str) -> None:
    for key in table:
        if key not in known:
            raise unknown_name(kind, key, known)


_Lexicon: TypeAlias = dict[str, tuple[str, ...] | dict[str, tuple[str, ...]]]


def _lexicon(table: dict[str, Any]) -> _Lexicon:
    return {
        name: {key: _strings(words, f"{name}.{key}") for key, words in value.items()}
        if isinstance(value, dict)
        else _strings(value, name)
        for name, value in table.items()
    }


def _strings(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InputError(f'{where} is {value!r:.40}; give a list of strings, such as ["obl", "nmod:*"]')
    return tuple(value)


class _Reader:
    lists: Final = ("relation", "upos", "xpos", "lemma", "form", "feats")
    patterns: Final = ("head", "child", "no_child", "sibling", "no_sibling")
    conditions: Final = (*lists, *patterns, "takes", "hyphen", "side")

    def __init__(self, lexicon: _Lexicon, scheme: str | None) -> None:
        self._lexicon, self._scheme = lexicon, scheme

    def names(self, value: Any, where: str) -> NamePattern:
        found: list[str] = []
        for each in _strings(value, where):
            words = self._lexicon.get(each[1:]) if each.startswith("@") else (each,)
            if not isinstance(words, tuple):
                lists = [name for name, known in self._lexicon.items() if isinstance(known, tuple)]
                raise unknown_name("list in [lexicon]", each[1:], lists)
            found += words
        return NamePattern.of(tuple(found))

    def relations(self, value: Any, where: str) -> NamePattern:
        names = self.names(value, where)
        if self._scheme is not None:
            for name in sorted(names.wanted | names.refused):
                if (error := mistyped(name, self._scheme)) is not None:
                    raise error
        return names

    def rule(self, table: dict[str, Any]) -> ChunkRule:
        _check_keys(table, (*self.conditions, "action", "note"), "condition of a rule")
        action = table.get("action")
        if not isinstance(action, str) or action not in Action.__members__:
            raise InputError(f"action is {action!r:.40}; give MERGE, REQ or SEP")
        if "relation" not in table:
            raise InputError('there is no relation; give a list, ["*"] for any')
        conditions = {key: value for key, value in table.items() if key not in {"action", "note"}}
        return ChunkRule(self._pattern(conditions, "rule"), Action[action], str(table.get("note", "")))

    def _pattern(self, table: Any, where: str) -> Pattern:
        if not isinstance(table, dict):
            raise InputError(f'{where} is {table!r:.40}; give conditions in braces, such as {{ lemma = ["of"] }}')
        _check_keys(table, self.conditions, f"condition of a {where}")
        for each in table.get("upos", ()):
            if isinstance(each, str) and not each.startswith("@") and each.removeprefix("!") not in _UPOS:
                raise unknown_name("universal part of speech", each.removeprefix("!"), _UPOS)
        if not isinstance(hyphen := table.get("hyphen", False), bool):
            raise InputError(f"hyphen is {hyphen!r:.40}; give true or false")
        if (side := table.get("side")) not in {None, "left", "right"}:
            raise InputError(f'side is {side!r:.40}; give "left" or "right"')
        conditions: dict[str, Any] = {key: self.names(table[key], key) for key in self.lists if key in table}
        if "relation" in table:
            conditions["relation"] = self.relations(table["relation"], "relation")
        conditions |= {key: self._pattern(table[key], key) for key in self.patterns if key in table}
        return Pattern(**conditions, takes=self._takes(table.get("takes")), hyphen=hyphen, side=side)

    def _takes(self, name: Any) -> dict[str, NamePattern] | None:
        if name is None:
            return None
        words = self._lexicon.get(name) if isinstance(name, str) else None
        if not isinstance(words, dict):
            tables = [key for key, known in self._lexicon.items() if isinstance(known, dict)]
            raise unknown_name("table in [lexicon]", name, tables)
        return {lemma: NamePattern.of(prepositions) for lemma, prepositions in words.items()}

    def step(self, table: dict[str, Any]) -> Callable[[WorkingTree], None]:
        name = table.get("step")
        if not isinstance(name, str) or name not in STEPS:
            raise unknown_name("step", name, STEPS)
        kinds = {key: each.annotation for key, each in signature(STEPS[name]).parameters.items() if key != "tree"}
        given = {key: value for key, value in table.items() if key not in {"step", "note"}}
        _check_keys(given, tuple(kinds), f"entry of the step {name}:")
        if missing := [key for key in kinds if key not in given]:
            raise InputError(f"the step {name} lacks {' and '.join(missing)}; give each")
        return partial(STEPS[name], **{key: self._entry(key, kinds[key], value) for key, value in given.items()})

    def _entry(self, key: str, kind: str, value: Any) -> NamePattern | str | dict[str, tuple[str, ...]]:
        if kind == "NamePattern":
            return self.relations(value, key)
        if kind == "str":
            if not isinstance(value, str):
                raise InputError(f"{key} is {value!r:.40}; give one relation")
            return value
        if not isinstance(value, dict):
            raise InputError(f'{key} is {value!r:.40}; give words in braces, such as {{ enough = ["to"] }}')
        return {word: _strings(words, f"{key}.{word}") for word, words in value.items()}
