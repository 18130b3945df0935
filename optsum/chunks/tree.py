"""Convert the dependency tree of a sentence to the tree of its chunks, by rules in files, and print chunks.

A compression keeps or drops a chunk as a whole (section 3.1 of Hirao et al. 2017, compressive). A file of rules has
steps, which move words before the tree is cut into chunks, and rules, each a pattern of words and the action for words
that match it. A linguist can change them (``rules_ud.toml`` explains the format).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from inspect import signature
from itertools import combinations, groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from optsum.chunks.parse import Parse, Token, WorkingTree, is_punctuation
from optsum.errors import InputError, OptsumError, unknown_name
from optsum.system.files import PathLike, parse_toml, read_text

if TYPE_CHECKING:
    import networkx as nx

# Label schemes with their own rules: Universal Dependencies v2, and that of spaCy's English models.
SCHEMES: Final = ("ud", "clearnlp")
# Part-of-speech tags of Universal Dependencies, and the tags that spaCy adds.
_UPOS: Final = (
    *("*", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT"),
    *("SCONJ", "SPACE", "SYM", "VERB", "X"),
)
_Lexicon: TypeAlias = dict[str, tuple[str, ...] | dict[str, tuple[str, ...]]]
PROFILES: Final = ("strict", "paper")
"""Profiles: ``strict`` keeps or drops chunks tied by `Action.REQ` together; ``paper`` can drop any but the root."""

_OPENERS = {"(", "[", "{", "“", "‘", "„", "‚", "«", "‹", "¿", "¡", "``", "`", "-LRB-", "-LSB-", "-LCB-"}


@dataclass(frozen=True, slots=True)
class NamePattern:
    """Names that match: ``obl`` itself, ``obl:*`` also all its subtypes, ``*`` any name, ``!obl`` all but ``obl``."""

    wanted: frozenset[str]
    refused: frozenset[str]
    plain: bool  # Whether no name has ``*`` or ``!``, as in most patterns; then matching is faster.

    @classmethod
    def of(cls, names: tuple[str, ...]) -> NamePattern:
        refused = frozenset(name[1:] for name in names if name.startswith("!"))
        wanted = frozenset(name for name in names if not name.startswith("!"))
        return cls(wanted, refused, bool(wanted) and not refused and not any("*" in name for name in wanted))

    def match(self, name: str) -> bool:
        if self.plain:
            return name in self.wanted
        return (not self.wanted or _among(name, self.wanted)) and not _among(name, self.refused)

    def match_any(self, names: list[str]) -> bool:
        wanted = not self.wanted or any(_among(name, self.wanted) for name in names)
        return wanted and not any(_among(name, self.refused) for name in names)


def _among(name: str, names: frozenset[str]) -> bool:
    return bool(names) and (name in names or "*" in names or f"{name.partition(':')[0]}:*" in names)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Required features of a word; None matches anything."""

    # relation, upos, xpos, lemma, form, feats: lemma and form are compared in lower case; a feature is written
    # ``PronType=Rel``.
    relation: NamePattern | None = None
    upos: NamePattern | None = None
    xpos: NamePattern | None = None
    lemma: NamePattern | None = None
    form: NamePattern | None = None
    feats: NamePattern | None = None
    # head, child, sibling: patterns of the head, of some child, and of some other child of the head.
    head: Pattern | None = None
    child: Pattern | None = None
    # no_child, no_sibling: patterns that no child, and no other child of the head, may match.
    no_child: Pattern | None = None
    sibling: Pattern | None = None
    no_sibling: Pattern | None = None
    # Lemma of the head -> prepositions (``depend``: ``on``). One of these must be a ``case`` child of the word, or a
    # ``mark`` child tagged as a preposition (*to convening*), or the word itself if it has neither. A key of two words
    # (``come up``) is a head with one of its children.
    takes: Mapping[str, NamePattern] | None = field(default=None, hash=False)
    hyphen: bool = False  # Whether the word must be joined to its head by a hyphen, without blanks.
    side: str | None = None  # "left" or "right": where the word must stand, seen from its head.

    def match(self, tree: WorkingTree, word: int) -> bool:
        token, head = tree.parse.tokens[word], tree.head[word]
        if (
            (self.relation is not None and not self.relation.match(tree.relation[word]))
            or (self.upos is not None and not self.upos.match(token.upos))
            or (self.xpos is not None and not self.xpos.match(token.xpos))
            or (self.lemma is not None and not self.lemma.match(tree.lemma(word)))
            or (self.form is not None and not self.form.match(token.form.lower()))
            or (self.feats is not None and not self.feats.match_any(_values(token.feats)))
            or (self.child is not None and not any(self.child.match(tree, each) for each in tree.children(word)))
            or (self.no_child is not None and any(self.no_child.match(tree, each) for each in tree.children(word)))
        ):
            return False
        if head == -1:
            return not (self.head or self.sibling or self.takes or self.hyphen or self.side)
        others = [each for each in tree.children(head) if each != word]
        return not (
            (self.side is not None and (self.side == "left") != (word < head))
            or (self.head is not None and not self.head.match(tree, head))
            or (self.sibling is not None and not any(self.sibling.match(tree, each) for each in others))
            or (self.no_sibling is not None and any(self.no_sibling.match(tree, each) for each in others))
            or (self.takes is not None and not _takes(self.takes, tree, word, head))
            or (self.hyphen and not _hyphenated(tree, word, head))
        )


