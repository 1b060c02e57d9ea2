"""Clips -> a verified voice: the whole pipeline as one function, read top to bottom.

decode, admit, prove identity, check texts, measure signals, select, join, check the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from refprep.config import BuildConfig
from refprep.dsp.resample import resample as resample_samples
from refprep.errors import AudioDecodeError, UsageError
from refprep.identity.verifier import Verifier
from refprep.manifest import Utterance
from refprep.pipeline.candidate import Candidate, NoVoiceError, majority
from refprep.pipeline.decode import decode_file, pcm_sha256
from refprep.pipeline.join import join_clips
from refprep.pipeline.joined import JoinedCheck, check_joined
from refprep.pipeline.listen import Listener
from refprep.pipeline.near_duplicates import NearDuplicate, find_near_duplicates
from refprep.pipeline.prove import VoiceProof, prove_identity
from refprep.pipeline.select import ClipPool, LengthWindow, Selection, SelectionResolution, select_nested
from refprep.pipeline.silence_policy import DEFAULT_TAIL_MS, SilencePolicy
from refprep.text.ngrams import text_ngrams
from refprep.types import BACKEND_MODES, Admission, ConsentCase, Reference, SampleFormat, freeze, gates_text

_NESTED_SLACK = 0.2
"""A nested reference may miss its target by this part of it."""


@dataclass(frozen=True, slots=True, eq=False)
class BuiltVoice:
    """A voice and how it came about.

    Attributes:
        folder: Where it is to be written, or was.
        reference: The joined clips.
        selections: The choice and its proof; of nested references one for each, the longest last.
        candidates: Every clip given, in order, with what was found.
        chosen: Indices of the candidates in the reference, in its order.
        proof: Who was compared, and how alike they are.
        verifiers: Speaker encoders with their thresholds, the deciding one first.
        joined: The reference as a whole, text and voice.
        models: Role -> name.
        weights: Model -> file -> SHA-256.
        nested_s: Targets of the nested references; empty where there are none.
        duplicates: (candidate, candidate, why) of near-duplicates, of which one at most was chosen.
    """

    folder: Path
    reference: Reference
    selections: tuple[Selection, ...]
    candidates: tuple[Candidate, ...]
    chosen: tuple[int, ...]
    proof: VoiceProof
    verifiers: tuple[Verifier, ...]
    joined: JoinedCheck
    models: Mapping[str, str]
    weights: Mapping[str, Mapping[str, str]]
    nested_s: tuple[float, ...] = ()
    duplicates: tuple[tuple[int, int, str], ...] = ()

    @property
    def selection(self) -> Selection:
        """Of the whole reference."""
        return self.selections[-1]


def assemble_voice(
    utterances: Sequence[Utterance],
    folder: Path,
    *,
    listener: Listener,
    verifiers: Sequence[Verifier],
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
        verifiers: Speaker encoders with their thresholds; the first decides, every further one has to agree.
        config: Length window, gaps, consent.
        controls: Clips of people it must not be.
        anchor: Path of a clip that is known to be the target voice.
        resample: Convert clips of another rate or format instead of refusing them.
        weights: Model -> file -> SHA-256, written into the voice.
        on_step: Told what is being done.

    Returns:
        The voice, with every clip's findings.

    Raises:
        NoVoiceError: No set of clips makes an admissible reference, or the joined one is not what its clips are.
        UsageError: Options that do not fit together, or an encoder without a threshold.
    """
    gap = SilencePolicy.parse(config.gap, option="--gap")
    tail = SilencePolicy.parse(config.tail, option="--tail", default_ms=DEFAULT_TAIL_MS)
    windows = length_windows(config, gap, tail)
    first = verifiers[0]
    text_gate = _text_gate(config.backend)
    candidates = [Candidate(u, str(u.audio), gates_text=text_gate) for u in utterances]

    _decode(candidates, listener, config, on_step)
    _admit(candidates, config, resample=resample)
    proof = prove_identity(candidates, controls, verifiers, listener, anchor=anchor, on_step=on_step)
    _check_texts(candidates, listener, on_step)

    on_step("select")
    admissible = [i for i in proof.compared if candidates[i].refusal is None]
    duplicates = find_near_duplicates(
        [candidates[i].decoded for i in admissible], [candidates[i].text for i in admissible]
    )
    selections = choose_clips(candidates, admissible, proof, first, windows, duplicates)
    if selections is None:
        raise _no_voice(candidates, admissible, windows, first.threshold)
    order = in_order([s.chosen for s in selections])
    chosen = tuple(admissible[i] for i in order)

    on_step("join")
    reference = join_clips(
        [candidates[i].decoded for i in chosen],
        [candidates[i].text for i in chosen],
        gap=gap,
        tail=tail,
        language=majority([candidates[i].language for i in chosen]),
        speech=[candidates[i].speech for i in chosen],
        nested=[len(s.chosen) for s in selections[:-1]],
    )
    on_step("check the whole")
    prints = [proof.prints[proof.compared.index(i)] for i in chosen]
    joined = check_joined(reference, prints, listener, first, gates_text=text_gate)
    if joined.fault is not None:
        raise NoVoiceError(
            f"the joined reference is not what its clips are: {joined.fault.code} {joined.fault.message}",
            where=str(folder),
            fix=f"Leave out {candidates[chosen[0]].path}, or one of the other {len(chosen) - 1} chosen clips; "
            "nothing was written.",
            candidates=candidates,
        )
    return BuiltVoice(
        folder=folder,
        reference=reference,
        selections=selections,
        candidates=tuple(candidates),
        chosen=chosen,
        proof=proof,
        verifiers=tuple(verifiers),
        joined=joined,
        models={**listener.models, "speaker_encoder": first.model},
        weights=weights or {},
        nested_s=config.nested,
        duplicates=tuple((admissible[d.first], admissible[d.second], d.message) for d in duplicates),
    )


