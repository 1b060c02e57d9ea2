"""`refprep lint`: does the text cover the audio, and is the audio fit to be cloned?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refprep.cli.console import err, steps
from refprep.cli.lint_output import LintFormat
from refprep.cli.options import (
    AsrOption,
    DeviceOption,
    EncoderOption,
    LanguageOption,
    QuietOption,
    override,
    settings,
)

if TYPE_CHECKING:
    from refprep.cli.lint_fix import Fixing
    from refprep.config import Config, LintConfig
    from refprep.linter.run import FileReport
    from refprep.linter.tally import Tally
    from refprep.manifest import Utterance


def lint(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Audio files with sidecars, folders, manifests, built voices."
        ),
    ],
    text: Annotated[str | None, typer.Option("--text", help="What the one audio file says.")] = None,
    language: LanguageOption = "",
    select: Annotated[
        list[str] | None,
        typer.Option("--select", help="Only these rules or prefixes (RP1)."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", help="Not these rules or prefixes."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="ENGINE",
            help="Engine the clips are meant for, such as f5-tts: what it cuts, refuses or ignores. "
            "Several with commas between them.",
        ),
    ] = None,
    preview: Annotated[bool | None, typer.Option("--preview", help="Run preview rules, too.")] = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="FILE", help="Leave out the findings that are known there."),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option("--fail-on", help="error, warning, info or never."),
    ] = None,
    format: Annotated[  # noqa: A002  # the option's name
        LintFormat,
        typer.Option("--format", help="How the findings are printed."),
    ] = LintFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the findings there, not to stdout."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE.html",
            help="Write a page to look at and listen to: waveforms, words, what has no text.",
        ),
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
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Write corrected copies that lint clean: texts completed, edge silence trimmed. "
            "Originals stay as they are.",
        ),
    ] = False,
    unsafe_fixes: Annotated[
        bool,
        typer.Option(
            "--unsafe-fixes",
            help="As --fix; also where only the recogniser's text is left to take, or a cut loses speech.",
        ),
    ] = False,
    fix_to: Annotated[
        Path | None,
        typer.Option("--fix-to", metavar="DIR", help="Folder for corrected copies (fixed)."),
    ] = None,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Show what --fix, or --unsafe-fixes, would change; write nothing."),
    ] = False,
    write_baseline: Annotated[
        Path | None,
        typer.Option(
            "--write-baseline",
            metavar="FILE",
            help="Make today's findings known: write them there and exit 0.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Processes; 0 for one per core."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on where a killed run stopped: with --format jsonl --output FILE behind its last whole line, "
            "else with what it remembered.",
        ),
    ] = False,
    cache: Annotated[
        bool | None,
        typer.Option("--cache/--no-cache", help="Remember what was measured."),
    ] = None,
    asr: AsrOption = None,
    encoder: EncoderOption = None,
    device: DeviceOption = None,
    quiet: QuietOption = False,
) -> None:
    """Check that texts cover their audio, and that the audio is fit to be cloned.

    Exit 1 when there are findings at or above --fail-on (error by default), or anything to change with --diff.
    """
    from refprep.cli.lint_fix import FixRequest, fixing
    from refprep.cli.lint_output import check_targets, label_writer, page_writer, real_inputs
    from refprep.errors import UsageError
    from refprep.linter.baseline import Baseline
    from refprep.linter.tally import Tally
    from refprep.manifest import read_utterances

    config = _configured(
        settings(asr=asr, encoder=encoder, device=device),
        select=_codes(select),
        ignore=_codes(ignore),
        profile=profile,
        preview=preview,
        # One that is written holds today's findings, the known ones among them.
        baseline="" if write_baseline else str(baseline.absolute()) if baseline else None,
        fail_on=fail_on,
        jobs=jobs,
        cache=cache,
    )
    if resume and not config.lint.cache:
        raise UsageError("it needs what the cache remembers", where="--resume", fix="Leave out --no-cache.")
    fixes_asked = FixRequest.of(fix=fix, unsafe_fixes=unsafe_fixes, diff=diff, fix_to=fix_to)
    utterances = read_utterances(paths, text=text, language=language)
    targets = {"--output": output, "--report": report, "--write-baseline": write_baseline}
    check_targets(targets, {"--labels": labels}, paths, utterances)
    if fixes_asked.is_asked:
        fixes_asked.check(
            real_inputs(paths, utterances),
            targets | {"--labels": labels},
            is_text=format is LintFormat.TEXT,
        )
    tally, known = Tally(), Baseline()
    sinks: list[Callable[[FileReport], None]] = []
    if labels is not None:
        sinks.append(label_writer(labels))
    if write_baseline is not None:
        sinks.append(lambda r: known.add(r.findings, r.utterance, r.source))
    with fixing(fixes_asked, utterances, config, tally, quiet=quiet) as fixes:
        is_plain = not sinks and report is None and fixes.fixer is None
        if format is LintFormat.JSONL and output is not None and is_plain:
            _write_lines(utterances, config, output, tally, resume=resume, quiet=quiet)
        else:
            with page_writer(report, tally) as page:
                sinks.append(page)
                _write_document(utterances, config, format, output, tally, sinks, fixes, quiet=quiet)
    if format is LintFormat.TEXT and not diff and not quiet:
        from refprep.linter.render import summary_text

        err(summary_text(tally))
    if write_baseline is not None:
        known.write(write_baseline)
        return
    if fixes.would_fix:
        raise typer.Exit(1)
    _exit_for(tally, config.lint)


def _configured(config: Config, **given: object) -> Config:
    """Settings with what the command line names, checked."""
    import dataclasses

    from refprep.api import rules_for
    from refprep.errors import UsageError
    from refprep.linter.profiles import find_profiles

    lint = override(config.lint, **given)
    if lint.fail_on not in ("error", "warning", "info", "never"):
        raise UsageError(
            f"{lint.fail_on!r} is no severity",
            where="--fail-on",
            fix="Write error, warning, info or never.",
        )
    if lint.jobs < 0:
        raise UsageError(
            f"{lint.jobs} processes", where="--jobs", fix="Write a number, or 0 for one per core."
        )
    configured = dataclasses.replace(
        config, lint=dataclasses.replace(lint, jobs=lint.jobs or os.cpu_count() or 1)
    )
    # A code or an engine there is not is told before the input is looked at.
    rules_for(configured)
    find_profiles(lint.profile)
    return configured


def _codes(given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Codes as given one by one or with commas between them; None where the option was not."""
    return tuple(code.strip() for group in given for code in group.split(",")) if given else None


