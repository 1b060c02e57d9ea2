"""Files -> trials: labelled pairs, or pieces of a cohort's clips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from refprep.bench.identity import IdentityPair, embed_clips
from refprep.errors import UsageError
from refprep.identity.cohort import Cohort, make_cohort
from refprep.identity.trials import Trial
from refprep.manifest import Utterance
from refprep.pipeline.decode import decode_file
from refprep.protocols import SpeakerEncoder, VoiceActivity
from refprep.types import Clip, Span, Voiceprint

PIECE_LENGTHS_S = (1.0, 1.6, 2.4, 3.2, 5.0)
"""Seconds of speech in a piece: one partial of GE2E is 1.6 s, a short clip 3 s."""


class Member:
    """One clip of a person of the cohort.

    Attributes:
        name: Speaker id of the manifest, else the file's name.
        language: As stated; empty when nobody did.
        clip: Its audio.
        speech: Voice activity.
    """

    def __init__(self, utterance: Utterance, voice_activity: VoiceActivity) -> None:
        self.name = utterance.speaker or utterance.audio.stem
        self.language = utterance.language
        self.clip: Clip = decode_file(utterance.audio)
        self.speech: tuple[Span, ...] = voice_activity.speech_spans(self.clip)


def read_members(
    utterances: Sequence[Utterance],
    voice_activity: VoiceActivity,
    *,
    on_clip: Callable[[str], None] = lambda _: None,
) -> list[Member]:
    """The people of a cohort: the first clip of every speaker.

    Raises:
        AudioDecodeError: One of them is no usable audio.
    """
    found: dict[str, Member] = {}
    for utterance in utterances:
        if (utterance.speaker or utterance.audio.stem) not in found:
            member = Member(utterance, voice_activity)
            found[member.name] = member
        on_clip(str(utterance.audio))
    return list(found.values())


def cohort_of(members: Sequence[Member], encoder: SpeakerEncoder) -> Cohort:
    """Embed a cohort.

    Raises:
        UsageError: Too few people.
    """
    return make_cohort(encoder.name, {m.name: encoder.embed(m.clip, m.speech).vector for m in members})


def piece_trials(
    members: Sequence[Member],
    cohort: Cohort,
    encoder: SpeakerEncoder,
    *,
    on_length: Callable[[str], None] = lambda _: None,
) -> list[Trial]:
    """Trials between the beginnings and the ends of the members' clips, for every length of ``PIECE_LENGTHS_S``.

    The beginning and the end of one clip are one person in one session; those of two people of one language are two.
    """
    numbers = {name: k for k, name in enumerate(cohort.names)}
    trials: list[Trial] = []
    for length_s in PIECE_LENGTHS_S:
        on_length(f"{length_s:g} s")
        pieces: dict[str, tuple[Voiceprint, Voiceprint]] = {}
        for member in members:
            if member.name in numbers and sum(s.duration_s for s in member.speech) >= 2 * length_s:
                first, last = take_speech(member.speech, length_s), take_speech(member.speech, -length_s)
                pieces[member.name] = (encoder.embed(member.clip, first), encoder.embed(member.clip, last))
        languages = {m.name: m.language for m in members}
        for name, (first_print, last_print) in pieces.items():
            trials.append(Trial(first_print, last_print, True, (numbers[name],)))
        for a, b in combinations(pieces, 2):
            if languages[a] == languages[b]:
                pair = (numbers[a], numbers[b])
                trials.append(Trial(pieces[a][0], pieces[b][1], False, pair))
                trials.append(Trial(pieces[b][0], pieces[a][1], False, pair))
    return trials


def take_speech(speech: Sequence[Span], length_s: float) -> tuple[Span, ...]:
    """The first seconds of speech, or the last ones where ``length_s`` is negative."""
    left_s = abs(length_s)
    taken: list[Span] = []
    for span in speech if length_s > 0 else reversed(speech):
        if left_s <= 1e-9:
            break
        part_s = min(left_s, span.duration_s)
        taken.append(
            Span(span.start_s, span.start_s + part_s)
            if length_s > 0
            else Span(span.end_s - part_s, span.end_s)
        )
        left_s -= part_s
    return tuple(sorted(taken, key=lambda s: s.start_s))


def pair_trials(
    pairs: Sequence[IdentityPair],
    encoder: SpeakerEncoder,
    voice_activity: VoiceActivity,
    *,
    on_clip: Callable[[str], None] = lambda _: None,
) -> tuple[list[Trial], list[str]]:
    """Trials of labelled pairs, and the clips that could not be embedded, with the reason.

    Raises:
        UsageError: None could.
    """
    prints, failed = embed_clips(pairs, encoder, voice_activity, on_clip=on_clip)
    trials = [
        Trial(prints[p.path_a][0], prints[p.path_b][0], p.is_same)
        for p in pairs
        if p.path_a in prints and p.path_b in prints
    ]
    if not trials:
        raise UsageError("no pair could be embedded", where="calibrate", fix="Check the paths of its clips.")
    return trials, failed
