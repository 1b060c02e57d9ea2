"""Clip, voice -> its thirds, each held against the voice and the controls by every encoder."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from refprep.errors import AudioDecodeError
from refprep.scoring.target import TargetVoice
from refprep.types import Clip, Span, Voiceprint, VoiceWindow

MIN_WINDOW_S = 1.6
"""Speech of a window: one partial of GE2E, the least that an encoder here is measured on."""
_MIN_SPEECH_S = 1.0  # below it nobody is told from anybody: a whispered word of 0.4 s scores like a stranger
_NAMES = {1: ("whole",), 2: ("early", "late"), 3: ("early", "middle", "late")}


def score_windows(clip: Clip, speech: Sequence[Span], voice: TargetVoice) -> tuple[VoiceWindow, ...]:
    """Hold the early, middle and late speech of an output against a voice.

    Args:
        clip: The output.
        speech: Its voice activity: sorted, disjoint.
        voice: The voice as one encoder hears it, and the controls.

    Returns:
        Three windows of equal speech; two or one where there is not ``MIN_WINDOW_S`` for each; none where there is too
        little to embed.
    """
    total_s = sum(s.duration_s for s in speech)
    if total_s < _MIN_SPEECH_S:
        return ()
    count = min(3, max(1, int(total_s / MIN_WINDOW_S)))
    found = []
    for name, part in zip(_NAMES[count], split_speech(speech, count), strict=True):
        try:
            print_ = voice.verifier.embed(clip, part)
        except AudioDecodeError:
            return ()
        found.append(_window(name, Span(part[0].start_s, part[-1].end_s), print_, voice))
    return tuple(found)


def split_speech(speech: Sequence[Span], count: int) -> list[tuple[Span, ...]]:
    """Parts with equally much speech, in order."""
    share_s = sum(s.duration_s for s in speech) / count
    parts: list[list[Span]] = [[]]
    left_s = share_s
    for span in speech:
        start_s = span.start_s
        while len(parts) < count and span.end_s - start_s > left_s:
            parts[-1].append(Span(start_s, start_s + left_s))
            start_s += left_s
            parts.append([])
            left_s = share_s
        parts[-1].append(Span(start_s, span.end_s))
        left_s -= span.end_s - start_s
    return [tuple(p) for p in parts if p]


def _window(name: str, span: Span, print_: Voiceprint, voice: TargetVoice) -> VoiceWindow:
    verifier = voice.verifier
    control, control_score = _nearest_control(print_, voice)
    return VoiceWindow(
        name=name,
        span=span,
        speech_s=print_.speech_s,
        encoder=verifier.model,
        scale=verifier.scale,
        score=float(verifier.matrix([voice.print, print_])[0, 1]),
        # A window is shorter than the clips that the threshold is for, and an output is no recording.
        threshold=verifier.threshold - verifier.min_margin,
        control=control,
        control_score=control_score,
        # Whom the user names must not be nearer. The cohort's people only say how alike strangers are: the voice itself may
        # be among them.
        min_margin=0.0 if voice.controls else -math.inf,
    )


def _nearest_control(print_: Voiceprint, voice: TargetVoice) -> tuple[str, float | None]:
    """Of the controls given; of the cohort's people, where there are none."""
    verifier = voice.verifier
    if voice.controls:
        scores = {name: verifier.score(print_, c) for name, c in voice.controls.items()}
        name = max(scores, key=lambda n: scores[n])
        return name, scores[name]
    cohort = verifier.calibration.cohort if verifier.calibration is not None else None
    if cohort is None:
        return "", None
    found = verifier.compare(print_.vector[None].astype(np.float64), cohort.vectors.astype(np.float64))[0]
    at = int(np.argmax(found))
    return cohort.names[at], float(found[at])
