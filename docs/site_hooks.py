"""What building the site adds: mathematics as MathML, and the pages that are made from optsum itself.

So the site needs no other host, and can be read from ``file://``.
"""

import re
from collections.abc import Iterator
from html import unescape
from textwrap import fill
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_SHIM = "https://unpkg.com/iframe-worker/shim"
_SHIM_HERE = "assets/iframe-worker.js"
_DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def on_page_content(html: str, **_: Any) -> str:
    """Typeset what arithmatex has marked: browsers read MathML by themselves."""
    html = _DISPLAY.sub(lambda found: f'<div class="math">{mathml(unescape(found[1]), "block")}</div>', html)
    return _INLINE.sub(lambda found: mathml(unescape(found[1])), html)


def mathml(formula: str, display: str = "inline") -> str:
    """Convert a formula; `aligned` becomes `align*`, the only one of the two that latex2mathml knows."""
    made = convert(re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", formula), display=display)
    if stray := re.search(r"<m[io]>(&|&amp;|\\[A-Za-z]*)</m[io]>", made):
        raise ValueError(f"latex2mathml does not know {stray[1]} in the formula {formula}")
    return made


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Let a page that is read from ``file://`` find what makes its search work beside it, not on another host."""
    return output.replace(_SHIM, get_relative_url(_SHIM_HERE, page.url))


def on_post_template(output_content: str, **_: Any) -> str:
    """Let the page for what is not there do without."""
    return output_content.replace(f'<script src="{_SHIM}"></script>', "")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the reference that are made from the program."""
    for name, made in (("command-line", command_line()), ("options", options()), ("presets", presets())):
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(made)))
    return files


def command_line() -> Iterator[str]:
    """Yield the help of every command; flags that several have are described once."""
    from collections import Counter

    from optsum.cli.app import _COMMANDS, _GROUPS

    helps = dict(_helps())
    uses = Counter(record for _, _, flags in helps.values() for record in flags.items())
    shared = [record for record, count in uses.items() if count >= _SEVERAL]
    titles = {name: title for title, names in _GROUPS.items() for name in names}
    sections = {
        title: [each for each in shared if titles.get(each[0], "More") == title] for title in (*_GROUPS, "More")
    }
    yield "# The command line\n"
    yield "The help of each command. Flags that several commands have are described [once](#shared-flags)."
    yield "Exit statuses are described in [Results](../results.md).\n"
    yield "| | |\n|---|---|"
    yield from (f"| [`optsum {name}`](#optsum-{name}) | {_cell(about)} |" for name, about in _COMMANDS.items())
    for title, (usage, about, flags) in helps.items():
        yield f"\n## `{title}`\n\n```text\n{usage}\n\n{about}\n```\n"
        yield from _flags([record for record in flags.items() if record not in shared])
        has = [_has(name, section, flags) for name, section in sections.items()]
        yield "\nShared flags: " + "; ".join(filter(None, has)) + ".\n"
    yield "\n## Shared flags\n"
    for title, section in sections.items():
        yield f"\n### {title}\n"
        yield from _flags(section)


_SEVERAL = 3
"""So many commands share a flag before it is described apart."""


def _has(title: str, section: list[Any], flags: dict[str, Any]) -> str:
    """Say which flags of a section a command has, in the shorter way."""
    own = [record for record in section if record in flags.items()]
    missing = [record for record in section if record[0] not in flags]
    link = f"[{title}](#{title.lower()})"
    if not own:
        return ""
    if not missing:
        return f"all of {link}"
    names = [f"`{flag[0].split()[0].rstrip(',')}`" for _, flag in min(own, missing, key=len)]
    return f"of {link} " + ("" if len(own) <= len(missing) else "all but ") + ", ".join(names)


def _flags(records: list[Any]) -> Iterator[str]:
    if records:
        yield "| flag | |\n|---|---|"
        yield from (f"| `{_cell(flag[0], code=True)}` | {_cell(flag[1])} |" for _, flag in records)


def _helps() -> Iterator[tuple[str, tuple[str, str, dict[str, Any]]]]:
    """Yield for each command its usage, what it is about, and a record of each flag by its parameter."""
    from optsum.cli.app import _COMMANDS, _app

    main = _app()
    above = main.make_context("optsum", [], resilient_parsing=True)
    for name in _COMMANDS:
        command = main.load(name)
        under = command.make_context(name, [], parent=above, resilient_parsing=True)
        yield f"optsum {name}", _help(command, under)
        if hasattr(command, "load"):
            for each in command.list_commands(under):
                single = command.load(each)
                below = single.make_context(each, [], parent=under, resilient_parsing=True)
                yield f"optsum {name} {each}", _help(single, below)


def _help(command: Any, context: Any) -> tuple[str, str, dict[str, Any]]:
    records = {str(each.name): each.get_help_record(context) for each in command.get_params(context)}
    about = "\n\n".join(fill(" ".join(each.split()), 78) for each in (command.help or "").split("\n\n"))
    return command.get_usage(context), about.strip(), {name: record for name, record in records.items() if record}


def options() -> Iterator[str]:
    """Yield every option of a search and of scoring: its flag, its keyword, what it takes."""
    from optsum.options.options import Options, ScoreOptions

    yield "# Options\n"
    yield "The same on the command line (`--max-length 100`), in Python (`max_length=100`) and in a file.\n"
    for title, model in (("Of a search", Options), ("Of scoring", ScoreOptions)):
        yield f"## {title}\n"
        yield "| option | values | default | |\n|---|---|---|---|"
        schema = model.model_json_schema()["properties"]
        for name, field in model.model_fields.items():
            default = "" if field.default in {None, ()} else f"`{field.default}`"
            yield f"| `{name}` | {_values(schema[name])} | {default} | {_cell(field.description or '')} |"
        yield ""


def _values(schema: dict[str, Any]) -> str:
    parts = schema.get("anyOf", [schema])
    return " or ".join(
        ", ".join(f"`{each}`" for each in part["enum"]) if "enum" in part else str(part.get("type", "text"))
        for part in parts
        if part.get("type") != "null"
    )


def presets() -> Iterator[str]:
    """Yield every preset with every field that it sets."""
    from optsum.options.presets import PRESETS

    yield "# Presets\n"
    yield "What `--preset NAME` sets; options that are given win over it.\n"
    for name, preset in PRESETS.items():
        yield f"## `{name}`\n\n{_cell(preset.about)}.\n\n| option | value |\n|---|---|"
        yield from (f"| `{option}` | `{value}` |" for option, value in preset.options.items())
        yield ""


def _cell(text: str, *, code: bool = False) -> str:
    text = text.replace("|", "\\|")
    return text if code else text.replace("<", "&lt;").replace("[", "\\[")
