"""`refprep lint --fix`: corrected copies beside the findings, or a diff in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from refprep.cli.console import err

if TYPE_CHECKING:
    from refprep.config import Config
    from refprep.fix.write import Fixer
    from refprep.linter.run import FileReport
    from refprep.linter.tally import Tally
    from refprep.manifest import Utterance

DEFAULT_FOLDER = Path("fixed")


@dataclass(frozen=True, slots=True)
class FixRequest:
    """What the command line asks of fixes.

    Attributes:
        is_asked: Anything at all.
        is_diff: Only show what would be done.
        is_unsafe: Also what puts a recogniser's text in place of a user's, or loses speech.
        folder: Where copies go.
    """

    is_asked: bool
    is_diff: bool
    is_unsafe: bool
    folder: Path

    @classmethod
    def of(cls, *, fix: bool, unsafe_fixes: bool, diff: bool, fix_to: Path | None) -> FixRequest:
        """From the options as given.

        Raises:
            UsageError: A folder without anything to put there.
        """
        from refprep.errors import UsageError

        is_asked = fix or unsafe_fixes or diff
        if fix_to is not None and not is_asked:
            raise UsageError("nothing is to be fixed", where="--fix-to", fix="Add --fix or --unsafe-fixes.")
        return cls(is_asked, diff, unsafe_fixes, fix_to or DEFAULT_FOLDER)

    def check(self, inputs: Iterable[str], targets: Mapping[str, Path | None], *, is_text: bool) -> None:
        """Refuse before the work what cannot be meant.

        Args:
            inputs: Real paths of what is read.
            targets: Option -> what else is written; ``--output`` first.
            is_text: Findings are printed as text.

        Raises:
            UsageError: The folder must not be replaced, or a diff is asked for together with what it does not do.
        """
        if not self.is_asked:
            return
        from refprep.errors import UsageError
        from refprep.fix.folder import check_fix_folder

        if self.is_diff:
            others = [o for o, t in targets.items() if t is not None and o != "--output"]
            if not is_text:
                others.append("--format")
            if others:
                raise UsageError(
                    f"it takes the place of {', '.join(others)}", where="--diff", fix="Run them one by one."
                )
        else:
            check_fix_folder(self.folder, inputs, targets)


@dataclass
class Fixing:
    """The fixes of a run; without any the reports pass as they are.

    Attributes:
        is_diff: Diffs take the place of findings.
        fixer: None where no fixes were asked for.
        diffs: Of the pair that was fixed last.
    """

    is_diff: bool = False
    fixer: Fixer | None = None
    diffs: list[str] = field(default_factory=list)

    def apply(self, reports: Iterable[FileReport]) -> Iterator[FileReport]:
        """The same reports; those of corrected pairs say so."""
        return map(self.fixer.fix, reports) if self.fixer is not None else iter(reports)

    def diff_parts(self, reports: Iterable[FileReport]) -> Iterator[str]:
        """The diffs of all reports, each as soon as its report is in."""
        from refprep.cli.lint_output import printable

        for _ in reports:
            yield from map(printable, self.diffs)
            self.diffs.clear()

    @property
    def would_fix(self) -> bool:
        """A diff was shown."""
        return self.is_diff and self.fixer is not None and self.fixer.num_fixed > 0


@contextmanager
def fixing(
    request: FixRequest, utterances: Sequence[Utterance], config: Config, tally: Tally, *, quiet: bool
) -> Iterator[Fixing]:
    """Fix what passes within the block; copies appear when it ends without an error."""
    if not request.is_asked:
        yield Fixing()
        return
    from refprep.api import open_fixer
    from refprep.cli.lint_output import free_name, printable
    from refprep.fix.diff import correction_diff

    numbers: dict[str, int] = {}
    fixes = Fixing(request.is_diff)

    def refuse(path: str, reason: str) -> None:
        if not quiet:
            err(printable(f"{path}: not fixed: {reason}"))

    with open_fixer(
        utterances,
        config,
        request.folder,
        free_name=lambda stem: free_name(stem, numbers),
        unsafe=request.is_unsafe,
        write=not request.is_diff,
        on_correction=lambda c: fixes.diffs.append(correction_diff(c)) if request.is_diff else None,
        on_refusal=refuse,
    ) as fixer:
        fixes.fixer = fixer
        yield fixes
    if not quiet:
        err(summary(request, fixer, tally))


def summary(request: FixRequest, fixer: Fixer, tally: Tally) -> str:
    """What became of the fixes, in a line."""
    pairs = f"{fixer.num_fixed} pair{'' if fixer.num_fixed == 1 else 's'}"
    if request.is_diff:
        parts = [f"{pairs} would be corrected"]
    elif fixer.num_fixed:
        parts = [f"{pairs} corrected in {request.folder}"]
    else:
        parts = ["no pair corrected, nothing written"]
    if fixer.num_refused:
        parts.append(f"{fixer.num_refused} could not be")
    line = ", ".join(parts) + "."
    if fixer.num_waiting:
        noun = "finding waits" if fixer.num_waiting == 1 else "findings wait"
        line += f" {fixer.num_waiting} {noun} for --unsafe-fixes."
    counts = tally.summary()
    if request.is_diff and counts["files_with_findings"]:  # findings are not printed then
        left = [
            f"{n} {s}{'' if n == 1 else 's'}" for s in ("error", "warning", "info") if (n := counts[f"{s}s"])
        ]
        line += f" {', '.join(left)} left."
    return line