def _values(feats: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, values in feats.items() for value in values.split(",")]


def _takes(table: Mapping[str, NamePattern], tree: WorkingTree, word: int, head: int) -> bool:
    related = [(each, tree.relation[each], tree.parse.tokens[each].upos) for each in tree.children(word)]
    found = [each for each, of, tag in related if of == "case" or (of == "mark" and tag in {"ADP", "SCONJ"})]
    cases, verb = [tree.lemma(each) for each in found or [word]], tree.lemma(head)
    keys = [verb, *(f"{verb} {tree.lemma(each)}" for each in tree.children(head))]
    return any(key in table and any(map(table[key].match, cases)) for key in keys)


def _hyphenated(tree: WorkingTree, word: int, head: int) -> bool:
    first, last = sorted((word, head))
    tokens = tree.parse.tokens
    between = tree.parse.text[tokens[first].end : tokens[last].start]
    return any(sign in between for sign in "-‐‑–") and not any(map(str.isspace, between))


def _with(tree: WorkingTree, word: int, relation: NamePattern) -> list[int]:
    return [each for each in tree.children(word) if relation.match(tree.relation[each])]


def preconjunction(tree: WorkingTree, relation: NamePattern, conjunct: NamePattern) -> None:
    """Move the first word of "both A and B" or "either A or B" from A to the last conjunct."""
    for word in tree.words:
        head = tree.head[word]
        if head != -1 and relation.match(tree.relation[word]) and (conjuncts := _with(tree, head, conjunct)):
            tree.attach(word, conjuncts[-1])


def chain(tree: WorkingTree, conjunct: NamePattern, coordinator: NamePattern) -> None:
    """Make A of a chain A -> B -> C ("A, B and C") the head of all conjuncts up to the first with a coordinator."""
    for word in tree.words:
        for last in _with(tree, word, conjunct):
            here = last
            while not _with(tree, here, coordinator):
                if not (behind := [each for each in _with(tree, here, conjunct) if each > here]):
                    break
                here = behind[0]
                tree.attach(here, word)


def coordinator(tree: WorkingTree, relation: NamePattern, conjunct: NamePattern) -> None:
    """Move a coordinator from the conjunct before it to the conjunct after it."""
    for word in tree.words:
        head = tree.head[word]
        if -1 < head < word and relation.match(tree.relation[word]):
            for behind in [each for each in _with(tree, head, conjunct) if each > word][:1]:
                tree.attach(word, behind)


def middle_conjunct(tree: WorkingTree, conjunct: NamePattern, coordinator: NamePattern) -> None:
    """Move B of "A, B and C" from A to C, the last conjunct with a coordinator, so that "A, B" cannot remain alone."""
    for word in tree.words:
        conjuncts = _with(tree, word, conjunct)
        joined = [each for each in conjuncts if _with(tree, each, coordinator)]
        for each in conjuncts:
            if joined and each < joined[-1] and each not in joined:
                tree.attach(each, joined[-1])


