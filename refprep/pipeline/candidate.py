"""A clip on its way through the pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from refprep.errors import RefprepError
from refprep.linter.registry import all_rules
from refprep.linter.rule import Finding, Severity
from refprep.linter.run import run_rules
from refprep.manifest import Utterance
from refprep.types import Clip, Identity, QualityReport, Span, TextCheck, Voiceprint

# In the quality score a warning outweighs any difference in SNR.
_SNR_CAP_DB = 60.0


@dataclass(slots=True)
class Candidate:
    """A clip on its way through the pipeline; what is not known yet is None."""

    utterance: Utterance
    path: str
    clip: Clip | None = None
    speech: tuple[Span, ...] = ()
    text: str = ""
    text_origin: str = ""
    check: TextCheck | None = None
    quality: QualityReport | None = None
    voiceprint: Voiceprint | None = None
    identity: Identity | None = None
    converted_from: str = ""
    source_pcm_sha256: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """The findings that keep it out of a reference, whose voice it is first."""
        found = [f for f in self.findings if f.severity is Severity.ERROR or f.code == "RP107"]
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
    def quality_score(self) -> float:
        """Higher is better: fewer warnings first, then SNR."""
        warnings = sum(f.severity is Severity.WARNING for f in self.findings)
        snr_db = self.quality.snr_db if self.quality is not None else None
        return -float(warnings) + min(snr_db if snr_db is not None else 0.0, _SNR_CAP_DB) / (_SNR_CAP_DB * 2)

    def judge(self, nouns: Sequence[object]) -> None:
        """Put nouns to the rules and keep the findings."""
        self.findings += run_rules(nouns, all_rules(), path=self.path)

    @property
    def speech_s(self) -> float:
        """Seconds of speech."""
        return sum(s.duration_s for s in self.speech)


def majority(values: Sequence[str]) -> str:
    """The value that occurs most often, empty ones aside; empty without any."""
    counts = Counter(v for v in values if v)
    return counts.most_common(1)[0][0] if counts else ""
