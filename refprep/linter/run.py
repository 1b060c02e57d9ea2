"""Nouns, rules -> findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from refprep.linter.rule import Finding, Rule, Severity
from refprep.manifest import Utterance
from refprep.types import AudioSource, QualityReport, Span, TextCheck


@dataclass(frozen=True, slots=True)
class FileReport:
    """One utterance, measured and judged.

    Attributes:
        utterance: What was asked about.
        duration_s: Decoded length; None for a file that does not decode.
        source: What the file is; None likewise.
        speech: Voice activity.
        quality: Measurements of the signal; None likewise.
        check: Text against audio; None without a text or audio.
        findings: In the order of time, whole-file findings first.
        models: Role -> name of the models that measured.
        num_known: Findings that a baseline knows; they are not among ``findings``.
        fixed: Codes of those that a corrected copy does not have.
        fixed_to: Path of that copy; empty without one.
    """

    utterance: Utterance
    findings: tuple[Finding, ...]
    duration_s: float | None = None
    source: AudioSource | None = None
    speech: tuple[Span, ...] = ()
    quality: QualityReport | None = None
    check: TextCheck | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    num_known: int = 0
    fixed: tuple[str, ...] = ()
    fixed_to: str = ""

    @property
    def path(self) -> str:
        """Of the audio file."""
        return str(self.utterance.audio)

    @property
    def left(self) -> tuple[Finding, ...]:
        """Findings that no copy was corrected of."""
        return tuple(f for f in self.findings if f.code not in self.fixed)

    @property
    def worst(self) -> Severity | None:
        """Severity of the worst finding."""
        return max((f.severity for f in self.findings), key=lambda s: s.rank, default=None)


def run_rules(nouns: Iterable[object], rules: Mapping[str, Rule], *, path: str) -> tuple[Finding, ...]:
    """Put every noun to the rules that read its type.

    Args:
        nouns: Values such as QualityReport or TextCheck.
        rules: Code -> Rule.
        path: Of the file they were measured on.

    Returns:
        Findings: whole-file ones first, then by time, then by code.
    """
    found: list[Finding] = []
    for noun in nouns:
        for rule in rules.values():
            if isinstance(noun, rule.noun):
                found += [
                    Finding(
                        code=rule.code,
                        name=rule.name,
                        severity=rule.severity,
                        path=path,
                        message=hit.message,
                        remedy=hit.remedy,
                        span=hit.span,
                        evidence=hit.evidence,
                        suggested_text=hit.suggested_text,
                    )
                    for hit in rule.check(noun)
                ]
    return tuple(sorted(found, key=lambda f: (f.span.start_s if f.span else -1.0, f.code)))
