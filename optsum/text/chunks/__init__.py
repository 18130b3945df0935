"""Parsed sentences and the trees of their chunks: what a compression keeps or drops as a whole."""

from optsum.text.chunks.conllu_format import format_conllu
from optsum.text.chunks.conllu_text import parse_conllu, read_conllu
from optsum.text.chunks.display import bracketed, indented
from optsum.text.chunks.parse import Parse, Token
from optsum.text.chunks.rules.files import load_rules, rules_for
from optsum.text.chunks.rules.rules import Rules
from optsum.text.chunks.spacy_doc import parses_of_spacy
from optsum.text.chunks.tree import PROFILES, chunk_tree

__all__ = [
    "PROFILES",
    "Parse",
    "Rules",
    "Token",
    "bracketed",
    "chunk_tree",
    "format_conllu",
    "indented",
    "load_rules",
    "parse_conllu",
    "parses_of_spacy",
    "read_conllu",
    "rules_for",
]
