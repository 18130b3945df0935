"""Keyword arguments of the functions of `optsum`, made from the options, for editors and type checkers.

``python tests/unit/options/test_keywords.py`` writes this file; run as a test, the same module compares both.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from optsum.metrics.rouge import Metric
from optsum.options.options import Scalar

class TextKeywords(TypedDict, total=False):
    """Keyword arguments that searching and scoring share."""

    model_units: Literal["whole", "sentences"] | None
    """Clip counts by the whole of a reference, or by each of its sentences separately [whole]."""
    length_tokenizer: str | Callable[[str], object] | None
    """Tokenizer that counts the tokens of lengths: tiktoken:NAME, hf:NAME or module:function; implies --length-unit
    tokens.
    """
    tokenizer: str | Callable[[str], Iterable[str]] | None
    """Rouge (default), unicode, characters, blank, another name or module:function, or tokens (default for pre-
    tokenized topics).
    """
    stem: bool | None
    """Porter stemming like ROUGE-1.5.5 -m, or like the named stemmer (rouge-score: google-stemmed) [False]."""
    stemmer: str | Callable[[str], str] | None
    """Rouge155 (as ROUGE-1.5.5 -m) or rouge-score, both English, snowball:LANGUAGE, another name or module:function;
    implies --stem [rouge155].
    """
    stopwords: str | None
    """Keep, drop (SMART list), or a file with one word a line [keep]."""
    counts: Literal["clipped", "set"] | None
    """Count each n-gram as often as it occurs, or once [clipped]."""
    language: str | None
    """Language of raw text, for splitting, such as en, de or zh [en]."""
    splitter: str | Callable[..., Iterable[str]] | None
    """Splitter of raw text into sentences: sentencex, or module:function [sentencex]."""
    flat: Literal["sentences", "texts", "tokens"] | None
    """What a flat list of strings in documents or references holds: the sentences of one text, raw texts, or tokens."""
    lines: bool | None
    """Each line of raw text is a sentence [only in dialogues and highlights]."""
    source_words: int | None
    """Read only the sentences within the first N words of the documents."""
    preset: str | None
    """A set of options from a paper (optsum list presets)."""

class SolveKeywords(TextKeywords, total=False):
    """Keyword arguments of a search, for functions with their own parameter `executor`."""

    formulation: str | None
    """Choice of units, such as sentences (optsum list formulations) [extractive]."""
    formulation_options: Mapping[str, Scalar] | Sequence[str] | None
    """Other options of the formulation."""
    strategy: str | None
    """How to search (optsum list strategies) [auto]."""
    backend: str | None
    """MILP solver, or pyomo:NAME (optsum list backends) [highs]."""
    backend_options: Mapping[str, Scalar] | Sequence[str] | None
    """The solver's own options, which override those of optsum; highs.NAME if there are several solvers."""
    threads: int | None
    """Number of threads of the solver, if it can use several [1]."""
    verify: bool | None
    """Let optsum prove the solver's claims again by its own search, if possible [False]."""
    strategy_options: Mapping[str, Scalar] | Sequence[str] | None
    """The strategy's own options; in a comparison for all strategies that have them, or for one: vns.k_max=3."""
    bound: Literal["root", "none", "lagrangian", "knapsack"] | None
    """For a strategy that proves nothing, root computes a bound and none does not; for branch-and-bound, the bound
    by which it prunes: lagrangian (default) or knapsack (Hirao et al. 2017) [root].
    """
    metric: str | Metric | type[Metric] | None
    """Rouge-N, rouge-suK, rouge-l, a mean of several with +, ngram-I-J, or similarity [rouge-1]."""
    vectors: str | None
    """For metric similarity: vectors of each topic, an npz file or a folder of ID.npz."""
    similarity_unit: int | None
    """For metric similarity: number of steps from 0 to 1 to which similarities are rounded down [10000]."""
    measure: Literal["recall", "precision", "f1"] | None
    """Measure that is maximized [recall]."""
    references: Literal["pooled", "each", "mean", "best", "first", "agreed"] | None
    """Several references: all together, a problem for each, the mean over them, the one with the largest value, the
    first, or the one with which another agrees best [pooled].
    """
    max_length: int | Literal["reference"] | None
    """Longest summary, in the length unit; reference: as long as each topic's reference (the mean of several)."""
    min_length: int | None
    """Shortest summary, in the length unit [0]."""
    length_unit: Literal["words", "sentences", "characters", "tokens", "given"] | None
    """Unit of lengths; words are separated by blanks; given: the lengths in each topic [words]."""
    max_sentences: int | None
    """Largest number of sentences, besides the maximum length."""
    max_characters: int | None
    """Largest number of characters, besides the maximum length."""
    per_document: int | None
    """Largest number of sentences of one document."""
    require: str | Sequence[int] | None
    """Sentences that must be chosen, by number from 0: 0,3."""
    forbid: str | Sequence[int] | None
    """Sentences that must not be chosen, by number from 0: 0,3."""
    exclusive: str | float | None
    """Sentences of which at most one is chosen: those whose words have at least this similarity, such as 0.5, or
    those in a FILE of JSON Lines with id and exclusive.
    """
    requires: str | Sequence[Sequence[int]] | None
    """Pairs of sentences of which the first is chosen only with the second: a FILE of JSON Lines with id and
    requires.
    """
    boundaries: Literal["sentence", "joined"] | None
    """N-grams of the summary lie within sentences, or also cross their ends [sentence]."""
    keep_unmatched: bool | None
    """Keep sentences without any counted n-gram as units [False]."""
    weights: Literal["one", "length"] | None
    """Minimum cover: minimize the number of sentences, or their length [one]."""
    uncoverable: Literal["error", "skip"] | None
    """Cover: an abstract sentence that no source sentences support is an error (with a maximum length: counts as
    missed), or is left out and reported [error].
    """
    chunk_profile: Literal["strict", "paper"] | None
    """Compressive: which parts can be left out; strict keeps subjects and objects with their verb [strict]."""
    chunk_rules: str | None
    """Compressive: rules that form chunks: ud, clearnlp, or a file [by the parse's labels]."""
    time_limit: float | Sequence[float] | None
    """Seconds of search per problem (compare also takes a list)."""
    node_limit: int | None
    """Nodes of the search tree per problem; a step that has begun is completed."""
    evaluation_limit: int | None
    """Selections evaluated per problem; a step that has begun is completed."""
    gap: float | None
    """Relative gap that is good enough."""
    target: float | None
    """Objective that is good enough."""
    seed: int | None
    """Seed of random choices; the same seed gives the same result [0]."""
    workers: int | None
    """Number of processes [1]."""
    scheduler: str | None
    """Scheduler of dask, such as tcp://HOST:8786 [one on this machine]."""
    memory_per_worker: str | None
    """Memory limit of each process, such as 2GB (Linux)."""

