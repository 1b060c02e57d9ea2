"""Where the findings of `refprep lint` go: stdout or a file, and what is written beside it."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from refprep.cli.console import out

if TYPE_CHECKING:
    from refprep.linter.rule import Rule
    from refprep.linter.run import FileReport
    from refprep.linter.tally import Tally
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


def passing(
    reports: Iterable[FileReport], sinks: Sequence[Callable[[FileReport], None]]
) -> Iterator[FileReport]:
    """The same reports; every sink is told of each."""
    for report in reports:
        for sink in sinks:
            sink(report)
        yield report


def parts_of(
    name: LintFormat, reports: Iterable[FileReport], tally: Tally, rules: Mapping[str, Rule]
) -> Iterator[str]:
    """A format's document in parts that end where a line ends, each made as soon as its reports are in."""
    from refprep import __version__
    from refprep.linter.formats.github import to_github
    from refprep.linter.formats.junit import to_junit
    from refprep.linter.formats.sarif import to_sarif
    from refprep.linter.formats.table import to_csv
    from refprep.linter.render import to_json, to_jsonl, to_text

    def models() -> Mapping[str, str]:
        return tally.models

    if name is LintFormat.TEXT:
        return filter(None, map(to_text, reports))
    if name is LintFormat.JSONL:
        return map(to_jsonl, reports)
    if name is LintFormat.CSV:
        return to_csv(reports)
    if name is LintFormat.GITHUB:
        return to_github(reports, root=Path.cwd())
    if name is LintFormat.JUNIT:
        return to_junit(reports, models, __version__)
    if name is LintFormat.SARIF:
        return to_sarif(reports, rules, models, __version__, root=Path.cwd())
    return to_json(reports, tally, __version__)


def deliver(parts: Iterable[str], output: Path | None) -> None:
    """Print the parts, or write them to a file that appears when all are there."""
    from refprep.atomic import open_text

    with open_text(output) if output is not None else nullcontext() as file:
        for part in parts:
            if file is not None:
                file.write(f"{part}\n")
            else:
                out(printable(part))


def printable(text: str) -> str:
    r"""Text that can be encoded: lone surrogates (file names that are no UTF-8) become ``\udc..``, as JSON has them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def label_writer(folder: Path) -> Callable[[FileReport], None]:
    """Writes two files for every clip with sound; of clips of one name the later ones get a number."""
    from refprep.atomic import write_text
    from refprep.linter.formats.labels import to_labels
    from refprep.linter.formats.textgrid import to_textgrid

    numbers: dict[str, int] = {}

    def write(report: FileReport) -> None:
        if not report.duration_s:
            return
        name = free_name(report.utterance.audio.stem, numbers)
        write_text(folder / f"{name}.labels.txt", f"{to_labels(report)}\n")
        write_text(folder / f"{name}.TextGrid", f"{to_textgrid(report)}\n")

    return write


@contextmanager
def page_writer(target: Path | None, tally: Tally) -> Iterator[Callable[[FileReport], None]]:
    """Writes the HTML report; it appears when the block ends without an error. Does nothing without a target."""
    if target is None:
        yield lambda _: None
        return
    from refprep import __version__
    from refprep.atomic import open_text
    from refprep.report.lint.html import LintPage

    with open_text(target) as file:
        page = LintPage(file, version=__version__)
        yield page.add
        page.close(tally.models)


def free_name(stem: str, numbers: dict[str, int]) -> str:
    """The stem, with a number where it was given out before; upper and lower case are one name on many disks."""
    name = stem
    while (key := name.casefold()) in numbers:
        numbers[stem.casefold()] = numbers.get(stem.casefold(), 1) + 1
        name = f"{stem}-{numbers[stem.casefold()]}"
    numbers[key] = 1
    return name


def real_inputs(paths: Sequence[Path], utterances: Sequence[Utterance]) -> frozenset[str]:
    """Real paths of everything that is read: folders as such, audio, sidecars, manifests."""
    named = {*paths, *(u.audio for u in utterances)}
    for source in {u.source for u in utterances if u.source}:  # a sidecar, or manifest.jsonl:12
        named |= {Path(source), Path(source.rpartition(":")[0] or source)}
    return frozenset(os.path.realpath(p) for p in named)


def check_targets(
    targets: Mapping[str, Path | None],
    folders: Mapping[str, Path | None],
    paths: Sequence[Path],
    utterances: Sequence[Utterance],
) -> None:
    """Refuse before the work what could not be written after it, or would be written over what is checked.

    Args:
        targets: Option -> file to write.
        folders: Option -> folder to write into.
        paths: What the command was pointed at.
        utterances: What is in it.
    """
    from refprep.errors import UsageError

    wanted = {option: path for option, path in targets.items() if path is not None}
    inputs = real_inputs(paths, utterances) if wanted else frozenset()
    for option, path in wanted.items():
        if os.path.isdir(path):  # unlike Path's it is False for a name that the disk refuses
            raise UsageError("this is a folder", where=option, fix="Name a file.")
        # A rename would put a file in the device's place.
        if path.absolute().parts[1:2] in (("dev",), ("proc",)) or (
            os.path.exists(path) and not os.path.isfile(path)
        ):
            raise UsageError("this is no regular file", where=option, fix="Name a file, or use stdout.")
        if os.path.realpath(path) in inputs:
            raise UsageError("this file is being checked", where=option, fix="Name another file.")
    real = [os.path.realpath(p) for p in wanted.values()]
    if len(set(real)) < len(real):
        raise UsageError("two options name one file", where=", ".join(wanted), fix="Name two files.")
    for option, folder in folders.items():
        if folder is not None and os.path.exists(folder) and not os.path.isdir(folder):
            raise UsageError("this is no folder", where=option, fix="Name a folder.")
