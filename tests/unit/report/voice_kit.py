"""A built voice of tones: every part of voice.json has something in it, and no recording is needed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from refprep.linter.rule import Finding, Severity
from refprep.manifest import Utterance
from refprep.pipeline.build import BuiltVoice, reference_clip
from refprep.pipeline.candidate import Candidate
from refprep.pipeline.decode import pcm_sha256
from refprep.pipeline.join import SilencePolicy, join_clips
from refprep.pipeline.select import Selection
from refprep.pipeline.wav import write_wav
from refprep.types import (
    Alignment,
    AudioSource,
    Clip,
    Coverage,
    Downmix,
    Identity,
    Origin,
    QualityReport,
    SampleFormat,
    SnrMethod,
    Span,
    TextCheck,
    Transcript,
    Verdict,
    Word,
    freeze,
)
from refprep.voice.document import voice_document
from refprep.voice.names import AUDIO_NAME, TEXT_NAME

RATE_HZ = 16_000
EVIL = "<script>alert(1)</script>"
TEXTS = ("It was the best of times.", "It was the worst of times.", f"It was {EVIL} & more.")


def tone(path: str, hz: float, seconds: float, sample_format: SampleFormat = SampleFormat.PCM_16) -> Clip:
    """A tone that swells and fades, on the grid of 16 bits."""
    time_s = np.arange(int(RATE_HZ * seconds)) / RATE_HZ
    swell = np.sin(np.pi * time_s / seconds) * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * time_s))
    samples = freeze((np.rint(np.sin(2 * np.pi * hz * time_s) * swell * 12_000) / 2**15).astype(np.float32))
    source = AudioSource(
        path, "ab" * 32, "wav", "pcm_s16le", sample_format, 1, seconds, seconds, Downmix.NONE, (0.4,)
    )
    return Clip(pcm_sha256(samples, RATE_HZ), source, samples, RATE_HZ)


def text_check(text: str, seconds: float, verdict: Verdict = Verdict.PASS, reason: str = "") -> TextCheck:
    """The text's words laid evenly over the clip."""
    written = text.split()
    step_s = seconds / max(1, len(written))
    words = tuple(Word(w, Span(k * step_s, (k + 0.8) * step_s), 0.9) for k, w in enumerate(written))
    speech = (Span(0.0, seconds),)
    given = Transcript(text, "en")
    heard = Transcript(text.lower(), "en", origin=Origin.ASR, model="toy-asr")
    coverage = Coverage(speech, (Span(0.9 * seconds, seconds),), (), 0.0, 0.1 * seconds)
    return TextCheck(given, heard, Alignment(words, "toy"), coverage, 0.0, verdict, reason, (), text)


def quality(snr_db: float | None = 38.5, pace_per_s: float | None = 4.2) -> QualityReport:
    return QualityReport(
        loudness_lufs=-21.3 if snr_db is not None else -math.inf,
        speech_level_dbfs=-22.0,
        true_peak_dbtp=-8.1,
        clipped_ratio=0.0,
        snr_db=snr_db,
        bandwidth_hz=7400.0,
        sample_rate_hz=RATE_HZ,
        dc_offset=0.0,
        leading_silence_s=0.05,
        trailing_silence_s=0.07,
        longest_inner_silence_s=0.2,
        longest_inner_silence=Span(1.0, 1.2),
        tail_level_dbfs=-60.0,
        pace_per_s=pace_per_s,
        snr_method=SnrMethod.PAUSES,
    )


def candidate(
    path: str, text: str, seconds: float, *, cosine: float = 0.88, controls: bool = True, **extra: Any
) -> Candidate:
    clip = tone(path, 140.0 + 20 * len(path), seconds)
    scores = {"en/harold": 0.55, f"{EVIL}": 0.61} if controls else {}
    return Candidate(
        utterance=Utterance(Path(path), text, "en", extra=extra),
        path=path,
        clip=clip,
        speech=(Span(0.0, seconds),),
        text=text,
        text_origin="user",
        source_pcm_sha256=clip.id,
        check=text_check(text, seconds),
        quality=quality(),
        identity=Identity(
            clip.id, "toy", cosine, cosine + 0.01, cosine + 0.03, cosine - 0.1, Span(0.0, 1.0), scores
        ),
    )


