"""Clips -> a verified voice: the whole pipeline as one function, read top to bottom.

decode, admit, prove identity, check texts, measure signals, select, join, check the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from refprep.config import BuildConfig
from refprep.dsp.resample import resample as resample_samples
from refprep.errors import AudioDecodeError, NoReferenceError, UsageError
from refprep.manifest import Utterance
from refprep.pipeline.candidate import Candidate, majority
from refprep.pipeline.decode import decode_file, pcm_sha256
from refprep.pipeline.identity import Matrix, cosine_matrix, group_voices, measure_identity
from refprep.pipeline.join import SilencePolicy, join_clips
from refprep.pipeline.listen import Listener
from refprep.pipeline.quality import measure_quality
from refprep.pipeline.select import LengthWindow, Selection, select_clips
from refprep.protocols import SpeakerEncoder
from refprep.types import (
    Admission,
    AudioSource,
    Clip,
    Downmix,
    IdentityCase,
    Reference,
    SampleFormat,
    TextCheck,
    Voiceprint,
    freeze,
)

# With this much speech of a second voice beside the first, which one is meant is a guess.
_RIVAL_SHARE = 0.8
# Unreadable, no speech, a twin, too short.
_NOTHING_TO_EMBED = frozenset({"RP001", "RP211", "RP403", "RP404"})


@dataclass(frozen=True, slots=True, eq=False)
class BuiltVoice:
    """A voice and how it came about.

    Attributes:
        folder: Where it is to be written, or was.
        reference: The joined clips.
        selection: The choice and its proof.
        candidates: Every clip given, in order, with what was found.
        chosen: Indices of the candidates in the reference.
        compared: Indices of the candidates that ``cosines`` is about.
        cosines: (len(compared), len(compared)) pair scores.
        controls: Names of the control speakers.
        joined_check: The reference as a whole, text against audio.
        models: Role -> name.
        weights: Model -> file -> SHA-256.
        threshold: Lowest cosine of a pair.
    """

    folder: Path
    reference: Reference
    selection: Selection
    candidates: tuple[Candidate, ...]
    chosen: tuple[int, ...]
    compared: tuple[int, ...]
    cosines: Matrix
    controls: tuple[str, ...]
    joined_check: TextCheck
    models: Mapping[str, str]
    weights: Mapping[str, Mapping[str, str]]
    threshold: float


class NoVoiceError(NoReferenceError):
    """No admissible reference; ``candidates`` says why, clip by clip."""

    def __init__(self, what: str, *, where: str, fix: str, candidates: Sequence[Candidate] = ()) -> None:
        super().__init__(what, where=where, fix=fix)
        self.candidates = tuple(candidates)


def assemble_voice(
    utterances: Sequence[Utterance],
    folder: Path,
    *,
    listener: Listener,
    encoder: SpeakerEncoder,
    config: BuildConfig,
    controls: Sequence[Utterance] = (),
    anchor: Path | None = None,
    resample: bool = False,
    weights: Mapping[str, Mapping[str, str]] | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> BuiltVoice:
    """Assemble a verified voice from clips; nothing is written.

    Args:
        utterances: The clips; those without a text are transcribed.
        folder: Where the voice will go: paths in its findings are told relative to it.
        listener: Voice activity, recogniser, aligner.
        encoder: Speaker encoder.
        config: Length window, gaps, threshold.
        controls: Clips of people it must not be.
        anchor: Path of a clip that is known to be the target voice.
        resample: Convert clips of another rate or format instead of refusing them.
        weights: Model -> file -> SHA-256, written into the voice.
        on_step: Told what is being done.

    Returns:
        The voice, with every clip's findings.

    Raises:
        NoVoiceError: No set of clips makes an admissible reference.
        UsageError: Options that do not fit together, or an encoder without a threshold.
    """
    gap = SilencePolicy.parse(config.gap, option="--gap")
    tail = SilencePolicy.parse(config.tail, option="--tail")
    threshold = config.threshold if config.threshold is not None else encoder.default_threshold
    if threshold is None:
        raise UsageError(
            f"nobody measured a threshold for {encoder.name}",
            where="--threshold",
            fix="Give one, measured on pairs of your own with `refprep bench identity`.",
        )
    if not config.min_s <= config.target_s <= config.max_s:
        raise UsageError(
            f"target {config.target_s:g} s outside {config.min_s:g}-{config.max_s:g} s",
            where="--target",
            fix="Write --min <= --target <= --max.",
        )
    candidates = [Candidate(u, str(u.audio)) for u in utterances]
    window = LengthWindow(config.min_s, config.max_s, config.target_s, gap.duration_s, tail.duration_s)

    _decode(candidates, listener, on_step)
    _admit(candidates, config, resample=resample)
    prints = _embed(candidates, encoder, on_step)
    control_prints = _embed_controls(controls, listener, encoder, on_step)
    cosines = _prove_identity(candidates, prints, control_prints, encoder, threshold, anchor)
    _check_texts(candidates, listener, on_step)

    on_step("select")
    admissible = [i for i in prints if candidates[i].refusal is None]
    position = {index: row for row, index in enumerate(prints)}
    rows = [position[i] for i in admissible]
    selection = select_clips(
        [candidates[i].decoded.duration_s for i in admissible],
        cosines[np.ix_(rows, rows)],
        [candidates[i].quality_score for i in admissible],
        window=window,
        threshold=threshold,
    )
    if selection is None:
        raise _no_voice(candidates, admissible, window, threshold)
    chosen = tuple(admissible[i] for i in selection.chosen)

    on_step("join")
    language = majority([candidates[i].language for i in chosen])
    reference = join_clips(
        [candidates[i].decoded for i in chosen],
        [candidates[i].text for i in chosen],
        gap=gap,
        tail=tail,
        language=language,
    )
    return BuiltVoice(
        folder=folder,
        reference=reference,
        selection=selection,
        candidates=tuple(candidates),
        chosen=chosen,
        compared=tuple(prints),
        cosines=cosines,
        controls=tuple(control_prints),
        joined_check=_check_joined(reference, listener),
        models={**listener.models, "speaker_encoder": encoder.name},
        weights=weights or {},
        threshold=threshold,
    )


# --------------------------------------------------------------------------- the steps


def _decode(candidates: Sequence[Candidate], listener: Listener, on_step: Callable[[str], None]) -> None:
    for candidate in candidates:
        on_step(f"decode {candidate.path}")
        try:
            candidate.clip = decode_file(candidate.path)
            candidate.source_pcm_sha256 = candidate.clip.id
        except AudioDecodeError as error:
            candidate.judge([error])
            continue
        candidate.speech = listener.speech(candidate.clip)
        candidate.judge([candidate.clip.source, candidate.utterance])


def _admit(candidates: Sequence[Candidate], config: BuildConfig, *, resample: bool) -> None:
    """Hold every clip against the format of most of the speech, against its twins, and against the least length."""
    decoded = [c for c in candidates if c.clip is not None]
    if not decoded:
        return
    weights: dict[tuple[int, SampleFormat], float] = {}
    for candidate in decoded:
        clip = candidate.decoded
        key = (clip.sample_rate_hz, clip.source.sample_format)
        weights[key] = weights.get(key, 0.0) + clip.duration_s
    rate_hz, sample_format = max(weights, key=lambda k: (weights[k], k[0], k[1].value))
    seen: dict[str, str] = {}
    for candidate in decoded:
        clip = candidate.decoded
        if resample and (clip.sample_rate_hz, clip.source.sample_format) != (rate_hz, sample_format):
            _convert(candidate, rate_hz)
            clip = candidate.decoded
        admission = Admission(
            speech_s=candidate.speech_s,
            min_clip_s=config.min_clip_s,
            sample_rate_hz=clip.sample_rate_hz,
            reference_rate_hz=rate_hz,
            sample_format=sample_format if resample else clip.source.sample_format,
            reference_format=sample_format,
            duplicate_of=seen.get(clip.id, ""),
        )
        seen.setdefault(clip.id, candidate.path)
        candidate.judge([admission])


def _convert(candidate: Candidate, rate_hz: int) -> None:
    """Bring a clip to the reference's rate; what it was is kept for voice.json."""
    clip = candidate.decoded
    candidate.converted_from = f"{clip.sample_rate_hz} Hz {clip.source.sample_format.value}"
    if clip.sample_rate_hz == rate_hz:
        return  # only the format differs; the joined file takes the wider one, which holds every sample
    samples = freeze(resample_samples(clip.samples, clip.sample_rate_hz, rate_hz))
    candidate.clip = replace(
        clip,
        id=pcm_sha256(samples, rate_hz),
        samples=samples,
        sample_rate_hz=rate_hz,
        source=replace(clip.source, sample_format=SampleFormat.FLOAT),
    )


