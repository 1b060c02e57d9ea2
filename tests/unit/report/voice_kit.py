"""A built voice of tones: every part of voice.json has something in it, and no recording is needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fakes import FakeEncoder, unit

from refprep.identity.calibration import Calibration
from refprep.identity.cohort import Cohort
from refprep.identity.verifier import Verifier
from refprep.linter.rule import Finding, Severity
from refprep.manifest import Utterance
from refprep.pipeline.build import BuiltVoice
from refprep.pipeline.candidate import Candidate
from refprep.pipeline.certificate import SelectionStep
from refprep.pipeline.decode import pcm_sha256
from refprep.pipeline.join import join_clips
from refprep.pipeline.joined import JoinedCheck
from refprep.pipeline.prove import VoiceProof
from refprep.pipeline.select import Selection
from refprep.pipeline.silence_policy import SilencePolicy
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
    Voiceprint,
    Word,
    freeze,
)
from refprep.voice.document import voice_document
from refprep.voice.names import AUDIO_NAME, TEXT_NAME, nested_names

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


def quality(
    snr_db: float | None = 38.5, pace_per_s: float | None = 4.2, loudness_lufs: float = -21.3
) -> QualityReport:
    return QualityReport(
        loudness_lufs=loudness_lufs if snr_db is not None else -math.inf,
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


def identity(
    clip_id: str, score: float, controls: dict[str, float], *, model: str = "toy-ge2e", scale: str = "cosine"
) -> Identity:
    step = 1.0 if scale == "cosine" else 10.0  # scores of as-norm spread about ten times as wide
    return Identity(
        clip_id=clip_id,
        model=model,
        scale=scale,
        min_pairwise_score=score,
        mean_pairwise_score=score + 0.01 * step,
        centroid_score=score + 0.03 * step,
        min_window_score=score - 0.1 * step,
        worst_window=Span(0.0, 1.0),
        control_scores=controls,
    )


def candidate(
    path: str, text: str, seconds: float, *, score: float = 0.88, controls: bool = True, **extra: Any
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
        identities=(identity(clip.id, score, scores),),
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


def steps(score: float, *, is_optimal: bool = True, resolution: float = 0.01) -> tuple[SelectionStep, ...]:
    """A certificate; one whose search was cut short knows no bound of the variety."""
    return (
        SelectionStep("lowest_pair_score", score, "score", resolution, round(score + resolution, 4), True),
        SelectionStep("closeness", 0.16, "s", 0.25, 0.0, True),
        SelectionStep("quality", 12.5, "point-seconds", 10.0, 10.0, True),
        SelectionStep("variety", 61.0, "n-grams", 10.0, 68.0 if is_optimal else None, is_optimal),
    )


def proof(
    candidates: Sequence[Candidate], *, threshold: float, same: float, other: float, controls: Sequence[str]
) -> VoiceProof:
    """Everybody with an identity was compared; whoever's own score is below the threshold is somebody else."""
    compared = tuple(i for i, c in enumerate(candidates) if c.identity is not None)
    is_strange = np.array(
        [(candidates[i].identities[0].min_pairwise_score or 0.0) < threshold for i in compared]
    )
    scores = np.where(is_strange[:, None] | is_strange[None, :], other, same)
    # A little unlike each other, as real ones are; the same both ways.
    wave = np.cos(np.arange(len(compared)))
    scores = scores + 0.02 * same * np.outer(wave, wave)
    np.fill_diagonal(scores, 1.0 if same <= 1.0 else 3.0 * same)
    prints = tuple(
        Voiceprint("", "toy-ge2e", unit([1, 0, 0, 0]), np.zeros((0, 4), np.float32), (), 2.0)
        for _ in compared
    )
    return VoiceProof(compared, scores, scores >= threshold, prints, tuple(controls))


def built_voice(folder: Path, *, controls: bool = True, only_chosen: bool = False) -> BuiltVoice:
    """Three chosen clips, one left over, three refused: another voice, a wrong text, no audio. Plain cosines."""
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
    stranger = candidate("clips/stranger.wav", "Me to play.", 2.0, score=0.51, controls=controls)
    stranger.findings = (finding("RP301", "mixed-speakers", Severity.ERROR, stranger.path),)
    unwritten = candidate("clips/unwritten.wav", "It was", 2.0, controls=controls)
    unwritten.identities = ()
    unwritten.findings = (
        finding("RP101", "uncovered-audio-tail", Severity.ERROR, unwritten.path, Span(0.6, 2.0)),
    )
    broken = Candidate(Utterance(Path("clips/broken.wav"), None, speaker="x/y/f/z"), "clips/broken.wav")
    broken.findings = (finding("RP001", "unreadable-audio", Severity.ERROR, broken.path),)
    candidates = (*chosen, *([] if only_chosen else [spare, stranger, unwritten, broken]))
    reference = join_clips(
        [c.decoded for c in chosen],
        [c.text for c in chosen],
        gap=SilencePolicy.parse("zeros-120ms", option="--gap"),
        tail=SilencePolicy.parse("zeros-160ms", option="--tail"),
        language="en",
    )
    text = text_check(reference.text, reference.duration_s)
    names = ("en/harold", EVIL) if controls else ()
    return BuiltVoice(
        folder=folder,
        reference=reference,
        selections=(
            Selection(
                (0, 1, 2), 0.88, reference.duration_s, True, "Proven optimal over 4 candidates.", steps(0.88)
            ),
        ),
        candidates=candidates,
        chosen=(0, 1, 2),
        proof=proof(candidates, threshold=0.72, same=0.88, other=0.51, controls=names),
        verifiers=(Verifier(FakeEncoder(name="toy-ge2e", default_threshold=0.72)),),
        joined=JoinedCheck(text, 0.78, Span(4.0, 5.0), 0.5, ()),
        models={"transcriber": "toy-asr", "aligner": "toy", "speaker_encoder": "toy-ge2e"},
        weights={"toy-asr": {"model.bin": "0" * 64}},
    )


