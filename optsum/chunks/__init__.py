"""Parsed sentences, and trees of their chunks: parts that a compression keeps or drops as a whole."""

from optsum.chunks.parse import Parse, Token, format_conllu, parse_conllu, parses_of_spacy, read_conllu
from optsum.chunks.tree import PROFILES, Rules, bracketed, chunk_tree, indented, load_rules, rules_for

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
