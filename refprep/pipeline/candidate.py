"""A clip on its way through the pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from refprep.errors import NoReferenceError, RefprepError
from refprep.linter.registry import all_rules
from refprep.linter.rule import Finding, Severity
from refprep.linter.run import run_rules
from refprep.manifest import Utterance
from refprep.types import Clip, Identity, QualityReport, Span, TextCheck

# A warning weighs as much as 60 dB of SNR: no cleaner signal makes up for it.
_SNR_CAP_DB, _DB_PER_POINT, _WARNING_POINTS = 60.0, 6.0, 10


def is_about_text(finding: Finding) -> bool:
    """Whether it holds a text against its audio: information for backends that do not use the words."""
    return finding.code.startswith("RP1")


@dataclass(slots=True)
class Candidate:
    """A clip on its way through the pipeline; what is not known yet is None.

    ``gates_text`` is false where nobody will use the words of the reference: then they refuse nothing.
    """

    utterance: Utterance
    path: str
    clip: Clip | None = None
    speech: tuple[Span, ...] = ()
    text: str = ""
    text_origin: str = ""
    check: TextCheck | None = None
    quality: QualityReport | None = None
    identities: tuple[Identity, ...] = ()
    converted_from: str = ""
    source_pcm_sha256: str = ""
    findings: tuple[Finding, ...] = ()
    gates_text: bool = True

    @property
    def identity(self) -> Identity | None:
        """By the first encoder; None where nobody compared it."""
        return self.identities[0] if self.identities else None

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """The findings that keep it out of a reference, whose voice it is first."""
        found = [f for f in self.findings if f.severity is Severity.ERROR or f.code == "RP107"]
        if not self.gates_text:
            found = [f for f in found if not is_about_text(f)]
        return tuple(sorted(found, key=lambda f: not f.code.startswith("RP3")))

    @property
    def refusal(self) -> Finding | None:
        """The first of them; None for a clip that may be chosen."""
        return next(iter(self.refusals), None)

    @property
    def decoded(self) -> Clip:
        """The clip of a candidate that decoded."""
        if self.clip is None:
            raise RefprepError("a clip was used before it was decoded", where=self.path, fix="Report this.")
        return self.clip

    @property
    def language(self) -> str:
        """As stated, else as heard; empty when neither is known."""
        if self.utterance.language:
            return self.utterance.language
        return self.check.heard.language if self.check is not None else ""

    @property
    def deficit(self) -> int:
        """Points against its quality: ten for a warning, one for every 6 dB of SNR below 60 dB (unknown: none of them)."""
        warnings = sum(f.severity is Severity.WARNING for f in self.findings)
        snr_db = self.quality.snr_db if self.quality is not None else None
        known_db = min(max(snr_db if snr_db is not None else 0.0, 0.0), _SNR_CAP_DB)
        return _WARNING_POINTS * warnings + round((_SNR_CAP_DB - known_db) / _DB_PER_POINT)

    def judge(self, nouns: Sequence[object]) -> None:
        """Put nouns to the rules and keep the findings."""
        self.findings += run_rules(nouns, all_rules(), path=self.path)

    @property
    def speech_s(self) -> float:
        """Seconds of speech."""
        return sum(s.duration_s for s in self.speech)


class NoVoiceError(NoReferenceError):
    """No admissible reference; ``candidates`` says why, clip by clip."""

    def __init__(self, what: str, *, where: str, fix: str, candidates: Sequence[Candidate] = ()) -> None:
        super().__init__(what, where=where, fix=fix)
        self.candidates = tuple(candidates)


def majority(values: Sequence[str]) -> str:
    """The value that occurs most often, empty ones aside; empty without any."""
    counts = Counter(v for v in values if v)
    return counts.most_common(1)[0][0] if counts else ""
