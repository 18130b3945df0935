"""The errors that optsum raises on purpose.

All errors derive from `OptsumError`; each message is a sentence that says what was wrong, where, and what to do. If a
built-in exception fits, the class derives from that exception too, so that ``except ValueError`` works. An infeasible
instance, a time limit and a search that found nothing are *results* (`optsum.contracts.result`), never exceptions. The
module also words messages (unknown names, unexpected exceptions, numbers with nouns, alternatives), and makes text safe
for terminals.
"""

from __future__ import annotations

import logging
import os
import re
import unicodedata
from collections.abc import Iterable
from traceback import walk_tb
from typing import Final, TypeVar

_log = logging.getLogger("optsum")
E = TypeVar("E", bound=BaseException)
_SPEAKS: Final = "OPTSUM_SPEAKS"
SPEAKS_OF_FLAGS: Final = {_SPEAKS: "flags"}
"""Environment variable by which errors name options as flags (``--stem``), in the command line and its processes."""

_FLAG: Final = re.compile(
    r"(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?: ([A-Z]+)\b|=([\w:.-]*\w)|(?<=map) (\w+=\S*[\w\]]))?"
)
_KEYWORDS: Final = {  # Keyword arguments whose names differ from the flags'.
    **{f"{kind}_option": f"{kind}_options" for kind in ("strategy", "backend", "formulation")},
    "map": "columns",
}


class OptsumError(Exception):
    """Base class of all errors of optsum; messages name options as flags on the command line, as keywords in Python."""

    def __str__(self) -> str:
        return spoken(super().__str__())


def counted(number: int, noun: str) -> str:
    """Return a number and a noun in the right form, such as "1 topic" or "2 summaries"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def either(words: Iterable[str]) -> str:
    """Return alternatives as a part of a sentence, such as "a, b or c"."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def spoken(text: str) -> str:
    """Return a message whose flags (``--stem``, ``--stemmer=NAME``) become keywords, except on the command line."""
    in_flags = os.environ.get(_SPEAKS) == "flags"

    def option(flag: re.Match[str]) -> str:
        if in_flags:
            return f"--{flag[1]} {flag[3]}" if flag[3] else flag[0]
        name = flag[1].replace("-", "_")
        name = _KEYWORDS.get(name, name)
        if name.startswith("no_"):
            return f"{name.removeprefix('no_')}=False"
        if value := flag[3] or flag[4]:
            return f"{name}={value}" if value.isdecimal() else f'{name}="{value}"'
        return f"{name}={flag[2]}" if flag[2] else name

    return _FLAG.sub(option, text)


class InputError(OptsumError, ValueError):
    """Data that cannot be used: a topic, a summary, a file's content."""


class OptionError(OptsumError, ValueError):
    """An option with an impossible value, or options that contradict one another."""


class UnknownNameError(OptionError, LookupError):
    """A strategy, formulation, backend, metric or key that does not exist."""


class UnsupportedError(OptsumError, TypeError):
    """An unsupported combination, such as a strategy with a problem that lacks a capability the strategy needs."""


class BackendError(OptsumError, RuntimeError):
    """A solver that is missing or unlicensed, cannot take so large an instance, or gave a wrong answer."""