def _reports(
    utterances: Sequence[Utterance],
    config: Config,
    tally: Tally,
    fixes: Fixing | None = None,
    *,
    quiet: bool,
    done: int = 0,
) -> Iterator[FileReport]:
    """Reports as they are made, fixed and counted, with a bar for whoever is watching; the first ``done`` are left out."""
    from refprep.api import lint_utterances

    # All rows, although the first ones are done: what they say of their speakers counts.
    reports = lint_utterances(utterances, config, skip=done)
    if fixes is not None:
        reports = fixes.apply(reports)
    with steps("lint", len(utterances) - done, quiet=quiet) as advance:
        for report in tally.watch(reports):
            advance(report.path)
            yield report


def _write_document(
    utterances: Sequence[Utterance],
    config: Config,
    name: LintFormat,
    output: Path | None,
    tally: Tally,
    sinks: Sequence[Callable[[FileReport], None]],
    fixes: Fixing,
    *,
    quiet: bool,
) -> None:
    from refprep.api import rules_for
    from refprep.cli.lint_output import deliver, parts_of, passing

    reports: Iterable[FileReport] = passing(_reports(utterances, config, tally, fixes, quiet=quiet), sinks)
    is_diff = fixes.is_diff
    deliver(
        fixes.diff_parts(reports) if is_diff else parts_of(name, reports, tally, rules_for(config)), output
    )


def _write_lines(
    utterances: Sequence[Utterance], config: Config, output: Path, tally: Tally, *, resume: bool, quiet: bool
) -> None:
    """JSON lines into a file, one by one, so that a killed run can be gone on with."""
    from refprep.api import run_fingerprint
    from refprep.linter.journal import Journal
    from refprep.linter.render import to_jsonl

    with Journal(output, run_fingerprint(utterances, config)).open(resume=resume) as lines:
        done = 0
        for row in lines.finished(utterances):
            tally.count_row(row)
            done += 1
        for report in _reports(utterances, config, tally, quiet=quiet, done=done):
            audio_sha256 = report.source.file_sha256 if report.source else None
            lines.add(to_jsonl(report), report.utterance, audio_sha256)


def _exit_for(tally: Tally, config: LintConfig) -> None:
    from refprep.linter.rule import Severity

    if config.fail_on != "never" and tally.has_at_least(Severity(config.fail_on)):
        raise typer.Exit(1)