class Keywords(SolveKeywords, total=False):
    """Keyword arguments of a search."""

    executor: Literal["local", "dask"] | None
    """Where processes run: on this machine, or in a cluster of dask [local]."""

class ScoreKeywords(TextKeywords, total=False):
    """Keyword arguments of scoring."""

    metric: str | Metric | type[Metric] | None
    """One metric, or several joined by + [rouge-1+rouge-2+rouge-l]."""
    references: Literal["pooled", "mean", "best", "first", "agreed"] | None
    """All references together, the mean over them, the best of them, the first alone, or the one with which another
    agrees best [pooled].
    """
    best_by: Literal["recall", "precision", "f1"] | None
    """Measure that chooses the best reference: recall like ROUGE-1.5.5, f1 like rouge-score [recall]."""
    max_words: int | None
    """Cut summaries and references after N words."""
    oracles: bool | None
    """Also precision, recall and F1 of the chosen sentences against all oracles within --max-length [False]."""
    each_oracle: int | None
    """Like --oracles, and also against each of the first N oracles [0]."""
    formulation: str | None
    """Cover: score selections by the claims supported within --max-length, and compare with the optimum [score by
    ROUGE].
    """
    max_length: int | Literal["reference"] | None
    """Longest oracle, in words or what the preset counts, or the budget of a cover; reference: as long as each
    topic's reference.
    """
    length_unit: Literal["words", "sentences", "characters", "tokens", "given"] | None
    """Unit of --max-length [words; given for a cover if topics have lengths]."""
    uncoverable: Literal["error", "skip"] | None
    """Cover: an abstract sentence that no unit supports counts as missed (error) or is left out (skip) [error]."""
    time_limit: float | None
    """Seconds for finding the optimum, or all oracles, of a topic."""