def _check_texts(candidates: Sequence[Candidate], listener: Listener, on_step: Callable[[str], None]) -> None:
    """Hold the given texts against the audio; write a text where nobody did; measure the signal."""
    for candidate in candidates:
        if candidate.refusal is not None:
            continue  # listening is the dear part
        on_step(f"listen {candidate.path}")
        clip, given = candidate.decoded, candidate.utterance.text
        language = candidate.utterance.language
        if given is None:
            given = listener.transcribe(clip, language=language).text
            candidate.text_origin = f"asr:{listener.transcriber.name}"
        else:
            candidate.text_origin = "user"
        candidate.text = " ".join(given.split())
        candidate.check = listener.check(clip, candidate.text, language=language)
        candidate.quality = measure_quality(
            clip, candidate.speech, text=candidate.text, language=candidate.language
        )
        candidate.judge([candidate.check, candidate.quality])


def _embed(
    candidates: Sequence[Candidate], encoder: SpeakerEncoder, on_step: Callable[[str], None]
) -> dict[int, Voiceprint]:
    """Voiceprints by index: also of clips refused for their format, since whose voice they hold is worth knowing."""
    prints: dict[int, Voiceprint] = {}
    for index, candidate in enumerate(candidates):
        if candidate.clip is None or any(f.code in _NOTHING_TO_EMBED for f in candidate.refusals):
            continue
        on_step(f"embed {candidate.path}")
        try:
            candidate.voiceprint = encoder.embed(candidate.decoded, candidate.speech)
        except AudioDecodeError as error:
            candidate.judge([error])
            continue
        prints[index] = candidate.voiceprint
    return prints


