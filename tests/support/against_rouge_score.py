"""Compare the presets ``google`` and ``google-stemmed`` with the package rouge-score on random Unicode texts.

``python tests/support/against_rouge_score.py --texts 100000`` prints how many tokens and scores differ; it needs
``pip install rouge-score``.
"""

from __future__ import annotations

import argparse
import random
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

from optsum.metrics.rouge import rouge_all
from optsum.options.presets import PRESETS
from optsum.text.analyzer import Analyzer


@cache
def near_ascii() -> list[str]:
    """Return the characters whose lower case or NFKD form contains an ASCII character."""
    return [
        chr(code)
        for code in range(0x80, 0x110000)
        if any(char.isascii() for char in chr(code).lower() + unicodedata.normalize("NFKD", chr(code)))
    ]


WORDS = [
    *("running", "flies", "happily", "Nationalization", "dying", "news", "proceeded", "skies", "generically", "1990s"),
    *(
        "U.S.",
        "co-op",
        "İZMİR",
        "\u212a",
        "hopefulness",
        "owed",
        "axe",
        "enjoying",
        "agreement",
        "rationally",
        "meetings",
    ),
]


def random_text(rng: random.Random) -> str:
    """Return a random text of letters, words and arbitrary Unicode characters, including lone surrogates."""
    pieces = []
    for _ in range(rng.randrange(12)):
        kind = rng.random()
        if kind < 0.35:
            pieces.append(rng.choice(WORDS))
        elif kind < 0.5:
            pieces.append("".join(rng.choice("abcdeilnorstuyABIKST0189") for _ in range(rng.randrange(1, 9))))
        elif kind < 0.65:
            pieces.append(rng.choice(near_ascii()))
        elif kind < 0.9:
            pieces.append(chr(rng.randrange(0x110000)))
        else:
            pieces.append(chr(rng.randrange(0x300)))
        if rng.random() < 0.6:
            pieces.append(rng.choice(" \t\n\x1c\x85\u00a0\u2028\u3000\u200b"))
    return "".join(pieces)


def analyzer_of(preset: str) -> Analyzer:
    """Return the analyzer of a preset."""
    options = PRESETS[preset].options
    return Analyzer(options["tokenizer"], options["stem"], options["stopwords"], options.get("stemmer", "rouge155"))


def differences(texts: int, seed: int, tokenizers: dict[str, Any], scorers: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each difference in tokens or scores.

    Parameters
    ----------
    tokenizers, scorers : dict
        The tokenizer and the scorer of rouge-score for each preset.
    """
    rng = random.Random(seed)  # noqa: S311
    before = "the cat"
    for _ in range(texts):
        text = random_text(rng)
        for preset, tokenizer in tokenizers.items():
            analyzer = analyzer_of(preset)
            theirs = tokenizer.tokenize(text.encode("utf-8", "replace").decode())
            ours = analyzer.tokens(text)
            if ours != theirs or [token for token, _ in analyzer.spans(text)] != ours:
                yield f"{preset}: {text!a} becomes {ours}, not {theirs}"
            scored = rouge_all(text, [before], ("rouge-1", "rouge-2"), analyzer=analyzer)
            expected = scorers[preset].score(
                before.encode("utf-8", "replace").decode(), text.encode("utf-8", "replace").decode()
            )
            for name, theirs_name in (("rouge-1", "rouge1"), ("rouge-2", "rouge2")):
                ours_of, theirs_of = scored[name], expected[theirs_name]
                pairs = zip(
                    (ours_of.recall, ours_of.precision, ours_of.f1),
                    (theirs_of.recall, theirs_of.precision, theirs_of.fmeasure),
                    strict=True,
                )
                if any(abs(a - b) > 1e-12 for a, b in pairs):
                    yield f"{preset}, {name}: {text!a} against {before!a} is {ours_of}, not {theirs_of}"
        before = text


def main() -> int:
    """Run the comparison from the command line and return the exit status."""
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    stems = {"google": False, "google-stemmed": True}
    tokenizers = {preset: DefaultTokenizer(stem) for preset, stem in stems.items()}
    scorers = {preset: RougeScorer(["rouge1", "rouge2"], use_stemmer=stem) for preset, stem in stems.items()}
    found = 0
    for found, difference in enumerate(differences(given.texts, given.seed, tokenizers, scorers), 1):
        if found <= 10:
            print(difference)
    print(f"{given.texts} texts, seed {given.seed}: {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
