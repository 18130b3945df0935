"""Display results in notebooks: texts with selected parts marked, facts, and the progress of long work.

All data are escaped, and invisible characters are made visible.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from html import escape
from time import perf_counter
from typing import Any, Final, TypeAlias, TypeVar

from optsum.errors import visible

Words: TypeAlias = str | Sequence[str]  # A sentence, as text or as tokens.
_MOST: Final = 300  # Sentences shown; of longer texts only marked ones, with their neighbours.
_LONGEST: Final = 2_000  # Characters shown of a sentence.
_OFTEN: Final = 0.2  # Seconds between two updates of the progress bar.
_MARK: Final = "background:rgba(255,196,0,{share:.2f});border-radius:2px"
_BLOCK: Final = "max-width:60em;line-height:1.45;overflow-wrap:anywhere"
_FAINT: Final = "opacity:.55"
T = TypeVar("T")


def facts(title: str, pairs: Iterable[tuple[str, object]]) -> str:
    """Return one line of HTML: a title, and pairs of a name and a value that is not None."""
    said = " · ".join(f"{escape(name)} <b>{_text(str(value))}</b>" for name, value in pairs if value is not None)
    return f'<p style="margin:0 0 .4em"><b>{_text(title)}</b>{" · " if said else ""}{said}</p>'


def marked_text(
    documents: Sequence[Sequence[Words]],
    shares: Mapping[int, float],
    kept: Mapping[int, Collection[int]] | None = None,
    *,
    say: bool = False,
) -> str:
    """Return documents as HTML, with sentences marked.

    `shares`: number of a sentence -> strength of its mark (0 to 1). `kept`: number of a sentence that loses words ->
    places of the kept words. `say`: whether tooltips (and screen readers) give the share.
    """
    shown: Collection[int] = range(sum(map(len, documents)))
    if len(shown) > _MOST:
        near = {number + step for number in sorted(shares)[:_MOST] for step in (-1, 0, 1)}
        shown = near | set(range(max(0, _MOST - len(near))))
    parts, number, left_out = [], 0, 0
    for document in documents:
        line: list[str] = []
        for sentence in document:
            if number in shown:
                line += [_left_out(left_out)] if left_out else []
                line.append(_sentence(number, sentence, shares.get(number, 0.0), (kept or {}).get(number), say))
                left_out = 0
            else:
                left_out += 1
            number += 1
        if line:
            parts.append(f'<p style="margin:0 0 .6em">{" ".join(line)}</p>')
    tail = _left_out(left_out) if left_out else ""
    return f'<div style="{_BLOCK}">{"".join(parts)}{tail}</div>'


def _left_out(count: int) -> str:
    return f'<span style="{_FAINT}">[{count:,} sentences]</span>'


def _sentence(number: int, sentence: Words, share: float, kept: Collection[int] | None, say: bool) -> str:
    if kept is None:
        inside = _text(sentence if isinstance(sentence, str) else " ".join(sentence))
    else:
        words = map(_text, sentence.split() if isinstance(sentence, str) else sentence)
        inside = " ".join(w if place in kept else f'<s style="{_FAINT}">{w}</s>' for place, w in enumerate(words))
    label = f'<sup style="{_FAINT}">{number}</sup>'
    if not share:
        return f"<span>{label}{inside}</span>"
    told = f' title="in {share:.1%} of the optima"' if say else ""
    return f'{label}<mark style="color:inherit;{_MARK.format(share=0.15 + 0.55 * share)}"{told}>{inside}</mark>'


def _text(text: str) -> str:
    return escape(visible(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."))


def kept_words(sentence: Words, kept: str) -> set[int]:
    """Return the places of a sentence's words that its trimmed form `kept` has, ignoring case and punctuation."""
    words = [_bare(word) for word in (sentence.split() if isinstance(sentence, str) else sentence)]
    found, place = set(), 0
    for word in map(_bare, kept.split()):
        for index in range(place, len(words)):
            if words[index] == word:
                found.add(index)
                place = index + 1
                break
    return found


def _bare(word: str) -> str:
    return "".join(sign for sign in word.casefold() if sign.isalnum()) or word


def tracked(items: Generator[T, None, None], total: int | None, what: str = "topics") -> Generator[T, None, None]:
    """Yield items; in a notebook, show how many of `total` are done. An item counts as its `topics`, or else as one."""
    shell = sys.modules.get("IPython")
    if shell is None or type(shell.get_ipython()).__name__ != "ZMQInteractiveShell":
        return items
    return _tracked(items, total, what, shell.display)


def _tracked(items: Generator[T, None, None], total: int | None, what: str, shell: Any) -> Generator[T, None, None]:
    began = told = perf_counter()
    done, handle = 0, None
    try:
        for item in items:
            yield item
            done += getattr(item, "topics", 1)
            now = perf_counter()
            if now - told >= _OFTEN:
                told = now
                known = f' value="{done}" max="{total}"' if total else ""
                of = f" of {total:,}" if total else ""
                shown = f"<progress{known}></progress> <small>{done:,}{of} {what}, {now - began:.0f} s</small>"
                if handle is None:
                    handle = shell.display(shell.HTML(shown), display_id=True)
                else:
                    handle.update(shell.HTML(shown))
    finally:
        items.close()
        if handle is not None:
            handle.update(shell.HTML(f"<small>{done:,} {what}, {perf_counter() - began:.1f} s</small>"))
