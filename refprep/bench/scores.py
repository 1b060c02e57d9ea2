"""Outputs with planted faults, and outputs without any: which of them `refprep score` finds, and for what it is.

Every reader's clips are shared out: every second one makes the reference, the others are outputs; then the other way
round, so that every clip is an output once. An output is scored as it is and with every fault of ``bench.score_cases``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refprep.bench.composites import SaidClip, place_words_of
from refprep.bench.score_cases import EXPECTED, PLAIN, ScoreCase, make_cases
from refprep.errors import ManifestError, RefprepError
from refprep.identity.verifier import Verifier
from refprep.manifest import Utterance
from refprep.pipeline.decode import decode_file
from refprep.pipeline.edges import speech_edges
from refprep.pipeline.join import join_clips
from refprep.pipeline.joined import reference_clip
from refprep.pipeline.listen import Listener
from refprep.pipeline.silence_policy import SilencePolicy
from refprep.scoring import ScoredOutput, ScoreTarget, score_output
from refprep.scoring.target import measure_target
from refprep.text.words import split_words
from refprep.types import Clip, OutputEdge, Reference

_MOST_REFERENCE_S, _LEAST_REFERENCE_S = 28.0, 5.0
_MOST_OUTPUT_S = 20.0
_TRUSTED = ("", "official", "verified")
_SILENCE = SilencePolicy("zeros", 120)


@dataclass(frozen=True, slots=True, eq=False)
class ReadClip:
    """A clip, what it says and who reads it."""

    utterance: Utterance
    clip: Clip

    @property
    def reader(self) -> str:
        """Speaker id."""
        return self.utterance.speaker

    @property
    def gender(self) -> str:
        """Of the speaker id corpus/country/gender/speaker; empty where it is another kind of id."""
        parts = self.reader.split("/")
        return parts[2] if len(parts) == 4 else ""


@dataclass(frozen=True, slots=True, eq=False)
class Voice:
    """A reader's reference and the clips that are outputs of it."""

    reader: str
    reference: Reference
    outputs: tuple[ReadClip, ...]
    strangers: tuple[Clip, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case.

    Attributes:
        kind: Of it.
        name: Of its clip.
        reader: Of it.
        found: It passed where it had to, else failed for its own reason.
        faults: Names of the errors.
        cut_error_s: Of a found leak: from its cut to the silence between leak and text; negative where it is early.
        words: Leaked or missing.
        said: What the findings say.
    """

    kind: str
    name: str
    reader: str
    found: bool
    faults: tuple[str, ...]
    cut_error_s: float | None
    words: str
    said: tuple[str, ...]


def read_voices(utterances: Sequence[Utterance], *, limit: int = 0) -> list[Voice]:
    """Share out every reader's clips.

    Rows without a text, or with a ``transcript_status`` other than ``official`` and ``verified``, rows made of others
    (a ``kind`` other than ``original``) and files that cannot be read are left out.

    Args:
        utterances: Of any number of readers.
        limit: At most so many outputs, as many of each voice as can be; 0 takes all.

    Raises:
        ManifestError: No reader has two clips, and a reference of 5 s among them.
    """
    clips = [ReadClip(u, clip) for u in utterances if _is_usable(u) and (clip := _decoded(u)) is not None]
    by_reader: dict[str, list[ReadClip]] = defaultdict(list)
    for read in clips:
        by_reader[read.reader].append(read)
    voices = [v for own in by_reader.values() for v in _voices(own, clips)]
    if not voices:
        raise ManifestError(
            "no reader has two clips with texts, and 5 s of reference among them",
            where="manifest",
            fix="Give rows with speaker ids corpus/country/gender/speaker and texts, several clips each.",
        )
    return _limited(voices, limit) if limit else voices


def _is_usable(utterance: Utterance) -> bool:
    extra = utterance.extra
    return bool(
        utterance.speaker
        and split_words(utterance.text or "")
        and str(extra.get("kind", "original")) == "original"
        and str(extra.get("transcript_status", "")) in _TRUSTED
    )


def _decoded(utterance: Utterance) -> Clip | None:
    try:
        return decode_file(utterance.audio)
    except RefprepError:
        return None


def _voices(own: Sequence[ReadClip], everybody: Sequence[ReadClip]) -> Iterator[Voice]:
    rate_hz, _ = Counter(c.clip.sample_rate_hz for c in own).most_common(1)[0]
    same = [c for c in own if c.clip.sample_rate_hz == rate_hz]
    strangers = tuple(
        c.clip for c in everybody if c.reader != own[0].reader and c.gender == own[0].gender and c.gender
    )
    for fold in (0, 1):
        chosen: list[ReadClip] = []
        for clip in same[fold::2]:
            if sum(c.clip.duration_s for c in chosen) + clip.clip.duration_s <= _MOST_REFERENCE_S:
                chosen.append(clip)
        # A text that the reference says, too, explains every leak of it.
        texts = {c.utterance.text for c in chosen}
        outputs = tuple(
            c
            for c in same[1 - fold :: 2]
            if c.clip.duration_s <= _MOST_OUTPUT_S and c.utterance.text not in texts
        )
        if outputs and sum(c.clip.duration_s for c in chosen) >= _LEAST_REFERENCE_S:
            reference = join_clips(
                [c.clip for c in chosen],
                [c.utterance.text or "" for c in chosen],
                gap=_SILENCE,
                tail=_SILENCE,
                language=chosen[0].utterance.language,
            )
            yield Voice(own[0].reader, reference, outputs, strangers)


def _limited(voices: Sequence[Voice], limit: int) -> list[Voice]:
    """Outputs of the voices in turn, until there are so many."""
    turns = sorted((turn, at) for at, v in enumerate(voices) for turn in range(len(v.outputs)))[:limit]
    counts = Counter(at for _, at in turns)
    return [
        Voice(v.reader, v.reference, v.outputs[: counts[at]], v.strangers)
        for at, v in enumerate(voices)
        if counts[at]
    ]


def run_cases(
    voices: Sequence[Voice],
    listener: Listener,
    verifiers: Sequence[Verifier],
    *,
    kinds: Sequence[str] = tuple(EXPECTED),
    seed: int = 0,
    on_output: Callable[[str], None] = lambda _: None,
    on_outcome: Callable[[Outcome, ScoredOutput], None] = lambda _o, _s: None,
) -> list[Outcome]:
    """Score every output of every voice in every kind.

    Args:
        voices: Of ``read_voices``.
        listener: Voice activity, recogniser, aligner.
        verifiers: Speaker encoders.
        kinds: Of ``EXPECTED``.
        seed: Of the draws.
        on_output: Told the name of every output when it is done.
        on_outcome: Told what became of every case at once.
    """
    outcomes: list[Outcome] = []
    for voice in voices:
        target = measure_target(voice.reference, listener, verifiers, name=voice.reader)
        said_reference = _said_reference(voice.reference, target, listener)
        for output in voice.outputs:
            utterance = output.utterance
            language = utterance.language or target.language
            said = place_words_of(output.clip, utterance.text or "", language, listener)
            if said is not None:
                for case in make_cases(said, said_reference, voice.strangers, kinds, seed):
                    scored = score_output(case.clip, target, listener, text=case.text, language=case.language)
                    outcomes.append(judge(case, scored, voice.reader))
                    on_outcome(outcomes[-1], scored)
            on_output(output.clip.source.path)
    return outcomes


def _said_reference(reference: Reference, target: ScoreTarget, listener: Listener) -> SaidClip:
    clip = reference_clip(reference)
    edged = speech_edges(clip, listener.speech(clip))
    return SaidClip(clip, reference.text, target.language, target.words, edged)


def judge(case: ScoreCase, scored: ScoredOutput, reader: str = "") -> Outcome:
    """Hold a score against what was planted."""
    expected, cut_error_s = EXPECTED[case.kind], None
    found = expected in scored.faults if expected else scored.passed
    if case.kind.startswith(("head-", "tail-")):
        edge = OutputEdge.HEAD if case.kind.startswith("head-") else OutputEdge.TAIL
        cuts = [leak.cut_s for leak in scored.score.leaks if leak.edge is edge]
        found = bool(cuts)
        if cuts and case.join is not None:
            cut_error_s = min(cuts[0] - case.join.start_s, 0.0) + max(cuts[0] - case.join.end_s, 0.0)
    elif case.kind == "other-half":
        off = {w.name for w in scored.score.windows if w.is_off}
        found = found and "late" in off and "early" not in off
    elif case.kind == "last-word" and scored.score.text is not None:
        found = found and any(f.place == "tail" for f in scored.score.text.faults)
    name = case.clip.source.path.split(":", 1)[-1]
    said = tuple(f"{f.code} {f.message}" for f in scored.findings)
    return Outcome(case.kind, name, reader, found, scored.faults, cut_error_s, case.words, said)


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Recall of every kind, false alarms by name, errors of the cuts."""
    kinds = {kind: [o for o in outcomes if o.kind == kind] for kind in EXPECTED}
    leaks = [o for o in outcomes if o.kind.startswith(("head-", "tail-"))]
    plain = kinds[PLAIN]
    return {
        "schema_version": 1,
        "outputs": len({(o.reader, o.name) for o in outcomes}),
        "readers": len({o.reader for o in outcomes}),
        "false_alarms": {
            "of": len(plain),
            "clips": sum(not o.found for o in plain),
            "leaks": sum("leaked-reference-words" in o.faults for o in plain),
            "by_fault": dict(Counter(f for o in plain for f in o.faults)),
        },
        "kinds": {kind: _recall(own) for kind, own in kinds.items() if own and kind != PLAIN},
        "leaks": _recall(leaks),
        "cut_error_ms": _cut_errors_ms(leaks),
        "wrong": [
            {
                "kind": o.kind,
                "clip": o.name,
                "words": o.words,
                "faults": list(o.faults),
                "said": list(o.said),
                "cut_error_ms": None if o.cut_error_s is None else round(1000 * o.cut_error_s),
            }
            for o in outcomes
            if not o.found or abs(o.cut_error_s or 0.0) > 0.1
        ],
    }


def _recall(outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
    found = sum(o.found for o in outcomes)
    return {
        "of": len(outcomes),
        "found": found,
        "recall": round(found / len(outcomes), 4) if outcomes else None,
        "alone": sum(o.found and len(o.faults) == 1 for o in outcomes),
    }


def _cut_errors_ms(outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
    errors_ms = [1000 * abs(o.cut_error_s) for o in outcomes if o.cut_error_s is not None]
    if not errors_ms:
        return {"of": 0, "median": None, "p95": None, "max": None, "within_100": 0}
    return {
        "of": len(errors_ms),
        "median": round(float(np.median(errors_ms))),
        "p95": round(float(np.percentile(errors_ms, 95))),
        "max": round(max(errors_ms)),
        "within_100": sum(e <= 100 for e in errors_ms),
    }
