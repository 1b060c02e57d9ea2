"""The reference as a whole, held against its text and its voice: what was true of every clip has to be true of the join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refprep.identity.measure import centroid, worst_window
from refprep.identity.verifier import Verifier
from refprep.linter.registry import all_rules
from refprep.linter.rule import Finding, Severity
from refprep.linter.run import run_rules
from refprep.pipeline.candidate import is_about_text
from refprep.pipeline.listen import Listener
from refprep.pipeline.samples import clip_of
from refprep.types import (
    Clip,
    Identity,
    IdentityCase,
    Reference,
    Span,
    TextCheck,
    Verdict,
    Voiceprint,
)


@dataclass(frozen=True, slots=True, eq=False)
class JoinedCheck:
    """What is found in a reference as a whole.

    Attributes:
        text: The whole text against the whole audio, over the joins.
        min_window_score: Lowest score of a window with the mean direction of the chosen clips; None without windows.
        worst_window: Where that window is.
        window_threshold: What it needs; None where nobody measured it.
        findings: What is wrong with it.
        gates_text: Whether a text that does not cover the audio is a fault.
    """

    text: TextCheck
    min_window_score: float | None
    worst_window: Span | None
    window_threshold: float | None
    findings: tuple[Finding, ...]
    gates_text: bool = True

    @property
    def fault(self) -> Finding | None:
        """The first thing that must not be in a reference; None where there is none."""
        faults = (f for f in self.findings if f.severity is Severity.ERROR)
        return next((f for f in faults if self.gates_text or not is_about_text(f)), None)

    @property
    def is_verified(self) -> bool:
        """Text and voice of the whole were found to be right; undecided is not."""
        return self.fault is None and self.text.verdict is Verdict.PASS


def check_joined(
    reference: Reference,
    prints: Sequence[Voiceprint],
    listener: Listener,
    verifier: Verifier,
    *,
    gates_text: bool = True,
) -> JoinedCheck:
    """Hold the whole text against the whole reference, and every window of it against the voice.

    Args:
        reference: The joined clips.
        prints: Voiceprints of the chosen clips.
        listener: Voice activity, recogniser, aligner.
        verifier: Of the encoder that made the prints.
        gates_text: Whether a text that does not cover the audio is a fault.
    """
    clip = reference_clip(reference)
    text = listener.check(clip, reference.text, language=reference.language)
    findings = list(run_rules([text], all_rules(), path="reference.wav"))
    mean = centroid(prints)
    lowest: float | None = None
    worst: Span | None = None
    limit = verifier.window_threshold
    if mean is not None:
        lowest, worst = worst_window(verifier.embed(clip, listener.speech(clip)), mean, verifier)
        findings += _voice_findings(lowest, worst, verifier)
    return JoinedCheck(text, lowest, worst, limit, tuple(findings), gates_text)


def _voice_findings(lowest: float | None, worst: Span | None, verifier: Verifier) -> tuple[Finding, ...]:
    """What the rules say of the worst window; pairs and controls were asked about clip by clip."""
    identity = Identity(
        clip_id="reference",
        model=verifier.model,
        scale=verifier.scale,
        min_pairwise_score=None,
        mean_pairwise_score=None,
        centroid_score=None,
        min_window_score=lowest,
        worst_window=worst,
    )
    case = IdentityCase(identity, True, verifier.threshold, verifier.window_threshold, verifier.min_margin)
    return run_rules([case], all_rules(), path="reference.wav")


def reference_clip(reference: Reference) -> Clip:
    """A reference as a clip, for the stages that read clips."""
    return clip_of(
        reference.samples,
        reference.sample_rate_hz,
        path="reference.wav",
        sample_format=reference.sample_format,
    )
