"""`refprep lint`: does the text cover the audio, and is the audio fit to be cloned?"""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refprep.cli.console import err, out, steps
from refprep.cli.options import AsrOption, DeviceOption, LanguageOption, QuietOption, override, settings

if TYPE_CHECKING:
    from refprep.linter.rule import Rule
    from refprep.linter.run import FileReport
    from refprep.manifest import Utterance


class LintFormat(enum.StrEnum):
    """How the findings are printed."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"


def lint(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Audio files with sidecars, folders, manifests, built voices."
        ),
    ],
    text: Annotated[str | None, typer.Option("--text", help="What the one audio file says.")] = None,
    language: LanguageOption = "",
    format: Annotated[  # noqa: A002  # the option's name
        LintFormat, typer.Option("--format", help="How the findings are printed.")
    ] = LintFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the findings there, not to stdout."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="DIR",
            help="Write words and findings of every clip there: NAME.labels.txt (Audacity), NAME.TextGrid (Praat). "
            "Files of these names are replaced.",
        ),
    ] = None,
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
    from refprep.api import lint_utterances, open_listener
    from refprep.errors import UsageError
    from refprep.linter.registry import select_rules
    from refprep.linter.render import summary_text
    from refprep.linter.rule import Severity
    from refprep.manifest import read_utterances

    config = settings(asr=asr, device=device)
    chosen = override(
        config.lint,
        select=_codes(select),
        ignore=_codes(ignore),
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
    _check_targets(output, labels, paths, utterances)
    listener = open_listener(config.models)
    if any(u.text is not None for u in utterances) and any(code.startswith("RP1") for code in rules):
        listener.require()
    line = _lines().get(format) if output is None else None
    reports = []
    with steps("lint", len(utterances), quiet=quiet) as advance:
        for report in lint_utterances(utterances, chosen, listener=listener):
            advance(report.path)
            reports.append(report)
            if line is not None and (found := line(report)):
                out(_printable(found))
    if line is None:
        _deliver(_documents(listener.models, rules)[format](reports), output)
    if labels is not None:
        _write_labels(reports, labels)
    if format is LintFormat.TEXT and not quiet:
        err(summary_text(reports))
    if chosen.fail_on == "never":
        return
    limit = Severity(chosen.fail_on).rank
    if any(r.worst is not None and r.worst.rank >= limit for r in reports):
        raise typer.Exit(1)


def _codes(given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Codes as given one by one or with commas between them; None where the option was not."""
    return tuple(code.strip() for group in given for code in group.split(",")) if given else None


def _lines() -> dict[LintFormat, Callable[[FileReport], str]]:
    """Formats that are printed file by file, while the next one is being checked."""
    from refprep.linter.render import to_jsonl, to_text

    return {LintFormat.TEXT: to_text, LintFormat.JSONL: to_jsonl}


def _documents(
    models: Mapping[str, str], rules: Mapping[str, Rule]
) -> dict[LintFormat, Callable[[Sequence[FileReport]], str]]:
    """Every format as one document of the whole run."""
    from refprep import __version__
    from refprep.linter.formats.github import to_github
    from refprep.linter.formats.junit import to_junit
    from refprep.linter.formats.sarif import to_sarif
    from refprep.linter.formats.table import to_csv
    from refprep.linter.render import to_json, to_jsonl, to_text

    root = Path.cwd()
    return {
        LintFormat.TEXT: lambda reports: "\n".join(filter(None, map(to_text, reports))),
        LintFormat.JSON: lambda reports: to_json(reports, models, __version__),
        LintFormat.JSONL: lambda reports: "\n".join(map(to_jsonl, reports)),
        LintFormat.CSV: to_csv,
        LintFormat.JUNIT: lambda reports: to_junit(reports, models, __version__),
        LintFormat.SARIF: lambda reports: to_sarif(reports, rules, models, __version__, root=root),
        LintFormat.GITHUB: lambda reports: to_github(reports, root=root),
    }


def _check_targets(
    output: Path | None, labels: Path | None, paths: Sequence[Path], utterances: Sequence[Utterance]
) -> None:
    """Refuse before the work what could not be written after it, or would be written over what is checked."""
    from refprep.errors import UsageError

    inputs = {os.path.realpath(p) for p in (*paths, *(u.audio for u in utterances))}
    for source in {u.source for u in utterances if u.source}:  # a sidecar, or manifest.jsonl:12
        inputs |= {os.path.realpath(source), os.path.realpath(source.rpartition(":")[0] or source)}
    if output is not None and output.is_dir():
        raise UsageError("this is a folder", where="--output", fix="Name a file.")
    if output is not None and os.path.realpath(output) in inputs:
        raise UsageError("this file is being checked", where="--output", fix="Name another file.")
    if labels is not None and labels.exists() and not labels.is_dir():
        raise UsageError("this is no folder", where="--labels", fix="Name a folder.")


def _deliver(document: str, output: Path | None) -> None:
    from refprep.atomic import write_text

    if output is not None:
        write_text(output, f"{_printable(document)}\n" if document else "")
    elif document:
        out(_printable(document))


def _printable(text: str) -> str:
    r"""Text that can be encoded: lone surrogates (file names that are no UTF-8) become ``\udc..``, as JSON has them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _write_labels(reports: Sequence[FileReport], folder: Path) -> None:
    """Two files for every clip with sound; of clips of one name the later ones get a number."""
    from refprep.atomic import write_text
    from refprep.linter.formats.labels import to_labels
    from refprep.linter.formats.textgrid import to_textgrid

    taken: set[str] = set()
    for report in (r for r in reports if r.duration_s):
        stem, number = report.utterance.audio.stem, 1
        while (name := stem if number == 1 else f"{stem}-{number}").casefold() in taken:
            number += 1
        taken.add(name.casefold())
        write_text(folder / f"{name}.labels.txt", f"{to_labels(report)}\n")
        write_text(folder / f"{name}.TextGrid", f"{to_textgrid(report)}\n")