def _embed_controls(
    controls: Sequence[Utterance], listener: Listener, encoder: SpeakerEncoder, on_step: Callable[[str], None]
) -> dict[str, Voiceprint]:
    """Voiceprints of the control speakers, by name: the manifest's speaker id, else the file's name.

    Raises:
        AudioDecodeError: A control that cannot be read; without it the proof would silently be weaker.
    """
    found: dict[str, Voiceprint] = {}
    for control in controls:
        on_step(f"control {control.audio}")
        clip = decode_file(control.audio)
        name = control.speaker or control.audio.stem
        found[name if name not in found else f"{name} ({control.audio.name})"] = encoder.embed(
            clip, listener.speech(clip)
        )
    return found


def _prove_identity(
    candidates: Sequence[Candidate],
    prints: Mapping[int, Voiceprint],
    controls: Mapping[str, Voiceprint],
    encoder: SpeakerEncoder,
    threshold: float,
    anchor: Path | None,
) -> Matrix:
    """Find the target voice, judge every clip against it; returns the cosines of ``prints``."""
    order = list(prints)
    vectors = list(prints.values())
    if not order:
        return cosine_matrix([])
    groups = group_voices(vectors, threshold=threshold, anchor=_anchor_row(candidates, order, anchor))
    if anchor is None and groups.rival_share > _RIVAL_SHARE:
        raise NoVoiceError(
            f"two voices with about as much speech (the smaller has {groups.rival_share:.0%} of the larger's)",
            where=candidates[order[0]].path,
            fix="Name a clip of the voice you want with --anchor.",
            candidates=candidates,
        )
    for row, index in enumerate(order):
        candidate = candidates[index]
        candidate.identity = measure_identity(row, vectors, groups.target, controls)
        case = IdentityCase(
            identity=candidate.identity,
            is_target=row in groups.target,
            threshold=threshold,
            window_threshold=encoder.window_threshold,
        )
        candidate.judge([case])
    return groups.cosines


def _anchor_row(candidates: Sequence[Candidate], order: Sequence[int], anchor: Path | None) -> int | None:
    if anchor is None:
        return None
    for row, index in enumerate(order):
        if Path(candidates[index].path).resolve() == anchor.resolve():
            return row
    raise UsageError(
        "the anchor is none of the clips that are still in",
        where=str(anchor),
        fix="Name one of the given clips that was not refused.",
    )


def _check_joined(reference: Reference, listener: Listener) -> TextCheck:
    """Hold the whole text against the whole reference, over the joins."""
    return listener.check(reference_clip(reference), reference.text, language=reference.language)


def reference_clip(reference: Reference) -> Clip:
    """A reference as a clip, for the stages that read clips."""
    return Clip(
        id=pcm_sha256(reference.samples, reference.sample_rate_hz),
        source=AudioSource(
            path="reference.wav",
            file_sha256="",
            container="wav",
            codec=reference.sample_format.value.lower(),
            sample_format=reference.sample_format,
            num_channels=1,
            declared_duration_s=reference.duration_s,
            decoded_duration_s=reference.duration_s,
            downmix=Downmix.NONE,
            channel_peaks=(float(np.max(np.abs(reference.samples), initial=0.0)),),
        ),
        samples=reference.samples,
        sample_rate_hz=reference.sample_rate_hz,
    )


# --------------------------------------------------------------------------- parts


def _no_voice(
    candidates: Sequence[Candidate], admissible: Sequence[int], window: LengthWindow, threshold: float
) -> NoVoiceError:
    total_s = window.total_s([candidates[i].decoded.duration_s for i in admissible])
    if total_s < window.min_s:
        what = (
            f"{len(admissible)} of {len(candidates)} clips are admissible and make {total_s:.1f} s, "
            f"{window.min_s:g} s are needed"
        )
        fix = "Add clips, mend the refused ones, or lower --min."
    else:
        what = (
            f"no set of the {len(admissible)} admissible clips has {window.min_s:g}-{window.max_s:g} s with every pair "
            f"above {threshold:.3f}"
        )
        fix = "Add clips, widen --min and --max, or lower --threshold knowing what it costs."
    where = candidates[0].path if candidates else "build"
    return NoVoiceError(what, where=where, fix=fix, candidates=candidates)