def _text_gate(backend: str) -> bool:
    if backend and backend not in BACKEND_MODES:
        raise UsageError(
            f"the backend {backend!r} is unknown", where="--backend", fix=f"Use {' or '.join(BACKEND_MODES)}."
        )
    return gates_text(backend)


def length_windows(config: BuildConfig, gap: SilencePolicy, tail: SilencePolicy) -> tuple[LengthWindow, ...]:
    """The length window of the reference, or one for every nested reference, the shortest first.

    Where a nested reference ends, the tail takes the place of the gap: the longer ones are longer by that much.

    Raises:
        UsageError: Targets that do not rise or lie outside of the whole window.
    """
    if not config.nested:
        if not config.min_s <= config.target_s <= config.max_s:
            raise UsageError(
                f"target {config.target_s:g} s outside {config.min_s:g}-{config.max_s:g} s",
                where="--target",
                fix="Write --min <= --target <= --max.",
            )
        return (LengthWindow(config.min_s, config.max_s, config.target_s, gap.duration_s, tail.duration_s),)
    for shorter_s, longer_s in pairwise((0.0, *config.nested)):
        if longer_s * (1 - _NESTED_SLACK) <= shorter_s * (1 + _NESTED_SLACK):
            raise UsageError(
                f"{', '.join(f'{t:g}' for t in config.nested)} s are too close to each other",
                where="--nested",
                fix="Write lengths that rise by half at least, such as 12,30.",
            )
    if not config.min_s <= config.nested[0] <= config.nested[-1] <= config.max_s:
        raise UsageError(
            f"{', '.join(f'{t:g}' for t in config.nested)} s outside {config.min_s:g}-{config.max_s:g} s",
            where="--nested",
            fix="Widen --min and --max.",
        )
    more_s = tail.duration_s - gap.duration_s
    return tuple(
        LengthWindow(
            max(config.min_s, target_s * (1 - _NESTED_SLACK)),
            min(config.max_s, target_s * (1 + _NESTED_SLACK)),
            target_s,
            gap.duration_s,
            tail.duration_s + k * more_s,
        )
        for k, target_s in enumerate(config.nested)
    )


def in_order(sets: Sequence[Sequence[int]]) -> list[int]:
    """The members of growing sets: those of the first in their order, then what each further one adds."""
    order: list[int] = []
    for members in sets:
        order += [i for i in members if i not in order]
    return order


# --------------------------------------------------------------------------- the steps


def _decode(
    candidates: Sequence[Candidate], listener: Listener, config: BuildConfig, on_step: Callable[[str], None]
) -> None:
    for candidate in candidates:
        on_step(f"decode {candidate.path}")
        candidate.judge([ConsentCase(candidate.utterance.consent, config.require_consent)])
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
        candidate.quality = listener.quality(clip, candidate.text, language=candidate.language)
        candidate.judge([candidate.check, candidate.quality])


# --------------------------------------------------------------------------- parts


def choose_clips(
    candidates: Sequence[Candidate],
    admissible: Sequence[int],
    proof: VoiceProof,
    verifier: Verifier,
    windows: Sequence[LengthWindow],
    duplicates: Sequence[NearDuplicate],
) -> tuple[Selection, ...] | None:
    """The best set of the admissible candidates for every window; None where there is none."""
    threshold = verifier.threshold
    pool = ClipPool(
        durations_s=[candidates[i].decoded.duration_s for i in admissible],
        scores=proof.pair_scores(admissible, below=threshold - 1.0),
        deficits=[candidates[i].deficit for i in admissible],
        ngrams=[text_ngrams(candidates[i].text) for i in admissible],
        duplicates=[(d.first, d.second) for d in duplicates],
    )
    # Scores of one voice vary by the margin from sentence to sentence: less is no reason to prefer a set.
    resolution = SelectionResolution(score=verifier.min_margin)
    return select_nested(pool, windows=windows, threshold=threshold, resolution=resolution)


def _no_voice(
    candidates: Sequence[Candidate],
    admissible: Sequence[int],
    windows: Sequence[LengthWindow],
    threshold: float,
) -> NoVoiceError:
    window = windows[-1]
    total_s = window.total_s([candidates[i].decoded.duration_s for i in admissible])
    if total_s < window.min_s:
        what = (
            f"{len(admissible)} of {len(candidates)} clips are admissible and make {total_s:.1f} s, "
            f"{window.min_s:g} s are needed"
        )
        fix = "Add clips, mend the refused ones, or lower --min."
    else:
        wanted = " and ".join(f"{w.min_s:g}-{w.max_s:g} s" for w in windows)
        what = f"no set of the {len(admissible)} admissible clips has {wanted} with every pair above {threshold:.3f}"
        fix = "Add clips, widen --min and --max, or lower --threshold knowing what it costs."
    where = candidates[0].path if candidates else "build"
    return NoVoiceError(what, where=where, fix=fix, candidates=candidates)