def finding(code: str, name: str, severity: Severity, path: str, span: Span | None = None) -> Finding:
    return Finding(
        code,
        name,
        severity,
        path,
        f"what is wrong with {EVIL}",
        "What to do.",
        span,
        evidence={"missing_text": "more words", "tail_s": 1.25, "seen": 3, "nothing": None},
        suggested_text="It was the best of times, indeed." if span else None,
    )


def built_voice(folder: Path, *, controls: bool = True, only_chosen: bool = False) -> BuiltVoice:
    """Three chosen clips, one left over, four refused: another voice, a wrong text, no audio, no speech."""
    chosen = [
        candidate(
            "clips/a.wav",
            TEXTS[0],
            2.5,
            controls=controls,
            licence="CC0",
            consent="signed 2026-01-02",
            take=1,
        ),
        candidate(f"clips/{EVIL}.wav", TEXTS[1], 3.1, controls=controls, licence="CC0", consent=EVIL, take=2),
        candidate("clips/" + "very-long-name-" * 12 + ".wav", TEXTS[2], 2.2, controls=controls),
    ]
    chosen[0].findings = (
        finding("RP202", "low-snr", Severity.WARNING, chosen[0].path),
        finding("RP103", "uncovered-audio-gap", Severity.WARNING, chosen[0].path, Span(1.0, 1.4)),
    )
    chosen[2].quality, chosen[2].text_origin = quality(None, None), "asr:toy-asr"
    chosen[2].converted_from = "44100 Hz PCM_24"
    spare = candidate("clips/spare.wav", "We had nothing before us.", 2.0, controls=controls)
    stranger = candidate("clips/stranger.wav", "Me to play.", 2.0, cosine=0.51, controls=controls)
    stranger.findings = (finding("RP301", "mixed-speakers", Severity.ERROR, stranger.path),)
    unwritten = candidate("clips/unwritten.wav", "It was", 2.0, controls=controls)
    unwritten.identity = None
    unwritten.findings = (
        finding("RP101", "uncovered-audio-tail", Severity.ERROR, unwritten.path, Span(0.6, 2.0)),
    )
    broken = Candidate(Utterance(Path("clips/broken.wav"), None, speaker="x/y/f/z"), "clips/broken.wav")
    broken.findings = (finding("RP001", "unreadable-audio", Severity.ERROR, broken.path),)
    others = [] if only_chosen else [spare, stranger, unwritten, broken]
    candidates = (*chosen, *others)
    compared = tuple(i for i, c in enumerate(candidates) if c.identity is not None)
    cosines = np.full((len(compared), len(compared)), 0.88)
    for row, index in enumerate(compared):
        if candidates[index] is stranger:
            cosines[row, :] = cosines[:, row] = 0.51
    np.fill_diagonal(cosines, 1.0)
    reference = join_clips(
        [c.clip for c in chosen if c.clip is not None],
        [c.text for c in chosen],
        gap=SilencePolicy.parse("zeros-120ms", option="--gap"),
        tail=SilencePolicy.parse("zeros-160ms", option="--tail"),
        language="en",
    )
    clip = reference_clip(reference)
    return BuiltVoice(
        folder=folder,
        reference=reference,
        selection=Selection((0, 1, 2), 0.88, clip.duration_s, True, "Proven optimal over 4 candidates."),
        candidates=candidates,
        chosen=(0, 1, 2),
        compared=compared,
        cosines=cosines,
        controls=("en/harold", EVIL) if controls else (),
        joined_check=text_check(reference.text, clip.duration_s),
        models={"transcriber": "toy-asr", "aligner": "toy", "speaker_encoder": "toy-ge2e"},
        weights={"toy-asr": {"model.bin": "0" * 64}},
        threshold=0.72,
    )


def written_document(
    voice: BuiltVoice, folder: Path, *, speaker: str = "corpus/gb/m/reader"
) -> dict[str, Any]:
    """voice.json of a voice, its audio and text written to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    reference = voice.reference
    write_wav(folder / AUDIO_NAME, reference.samples, reference.sample_rate_hz, reference.sample_format)
    (folder / TEXT_NAME).write_text(reference.text + "\n", encoding="utf-8")
    return voice_document(voice, speaker=speaker, written=folder)
