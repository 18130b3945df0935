"""Names of dependency relations by label scheme, so that a mistyped one in a file of rules is found."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from optsum.errors import UnknownNameError, unknown_name

_UD: Final = """
acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed flat
goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp
acl:relcl advcl:relcl aux:pass cc:preconj compound:prt csubj:outer csubj:pass det:predet expl:pass flat:foreign
flat:name nmod:npmod nmod:poss nmod:tmod nmod:unmarked nsubj:outer nsubj:pass obl:agent obl:npmod obl:tmod obl:unmarked
auxpass csubjpass dobj foreign mwe name neg nsubjpass remnant
"""
"""Version 2, the subtypes of English, and what version 1 had besides."""

_CLEARNLP: Final = """
acl acomp advcl advmod agent amod appos attr aux auxpass case cc ccomp compound conj cop csubj csubjpass dative dep det
dobj expl intj iobj mark meta neg nmod npadvmod nsubj nsubjpass num number nummod oprd parataxis pcomp pobj poss
possessive preconj predet prep prt punct quantmod relcl root ROOT xcomp
abbrev complm discourse fixed flat goeswith infmod mwe nn partmod purpcl rcmod tmod
"""
"""As spaCy's English models have them, and older ones."""

RELATIONS: Final[Mapping[str, frozenset[str]]] = {
    "ud": frozenset(_UD.split()),
    "clearnlp": frozenset(_CLEARNLP.split()),
}
"""By scheme. Other subtypes are allowed, but not of a relation that does not exist."""


def mistyped(name: str, scheme: str) -> UnknownNameError | None:
    """Return the error for a relation that a scheme does not have, or None.

    Parameters
    ----------
    name : str
        As it stands in a file of rules: with "!" before it and ":*" behind it, perhaps.
    scheme : str
        A name in `RELATIONS`.
    """
    plain, known = name.removeprefix("!").removesuffix(":*"), RELATIONS[scheme]
    if plain in known or plain == "*":
        return None
    if plain.partition(":")[0] not in known:
        return unknown_name(f"relation in the scheme {scheme}", plain, sorted(known))
    # A subtype is free, but one letter beside a known one is a slip.
    subtypes = [each for each in known if ":" in each]
    near = get_close_matches(plain, subtypes, n=1, cutoff=0.9)
    return unknown_name(f"relation in the scheme {scheme}", plain, sorted(subtypes)) if near else None
