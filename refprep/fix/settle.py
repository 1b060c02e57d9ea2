"""Try the changes, check every result again, and take the first that comes out clean."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from refprep.fix.cuts import refined_voice
from refprep.fix.plan import MISSING_TEXT, Plan, plan_fixes
from refprep.fix.step import Step, apply_step
from refprep.linter.rule import Finding, Severity
from refprep.linter.run import FileReport
from refprep.types import Clip
from refprep.units import seconds_to_samples

_MOST_CHECKS = 8  # of one pair: mending is for the common faults, the rest is for people


@dataclass(frozen=True, slots=True, eq=False)
class Mended:
    """A corrected pair.

    Attributes:
        clip: The samples that stayed.
        text: What they say; None where nobody wrote it down.
        report: Of the corrected pair.
        codes: Of the findings that are gone because of it.
        first_sample: Of the original that stayed.
    """

    clip: Clip
    text: str | None
    report: FileReport
    codes: frozenset[str]
    first_sample: int


class PairMender:
    """Mends one pair.

    Args:
        original: Its report.
        clip: Its audio.
        known: Codes of everything found in it, also of what a baseline knows.
        unsafe: Also what puts a recogniser's text in place of a user's, or loses speech.
        fail_on: Findings this bad must not be left; None bears all of them.
        lint: Checks a pair under the settings of the run.
        transcribe: Writes a clip down.
    """

    def __init__(
        self,
        original: FileReport,
        clip: Clip,
        *,
        known: Collection[str],
        unsafe: bool,
        fail_on: Severity | None,
        lint: Callable[[Clip, str | None], FileReport],
        transcribe: Callable[[Clip], str],
    ) -> None:
        self._original = original
        self._clip = clip
        self._unsafe = unsafe
        self._fail_on = fail_on
        self._lint = lint
        self._transcribe = transcribe
        self._known = known
        self._found = {f.code for f in original.findings}
        self._num_checks = 0
        self._reasons: list[str] = []

    def mend(self) -> Mended | str:
        """The corrected pair, or why there is none, in one clause."""
        start = Mended(self._clip, self._original.utterance.text, self._original, frozenset(), 0)
        found = self._search(start)
        if found is not None:
            return found
        return self._reasons[0] if self._reasons else "nothing that mends it is known"

    def _search(self, draft: Mended) -> Mended | None:
        plan = self._plan(draft)
        self._reasons += plan.obstacles
        for step in plan.steps:
            if self._num_checks >= _MOST_CHECKS:
                return None
            child = self._try(draft, step)
            if _badness(child.report) >= _badness(draft.report):
                still = ", ".join(sorted(step.codes))
                self._reasons.append(self._complaint(child) or f"{still} would still be found")
                continue
            deeper = self._search(child)
            if deeper is not None:
                return deeper
            if complaint := self._complaint(child):
                self._reasons.append(complaint)
                continue
            gone = self._found - {f.code for f in child.report.findings}
            if gone & child.codes:
                # A cut takes other faults of what it cuts with it; but that a copy is WAV mends no container.
                return replace(child, codes=frozenset(c for c in gone if not c.startswith("RP0")))
        return None

    def _plan(self, draft: Mended) -> Plan:
        report = draft.report
        if report.quality is None:
            return Plan((), ())
        heard = None
        if self._unsafe and draft.text is None and any(f.code == MISSING_TEXT for f in report.findings):
            heard = self._transcribe(draft.clip)
        voice = refined_voice(draft.clip, report.speech, report.quality)
        return plan_fixes(report, voice, unsafe=self._unsafe, heard_text=heard)

    def _try(self, draft: Mended, step: Step) -> Mended:
        clip, text = apply_step(draft.clip, step)
        self._num_checks += 1
        first = draft.first_sample
        if clip is not draft.clip:
            first += seconds_to_samples(step.keep.start_s, clip.sample_rate_hz)
        return Mended(clip, text, self._lint(clip, text), draft.codes | step.codes, first)

    def _complaint(self, draft: Mended) -> str:
        """What speaks against delivering it: a finding that fails the run, or one the original did not have."""
        for finding in draft.report.findings:
            is_new = finding.code not in self._known and finding.severity is not Severity.INFO
            is_failing = self._fail_on is not None and finding.severity.rank >= self._fail_on.rank
            if is_new or is_failing:
                verb = "still have" if finding.code in self._known else "have"
                return f"the corrected copy would {verb} {finding.code}: {finding.message}"
        return ""


def _badness(report: FileReport) -> tuple[int, int, int]:
    """Errors, warnings and infos about content: a copy is WAV, so what was wrong with the container says nothing."""
    found: list[Finding] = [f for f in report.findings if not f.code.startswith("RP0")]
    errors, warnings = (sum(f.severity is s for f in found) for s in (Severity.ERROR, Severity.WARNING))
    return errors, warnings, len(found) - errors - warnings