def normed_voice(folder: Path) -> BuiltVoice:
    """Five chosen clips of fourteen, as-norm scores, two encoders, a nested reference, room tone, undecided text."""
    calibration = Calibration(
        model="toy-ge2e",
        probe=unit([1, 0, 0, 0]),
        cohort=Cohort(
            "toy-ge2e",
            tuple(f"p{k}" for k in range(10)),
            np.eye(4, dtype=np.float32)[[k % 4 for k in range(10)]],
        ),
        threshold=3.0,
        window_threshold=0.93,
        source=f"pieces of {EVIL}",
    )
    verifiers = (
        Verifier(FakeEncoder(name="toy-ge2e"), calibration),
        Verifier(FakeEncoder(name=f"second {EVIL}", default_threshold=0.72)),
    )
    words = "It was the age of wisdom and it was the age of foolishness".split()
    candidates = []
    for k in range(14):
        one = candidate(f"clips/{k:02}.wav", " ".join(words[k % 5 :]) + ".", 2.0 + 0.2 * (k % 6))
        score, second = (5.0 + 0.3 * (k % 4), 0.86) if k < 11 else (0.4 - k / 10, 0.41)
        if k == 10:
            second = 0.64  # the first encoder takes it for the voice, the second does not
        strangers = {"en/harold": -0.6, EVIL: 1.9, **({"es/ana": 2.4} if k % 2 else {})}
        one.identities = (
            identity(one.decoded.id, score, strangers, scale="as-norm"),
            identity(one.decoded.id, second, {"en/harold": 0.5}, model=verifiers[1].model),
        )
        one.quality = quality(
            38.5 - k % 3, 4.2 + 0.15 * (k % 3) + 2.9 * (k == 4), -21.3 + 0.3 * (k % 4) - 7.5 * (k == 2)
        )
        one.speech = (Span(0.3, one.decoded.duration_s),)
        if k >= 10:
            one.findings = (finding("RP304", "another-voice", Severity.ERROR, one.path),)
        candidates.append(one)
    chosen, inner = (0, 3, 6, 2, 4), (0, 3)
    reference = join_clips(
        [candidates[i].decoded for i in chosen],
        [candidates[i].text for i in chosen],
        gap=SilencePolicy.parse("room-tone-120ms", option="--gap"),
        tail=SilencePolicy.parse("room-tone-200ms", option="--tail"),
        language="en",
        speech=[candidates[i].speech for i in chosen],
        nested=[len(inner)],
    )
    heard = text_check(
        reference.text, reference.duration_s, Verdict.UNDECIDED, f"the recogniser does not know {EVIL}"
    )
    inner_s = reference.nested_samples(0) / RATE_HZ
    return BuiltVoice(
        folder=folder,
        reference=reference,
        selections=(
            Selection(
                inner, 5.3, inner_s, True, "Proven optimal over 10 candidates.", steps(5.3, resolution=0.2)
            ),
            Selection(
                chosen,
                5.0,
                reference.duration_s,
                False,
                "Not proven optimal: the time limit ended the search.",
                steps(5.0, is_optimal=False, resolution=0.2),
                inner,
            ),
        ),
        candidates=tuple(candidates),
        chosen=chosen,
        proof=proof(candidates, threshold=3.0, same=5.4, other=-0.4, controls=("en/harold", EVIL, "es/ana")),
        verifiers=verifiers,
        joined=JoinedCheck(
            heard,
            0.81,
            Span(4.0, 5.0),
            0.93,
            (finding("RP107", "undecided-text", Severity.WARNING, "reference.wav", Span(3.0, 4.0)),),
        ),
        models={"transcriber": "toy-asr", "aligner": "toy", "speaker_encoder": "toy-ge2e"},
        weights={"toy-asr": {"model.bin": "0" * 64}},
        nested_s=(4.0,),
        duplicates=((0, 1, f"same words {EVIL}"),),
    )


def written_document(
    voice: BuiltVoice, folder: Path, *, speaker: str = "corpus/gb/m/reader"
) -> dict[str, Any]:
    """voice.json of a voice, its audio and text written to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    reference = voice.reference
    write_wav(folder / AUDIO_NAME, reference.samples, reference.sample_rate_hz, reference.sample_format)
    (folder / TEXT_NAME).write_text(reference.text + "\n", encoding="utf-8")
    for number, target_s in enumerate(voice.nested_s):
        audio, text = nested_names(target_s)
        prefix = reference.samples[: reference.nested_samples(number)]
        write_wav(folder / audio, prefix, reference.sample_rate_hz, reference.sample_format)
        said = " ".join(c.text for c in reference.clips[: reference.nested[number]])
        (folder / text).write_text(said + "\n", encoding="utf-8")
    return voice_document(voice, speaker=speaker, written=folder)