class ExecutorError(OptsumError, RuntimeError):
    """Processes, or a cluster, that are not available or no longer running."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """Build (not raise) the error for an unknown name.

    `kind`: the kind of name, in the singular: "tokenizer", "option of the strategy vns". `name`: the unknown name.
    `known`: every existing name; the message suggests similar ones first.
    """
    from difflib import get_close_matches

    names = list(known)
    lower = {candidate.lower(): candidate for candidate in names}
    near = [lower[match] for match in get_close_matches(str(name).lower(), lower, n=3, cutoff=0.6)]
    hint = f"did you mean {' or '.join(near)}? Known" if near else "known"
    known_names = f"{hint}: {', '.join(names)}" if names else "none exists"
    noun, *whole = re.split("(?= (?:of|in) )", kind, maxsplit=1)  # as in "list in [lexicon]"
    return UnknownNameError(f"there is no {noun} {name!r}{''.join(whole)}; {known_names}")


def describe(error: BaseException) -> str:
    """Describe an error in one sentence, and log its traceback on the level "debug".

    Errors of optsum have their own sentence; so have lack of memory, ``sys.exit`` and errors in the user's own code.
    Any other exception is reported as a fault of optsum or of a plug-in. Ctrl-C is raised again.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    _log.debug("%s", error, exc_info=error)
    if isinstance(error, OptsumError):
        return str(error)
    if isinstance(error, MemoryError):
        return "memory ran out; give each process more memory, run fewer processes, or search the topic alone"
    text = " ".join(str(error).split())
    if isinstance(error, SystemExit):
        return f"a plug-in called sys.exit({text:.80}): it should raise an error with a message"
    what = f"{type(error).__name__}{f' ({text:.300})' if text else ''}"
    if where := _own_code(error):
        return f"{what} in {where}; correct it there (--debug shows the traceback)"
    return (
        f"unexpected {what}: this is a fault of optsum or of a plug-in, please report it; --debug shows where it "
        "happened"
    )


def located(source: str, said: str) -> str:
    """Return a message that begins with the source of the data, such as ``file:line``, if this is known."""
    return f"{source}: {said}" if source else said


def behind(error: BaseException, kind: type[E], before: BaseException | None = None) -> E | None:
    """Return the first error of class `kind` among an error and its causes, contexts and groups; None if there is none.

    `before`: an unrelated error that was being handled when the work began; it is not searched.
    """
    waiting: list[BaseException | None] = [error]
    seen = {id(before)}  # chains of errors may have circles, and errors need not be hashable
    while waiting:
        found = waiting.pop()
        if found is None or id(found) in seen:
            continue
        if isinstance(found, kind):
            return found
        seen.add(id(found))
        waiting += [found.__context__, found.__cause__]
        waiting += found.exceptions if isinstance(found, BaseExceptionGroup) else ()
    return None


_STANDARD: Final = os.path.split(os.__file__)[0]


def _own_code(error: BaseException) -> str | None:
    """Return "function, file:line" of the user's code that optsum called and that raised; None for installed code."""
    first = None
    for frame, line in walk_tb(error.__traceback__):
        ours = str(frame.f_globals.get("__name__")).partition(".")[0] == "optsum"
        first = None if ours else first or (frame.f_code, line)
    if first is None:
        return None
    code, line = first
    folder, file = os.path.split(code.co_filename)
    if not file.endswith(".py") or folder.startswith(_STANDARD) or "-packages" in folder:
        return None
    return f"{code.co_name}, {file}:{line}"


_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories of escaped characters: control, format (such as zero width), lone surrogates, line breaks."""


def visible(text: str, *, keep: str = "", pairs: bool = False) -> str:
    r"""Escape control characters and invisible ones, so that a terminal may show the text.

    All data pass through here before a terminal shows them, because a name may contain a sequence that moves the cursor
    or reverses the text after it.

    `keep`: characters that are not escaped, such as the line breaks of a text of several lines. `pairs`: escape a
    character beyond U+FFFF as a surrogate pair, so that escaped JSON still means the same.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb\u202ec"))
    a\u001b[2Jb\u202ec
    """
    if text.isascii() and text.isprintable():
        return text
    shown = []
    for sign in text:
        code = ord(sign)
        if sign in keep or unicodedata.category(sign) not in _UNSEEN:
            shown.append(sign)
        elif code <= 0xFFFF or not pairs:
            shown.append(f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")
        else:
            shown.append(f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}")
    return "".join(shown)


class VisibleFormatter(logging.Formatter):
    """Formatter of log records that escapes control characters but keeps line breaks."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record), keep="\n")


def show_tracebacks() -> None:
    """Print all log messages of optsum on stderr from now on, among them the tracebacks that `describe` logs."""
    if not tracebacks_are_shown():
        handler = logging.StreamHandler()
        handler.setFormatter(VisibleFormatter())
        _log.addHandler(handler)
        _log.setLevel(logging.DEBUG)


def tracebacks_are_shown() -> bool:
    return _log.level == logging.DEBUG