def attribution(
    tree: WorkingTree, clause: NamePattern, along: NamePattern, subordinator: NamePattern, becomes: str
) -> None:
    """Make X of "X, he said" the head if it is a clause of "said"; "he said" becomes an aside (`becomes`) of X.

    The clause precedes the verb and its other dependents, except those named by `along`, which move with X. It ends in
    punctuation, and does not begin with a subordinator.
    """
    for word in tree.words:
        verb = tree.head[word]
        if verb == -1 or not clause.match(tree.relation[word]):
            continue
        inside = tree.below(word)
        movable = _with(tree, verb, along)
        outside = tree.below(verb) - inside - {each for one in movable for each in tree.below(one)}
        behind, tokens = max(inside) + 1, tree.parse.tokens
        breaks = behind < len(tokens) and behind not in tree.words and tokens[behind].form not in {"-", "(", "["}
        if min(outside) < behind or _with(tree, word, subordinator) or not breaks:
            continue
        above, relation = tree.head[verb], tree.relation[verb]
        tree.attach(word, above, relation)
        tree.attach(verb, word, becomes)
        for each in movable:
            if each < word:
                tree.attach(each, word)


def degree(tree: WorkingTree, clause: NamePattern, adverb: NamePattern, markers: Mapping[str, tuple[str, ...]]) -> None:
    """Move the clause of "hated him enough to leave", "ran so fast that he fell" from the verb to the adverb.

    `markers`: lemma of the adverb -> lemmas of words that open the clause. The adverb depends on the head of the clause
    or on one of its dependents, and precedes the clause.
    """
    for word in tree.words:
        head = tree.head[word]
        if head == -1 or not clause.match(tree.relation[word]):
            continue
        opening = {tree.lemma(each) for each in tree.children(word)}
        near = [each for each in tree.children(head) if each != word]
        for one in [*near, *(below for each in near for below in tree.children(each))]:
            marked = opening.intersection(markers.get(tree.lemma(one), ()))
            if one < word and marked and adverb.match(tree.relation[one]):
                tree.attach(word, one)
                break


# Functions that move words of a tree, by their names in files of rules; the file gives their other arguments.
_MOVES = (preconjunction, chain, coordinator, middle_conjunct, attribution, degree)
STEPS: Final[Mapping[str, Callable[..., None]]] = MappingProxyType(
    {step.__name__.replace("_", "-"): step for step in _MOVES}
)


class Action(Enum):
    """The action for a word that is not the root."""

    MERGE = "MERGE"  # It belongs to the chunk of its head.
    REQ = "REQ"  # It begins a chunk that is kept if, and only if, the chunk of its head is.
    SEP = "SEP"  # It begins a chunk that can be left out.


@dataclass(frozen=True, slots=True)
class ChunkRule:
    """The action for words that match a pattern."""

    pattern: Pattern
    action: Action
    note: str = ""


_OTHERWISE = ChunkRule(Pattern(), Action.SEP, "no rule fits")


