"""`refprep lint`: does the text cover the audio, and is the audio fit to be cloned?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from refprep.cli.console import err, out, steps
from refprep.cli.options import (
    AsrOption,
    DeviceOption,
    Format,
    FormatOption,
    LanguageOption,
    QuietOption,
    override,
    settings,
)


def lint(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Audio files with sidecars, folders, manifests, built voices."
        ),
    ],
    text: Annotated[str | None, typer.Option("--text", help="What the one audio file says.")] = None,
    language: LanguageOption = "",
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    select: Annotated[
        list[str] | None, typer.Option("--select", help="Only these rules or prefixes (RP1).")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", help="Not these rules or prefixes.")] = None,
    fail_on: Annotated[str | None, typer.Option("--fail-on", help="error, warning, info or never.")] = None,
    asr: AsrOption = None,
    device: DeviceOption = None,
    quiet: QuietOption = False,
) -> None:
    """Check that texts cover their audio, and that the audio is fit to be cloned.

    Exit 1 when there are findings at or above --fail-on (error by default).
    """
    from refprep import __version__
    from refprep.api import lint_utterances, open_listener
    from refprep.errors import UsageError
    from refprep.linter.registry import select_rules
    from refprep.linter.render import summary_text, to_json, to_jsonl, to_text
    from refprep.linter.rule import Severity
    from refprep.manifest import read_utterances

    config = settings(asr=asr, device=device)
    chosen = override(
        config.lint,
        select=tuple(select) if select else None,
        ignore=tuple(ignore) if ignore else None,
        fail_on=fail_on,
    )
    if chosen.fail_on not in ("error", "warning", "info", "never"):
        raise UsageError(
            f"{chosen.fail_on!r} is no severity",
            where="--fail-on",
            fix="Write error, warning, info or never.",
        )
    rules = select_rules(chosen.select, chosen.ignore)
    utterances = read_utterances(paths, text=text, language=language)
    listener = open_listener(config.models)
    if any(u.text is not None for u in utterances) and any(code.startswith("RP1") for code in rules):
        listener.require()
    reports = []
    with steps("lint", len(utterances), quiet=quiet) as advance:
        for report in lint_utterances(utterances, chosen, listener=listener):
            advance(report.path)
            reports.append(report)
            if format is Format.TEXT and report.findings:
                out(to_text(report))
            elif format is Format.JSONL:
                out(to_jsonl(report))
    if format is Format.JSON:
        out(to_json(reports, listener.models, __version__))
    elif format is Format.TEXT and not quiet:
        err(summary_text(reports))
    if chosen.fail_on == "never":
        return
    limit = Severity(chosen.fail_on).rank
    if any(r.worst is not None and r.worst.rank >= limit for r in reports):
        raise typer.Exit(1)
