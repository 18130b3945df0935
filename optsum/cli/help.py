"""Help that finds what is looked for: options in groups, and what a command does in a whole sentence."""

from __future__ import annotations

from typing import Any, Final

from typer.core import TyperCommand, TyperGroup

_GROUPS: Final = {
    "Problem": (
        *("formulation", "formulation_options", "metric", "vectors", "similarity_unit", "measure", "references"),
        *("model_units", "counts", "boundaries"),
        *("max_length", "min_length", "length_unit", "keep_unmatched", "weights", "uncoverable", "chunk_profile"),
        *("chunk_rules", "at_least", "within", "within_steps", "best", "best_by", "max_words", "oracles", "preset"),
        *("max_sentences", "max_characters", "per_document", "require", "forbid", "exclusive"),
    ),
    "Text": ("columns", "limit", "flat", "tokenizer", "stem", "stemmer", "stopwords"),
    "Search": (
        *("strategy", "strategies", "exact", "exact_time_limit", "seeds", "strategy_options", "bound", "backend"),
        *("backends", "backend_options", "threads", "verify", "time_limit", "node_limit", "evaluation_limit", "gap"),
        *("target", "seed", "workers", "executor", "scheduler", "memory_per_worker"),
    ),
    "Output": (
        *("output", "format", "format_", "resume", "overwrite", "details", "plot", "figures", "max_solutions"),
        *("count_only", "quiet", "verbose", "log_file", "minimal", "soft", "all_", "diverse", "weighted", "sample"),
        "table",
    ),
}
"""Names of parameters, in the order of the help; what is in none of them comes last."""


class GroupedCommand(TyperCommand):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options."""
        arguments, left = [], {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            if param.param_type_name == "argument":
                arguments.append(record)
            else:
                left[str(param.name)] = record
        groups = {title: [left.pop(name) for name in names if name in left] for title, names in _GROUPS.items()}
        if sum(map(bool, groups.values())) < 2 and len(left) + sum(map(len, groups.values())) < _FEW:
            groups, left = {"Options": [*(each for group in groups.values() for each in group), *left.values()]}, {}
        for title, records in {"Arguments": arguments, **groups, "More": list(left.values())}.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


_FEW: Final = 8
"""So few options need no groups."""


class WholeSummaries(TyperGroup):
    """A list of commands that cuts none of what is said of them."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, " ".join((each.help or "").split())) for name, each in commands if each and not each.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)