@dataclass(frozen=True)
class Rules:
    """The rules by which a tree of words becomes a tree of chunks."""

    name: str  # The label scheme or the file.
    steps: tuple[Callable[[WorkingTree], None], ...] = field(compare=False)  # They move words, in this order.
    rules: tuple[ChunkRule, ...]  # The first rule that matches a word decides; if none does, the word can be left out.
    known_by: NamePattern  # Relations that only this label scheme has.
    digest: str = ""  # Hash of the rules, including the rules that they extend and their lists of words.
    _by_relation: dict[str, tuple[ChunkRule, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def prepare(self, parse: Parse) -> WorkingTree:
        tree = WorkingTree(parse)
        for step in self.steps:
            step(tree)
        return tree

    def decide(self, tree: WorkingTree, word: int) -> ChunkRule:
        relation = tree.relation[word]
        if (candidates := self._by_relation.get(relation)) is None:
            known = ((rule, rule.pattern.relation) for rule in self.rules)
            candidates = tuple(rule for rule, wanted in known if wanted is None or wanted.match(relation))
            self._by_relation[relation] = candidates
        return next((rule for rule in candidates if rule.pattern.match(tree, word)), _OTHERWISE)


@cache
def relations() -> dict[str, frozenset[str]]:
    found = parse_toml(_shipped("relations"), "relations")
    return {scheme: frozenset(names.split()) for scheme, names in found.items()}


def mistyped(name: str, scheme: str) -> OptsumError | None:
    """Return the error for a relation in a file of rules (``!obl:*``) that the scheme does not have, or None."""
    plain, known = name.removeprefix("!").removesuffix(":*"), relations()[scheme]
    if plain in known or plain == "*":
        return None
    if plain.partition(":")[0] not in known:
        return unknown_name(f"relation in the scheme {scheme}", plain, sorted(known))
    # Any subtype is allowed, but one that is nearly a known one is a typing error.
    subtypes = [each for each in known if ":" in each]
    near = get_close_matches(plain, subtypes, n=1, cutoff=0.9)
    return unknown_name(f"relation in the scheme {scheme}", plain, sorted(subtypes)) if near else None


def load_rules(name: PathLike) -> Rules:
    if str(name) in SCHEMES:
        return _built_in(str(name))
    return parse_rules(read_text(name, "the chunk rules"), name=str(name))


def rules_for(parse: Parse) -> Rules:
    """Return the rules of the label scheme that matches most labels of a parse; the rules of UD if none does."""
    labels = [token.deprel for token in parse.tokens]
    return max(map(_built_in, SCHEMES), key=lambda rules: sum(map(rules.known_by.match, labels)))  # UD wins ties


def parse_rules(text: str, name: str = "rules") -> Rules:
    """Return rules from the TOML text of a file, called `name` in messages.

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
        # Relations are checked only if `extends` names their scheme; labels of other schemes are unknown here.
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
    return files("optsum.chunks").joinpath(f"{name}.toml").read_text(encoding="utf-8")


def _full(table: dict[str, Any]) -> dict[str, Any]:
    _check_keys(table, ("extends", "words", "known_by", "reattach", "rule", "lexicon"), "entry")
    own: dict[str, Any] = {"known_by": ["!*"], "reattach": [], "rule": [], "lexicon": {}} | table
    for key in ("reattach", "rule"):
        if not isinstance(own[key], list) or not all(isinstance(each, dict) for each in own[key]):
            raise InputError(f"write [[{key}]], with two brackets, above each {key}")
    if not isinstance(own["lexicon"], dict):
        raise InputError("[lexicon] is not a table; write lists of words there, each with a name")
    if "words" in own:
        if own["words"] != "english":
            raise unknown_name("list of words", own["words"], ["english"])
        own["lexicon"] = parse_toml(_shipped(f"words_{own['words']}"), own["words"]) | own["lexicon"]
    if "extends" in own:
        if own["extends"] not in SCHEMES:
            raise unknown_name("table of chunk rules to extend", own["extends"], SCHEMES)
        base = _full(parse_toml(_shipped(f"rules_{own['extends']}"), own["extends"]))
        base["reattach"] = own["reattach"] or base["reattach"]
        own = base | {"rule": own["rule"] + base["rule"], "lexicon": base["lexicon"] | own["lexicon"]}
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
                raise unknown_name("universal part-of-speech tag", each.removeprefix("!"), _UPOS)
        if not isinstance(hyphen := table.get("hyphen", False), bool):
            raise InputError(f"hyphen is {hyphen!r:.40}; give true or false")
        if (side := table.get("side")) not in {None, "left", "right"}:
            raise InputError(f'side is {side!r:.40}; give "left" or "right"')
        conditions: dict[str, Any] = {key: self.names(table[key], key) for key in self.lists if key in table}
        if "relation" in table:
            conditions["relation"] = self.relations(table["relation"], "relation")
        conditions |= {key: self._pattern(table[key], key) for key in self.patterns if key in table}
        if (name := table.get("takes")) is not None:
            words = self._lexicon.get(name) if isinstance(name, str) else None
            if not isinstance(words, dict):
                tables = [key for key, known in self._lexicon.items() if isinstance(known, dict)]
                raise unknown_name("table in [lexicon]", name, tables)
            conditions["takes"] = {lemma: NamePattern.of(prepositions) for lemma, prepositions in words.items()}
        return Pattern(**conditions, hyphen=hyphen, side=side)

    def step(self, table: dict[str, Any]) -> Callable[[WorkingTree], None]:
        name = table.get("step")
        if not isinstance(name, str) or name not in STEPS:
            raise unknown_name("step", name, STEPS)
        kinds = {key: each.annotation for key, each in signature(STEPS[name]).parameters.items() if key != "tree"}
        given = {key: value for key, value in table.items() if key not in {"step", "note"}}
        _check_keys(given, tuple(kinds), f"entry of the step {name}")
        if missing := [key for key in kinds if key not in given]:
            raise InputError(f"the step {name} lacks {' and '.join(missing)}; add what is missing")
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


def chunk_tree(parse: Parse, profile: str = "strict", rules: Rules | None = None) -> nx.DiGraph:
    """Return the tree of the chunks of a sentence, by default by the rules for the label scheme of the parse.

    Every token is in exactly one chunk, which need not be contiguous. Edges lead from parent to child. Nodes are the
    numbers of the chunks, from 1, in the order of their first words. A node has ``tokens``, a sorted tuple of token
    numbers from 0 (punctuation belongs to the word before it, an opening mark to the word after it), and ``head``, the
    token on which its other tokens depend. An edge has ``required``, whether parent and child are kept or dropped
    together, ``relation``, the relation of the child's head after re-attachment, and ``note``, the note of the rule.
    The graph has ``text``, ``profile``, ``rules`` (their name) and ``root``.

    >>> from optsum.chunks.parse import parse_conllu
    >>> (parse,) = parse_conllu('''1 Some  some  DET  DT  _  2  det
    ... 2  cats  cat  NOUN  NNS  _  3  nsubj
    ... 3  sleep  sleep  VERB  VBP  _  0  root
    ... 4  often  often  ADV  RB  _  3  advmod'''.replace("1 ", "1  "))
    >>> tree = chunk_tree(parse)
    >>> sorted(tree.nodes(data="tokens")), sorted(tree.edges(data="required"))
    ([(1, (0, 1)), (2, (2,)), (3, (3,))], [(2, 1, True), (2, 3, False)])
    """
    import networkx as nx

    if profile not in PROFILES:
        raise unknown_name("chunk profile", profile, PROFILES)
    rules = rules or rules_for(parse)
    tree = rules.prepare(parse)
    decided = {word: rules.decide(tree, word) for word in tree.words if word != tree.root}
    top = _tops(tree, decided)
    tokens: dict[int, list[int]] = {top[word]: [] for word in tree.words}
    for token, word in enumerate(owners(parse, tree.words)):
        tokens[top[word]].append(token)
    number = {head: n for n, head in enumerate(tokens, start=1)}
    graph = nx.DiGraph(text=parse.text, profile=profile, rules=rules.name, root=number[tree.root])
    for head, n in number.items():
        graph.add_node(n, tokens=tuple(tokens[head]), head=head)
    for head, n in number.items():
        if head != tree.root:
            rule, above = decided[head], number[top[tree.head[head]]]
            required = rule.action is Action.REQ and profile == "strict"
            graph.add_edge(above, n, required=required, relation=tree.relation[head], note=rule.note)
    if not nx.is_arborescence(graph):
        fault = f"its chunks do not form a tree by the rules {rules.name}: correct the rules"
        raise InputError(f"{parse.source or parse.text[:40]!r}: {fault}")
    return graph


def _tops(tree: WorkingTree, decided: Mapping[int, ChunkRule]) -> dict[int, int]:
    top: dict[int, int] = {}
    for word in tree.words:
        way, here = [word], word
        while here not in top and here in decided and decided[here].action is Action.MERGE:
            here = tree.head[here]
            way.append(here)
        for each in way:
            top[each] = top.get(here, here)
    return top


def owners(parse: Parse, words: Sequence[int]) -> list[int]:
    """Return the word of each token: the token itself, the next word for an opening mark, the last for other marks."""
    is_word = set(words)
    seen: Counter[str] = Counter()
    found: list[int] = []
    waiting: list[int] = []  # tokens of the next word
    before = -1
    for number, token in enumerate(parse.tokens):
        if number in is_word:
            before = number
            for each in waiting:
                found[each] = number
            waiting.clear()
        elif before == -1 or waiting or _opens(parse, token, seen[token.form]):  # an opening mark, or one after it
            waiting.append(number)
        found.append(before)
        seen[token.form] += 1
    for each in waiting:
        found[each] = before
    return found


def _opens(parse: Parse, token: Token, times: int) -> bool:
    """Return whether a mark opens; `times`: how often it stands before, because some open and close alternately."""
    if token.form not in {'"', "'"}:
        return token.form in _OPENERS
    if token.xpos in {"``", "''"}:
        return token.xpos == "``"
    blank_before = token.start == 0 or parse.text[token.start - 1].isspace()
    blank_behind = parse.text[token.end : token.end + 1].strip() == ""
    return blank_before if blank_before != blank_behind else times % 2 == 0


def bracketed(parse: Parse, tree: nx.DiGraph) -> str:
    """Return a sentence with its chunks in numbered brackets; "!" marks a chunk that is tied to its parent."""
    seen: set[int] = set()
    pieces = []
    for chunk, words in _pieces(parse, tree):
        pieces.append(f"[{words}]{chunk if chunk in seen else _numbered(tree, chunk)}")
        seen.add(chunk)
    return " ".join(pieces)


def indented(parse: Parse, tree: nx.DiGraph) -> str:
    """Return the tree, one chunk to a line, with children indented by two blanks and "..." for gaps."""
    import networkx as nx

    texts: dict[int, list[str]] = {}
    for chunk, words in _pieces(parse, tree):
        texts.setdefault(chunk, []).append(words)
    depth = nx.shortest_path_length(tree, tree.graph["root"])
    return "\n".join(
        f"{'  ' * depth[chunk]}{_numbered(tree, chunk)} {' ... '.join(texts[chunk])}"
        for chunk in nx.dfs_preorder_nodes(tree, tree.graph["root"])  # children in the order of their first words
    )


def explained(parse: Parse, rules: Rules | None = None) -> str:
    """Return a line for each word: word, relation and head after re-attachment, action, and the note of the rule."""
    from rich.cells import cell_len, set_cell_size  # Chinese characters are two columns wide

    rules = rules or rules_for(parse)
    tree, rows = rules.prepare(parse), []
    for word in tree.words:
        head = parse.tokens[tree.head[word]].form if tree.head[word] != -1 else ""
        rule = rules.decide(tree, word) if word != tree.root else None
        decision = [rule.action.value, rule.note] if rule else ["", "the root"]
        rows.append([parse.tokens[word].form, tree.relation[word], head, *decision])
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(set_cell_size(*cell) for cell in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def word_sequences(parse: Parse, tree: nx.DiGraph) -> Iterator[tuple[str, str]]:
    """Yield pairs of words that a compression may make neighbours, w(i, v) of Figure 1 of Hirao et al. 2017.

    Each pair comes with a line that shows V, the chunks of both words, and U, the chunks of all words between them. The
    line ends in "not feasible" if keeping V (with ancestors and tied chunks) keeps a chunk of U. V and U are disjoint.
    """
    import networkx as nx

    chunk_of = _chunk_of(tree)
    words = [place for place, token in enumerate(parse.tokens) if not is_punctuation(token)]
    tied = nx.Graph((one, other) for one, other, required in tree.edges(data="required") if required)
    tied.add_nodes_from(tree)
    together = {chunk: set(group) for group in nx.connected_components(tied) for chunk in group}
    needs: dict[int, set[int]] = {}
    for chunk in nx.topological_sort(tree):
        needs[chunk] = together[chunk].union(*(needs[above] for above in tree.predecessors(chunk)))
    for one, other in combinations(range(len(words)), 2):
        stay = {chunk_of[words[one]], chunk_of[words[other]]}
        go = {chunk_of[word] for word in words[one + 1 : other]}
        if stay.isdisjoint(go):
            gram = "_".join(parse.tokens[words[place]].form.lower() for place in (one, other))
            needed = set().union(*(needs[chunk] for chunk in stay))
            shown = [f"{{{', '.join(map(str, sorted(chunks)))}}}" for chunks in (stay, go)]
            torn = "" if needed.isdisjoint(go) else "  not feasible"
            yield gram, f"{gram}  V={shown[0]}  U={shown[1]}{torn}"


def _chunk_of(tree: nx.DiGraph) -> dict[int, int]:
    return {token: chunk for chunk, tokens in tree.nodes(data="tokens") for token in tokens}


def _pieces(parse: Parse, tree: nx.DiGraph) -> list[tuple[int, str]]:
    """Return the runs of adjacent tokens of one chunk, each with its chunk, as text."""
    runs = groupby(range(len(parse.tokens)), key=_chunk_of(tree).__getitem__)
    return [(chunk, " ".join(parse.tokens[token].form for token in run)) for chunk, run in runs]


def _numbered(tree: nx.DiGraph, chunk: int) -> str:
    required = any(required for *_, required in tree.in_edges(chunk, data="required"))
    return f"{chunk}!" if required else str(chunk)
