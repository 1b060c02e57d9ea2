"""`refprep explain`: what a rule checks, why, and what to do."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from refprep.cli.console import out
from refprep.cli.options import Format, FormatOption


def explain(
    codes: Annotated[
        list[str] | None, typer.Argument(metavar="CODE...", help="RP101, or RP1 for all of a topic.")
    ] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Every rule.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="The table of the README.")] = False,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
) -> None:
    """Explain rules: what they check, why it matters, and how to fix a finding."""
    from refprep.errors import UsageError
    from refprep.linter.explain import markdown_table, page, rule_row
    from refprep.linter.registry import all_rules, select_rules

    if not codes and not show_all and not markdown:
        raise UsageError(
            "no rule named", where="explain", fix="Name a rule such as RP101, a topic such as RP1, or --all."
        )
    rules = (select_rules(tuple(codes)) if codes else all_rules()).values()
    if markdown:
        out(markdown_table(rules))
    elif format is Format.TEXT:
        out("\n\n".join(page(r) for r in rules).rstrip())
    elif format is Format.JSON:
        out(
            json.dumps(
                {"schema_version": 1, "rules": [rule_row(r) for r in rules]}, ensure_ascii=False, indent=2
            )
        )
    else:
        for rule in rules:
            out(json.dumps({"schema_version": 1, **rule_row(rule)}, ensure_ascii=False))
