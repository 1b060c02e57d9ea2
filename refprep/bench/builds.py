"""Many builds with planted impostors: who gets into a reference that must not, and who is kept out that need not.

Every round takes clips of one speaker and adds clips of others of the same sex, a fifth of all, then proves identity and
selects as `refprep build` does. Texts and signals play no part: a text that passes does not make an impostor genuine.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refprep.errors import ManifestError, RefprepError
from refprep.identity.verifier import Verifier
from refprep.manifest import Utterance
from refprep.pipeline.build import choose_clips
from refprep.pipeline.candidate import Candidate, NoVoiceError
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.pipeline.prove import prove_identity
from refprep.pipeline.select import LengthWindow
from refprep.protocols import VoiceActivity
from refprep.types import Clip, Span, Voiceprint

_LEAST_CLIPS, _MOST_CLIPS = 4, 12
_IMPOSTOR_SHARE = 0.2
_MIN_SPEECH_S = 1.0
_REFUSED_FOR_IDENTITY = ("RP301", "RP304")


@dataclass(frozen=True, slots=True, eq=False)
class LabelledClip:
    """A clip and who speaks in it."""

    utterance: Utterance
    clip: Clip
    speech: tuple[Span, ...]

    @property
    def speaker(self) -> str:
        """corpus/country/gender/speaker."""
        return self.utterance.speaker

    @property
    def gender(self) -> str:
        """Third part of the speaker id."""
        parts = self.speaker.split("/")
        return parts[2] if len(parts) == 4 else ""


def read_clips(
    utterances: Sequence[Utterance],
    voice_activity: VoiceActivity,
    *,
    on_clip: Callable[[str], None] = lambda _: None,
) -> list[LabelledClip]:
    """Decode the clips that one known speaker of known sex speaks in, for a second at least.

    A manifest's column ``identity_ok`` leaves out rows in which it is 0.

    Raises:
        ManifestError: No speaker has enough clips.
    """
    found: list[LabelledClip] = []
    for utterance in utterances:
        on_clip(str(utterance.audio))
        if not utterance.speaker or str(utterance.extra.get("identity_ok", "1")) == "0":
            continue
        if str(utterance.extra.get("kind", "original")) == "derived":
            continue  # made from another clip of the set: the same samples twice
        try:
            clip = decode_file(utterance.audio)
        except RefprepError:
            continue
        speech = voice_activity.speech_spans(clip)
        labelled = LabelledClip(utterance, clip, speech)
        if sum(s.duration_s for s in speech) >= _MIN_SPEECH_S and labelled.gender in ("f", "m"):
            found.append(labelled)
    counts = Counter(c.speaker for c in found)
    if not any(n >= _LEAST_CLIPS for n in counts.values()):
        raise ManifestError(
            f"no speaker has {_LEAST_CLIPS} clips",
            where="manifest",
            fix="Give rows with speaker ids corpus/country/gender/speaker, several clips each.",
        )
    return found


class KnownPrints:
    """An encoder that has embedded its clips already: 2,000 builds use the same few."""

    def __init__(self, verifier: Verifier) -> None:
        self._encoder = verifier.encoder
        self.name = self._encoder.name
        self.dim = self._encoder.dim
        self.default_threshold = self._encoder.default_threshold
        self.window_threshold = self._encoder.window_threshold
        self._known: dict[str, Voiceprint] = {}

    def embed(self, clip: Clip, speech: Sequence[Span]) -> Voiceprint:
        """See ``refprep.protocols.SpeakerEncoder``."""
        if clip.id not in self._known:
            self._known[clip.id] = self._encoder.embed(clip, speech)
        return self._known[clip.id]


def run_builds(
    clips: Sequence[LabelledClip],
    verifiers: Sequence[Verifier],
    listener: Listener,
    *,
    rounds: int,
    seed: int,
    window: LengthWindow,
    on_round: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Build so many times and count.

    Args:
        clips: Labelled ones.
        verifiers: As for a build.
        listener: Its voice activity is asked about controls only; there are none here.
        rounds: How many builds.
        seed: Of the draws.
        window: Length of the references.
        on_round: Told after each build.

    Returns:
        Counts, rates, and the clips behind them.
    """
    rng = random.Random(seed)  # draws, no secrets
    known = [Verifier(KnownPrints(v), v.calibration, v.own_threshold) for v in verifiers]
    by_speaker: dict[str, list[LabelledClip]] = {}
    for clip in clips:
        by_speaker.setdefault(clip.speaker, []).append(clip)
    targets = sorted(s for s, own in by_speaker.items() if len(own) >= _LEAST_CLIPS)
    entered: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for _ in range(rounds):
        target = rng.choice(targets)
        own = rng.sample(
            by_speaker[target], min(rng.randint(_LEAST_CLIPS, _MOST_CLIPS), len(by_speaker[target]))
        )
        strangers = [c for c in clips if c.speaker != target and c.gender == own[0].gender]
        planted = rng.sample(
            strangers, min(len(strangers), max(1, round(len(own) * _IMPOSTOR_SHARE / (1 - _IMPOSTOR_SHARE))))
        )
        pile = [*own, *planted]
        rng.shuffle(pile)
        _build_once(pile, target, known, listener, window, counts, entered, refused)
        on_round(target)
    genuine = counts["genuine"]
    return {
        "schema_version": 1,
        "rounds": rounds,
        "seed": seed,
        "speakers": len(targets),
        "encoders": {v.model: {"scale": v.scale, "threshold": v.threshold} for v in verifiers},
        "references": counts["references"],
        "ambiguous": counts["ambiguous"],
        "none_admissible": counts["none"],
        "impostors_planted": counts["impostors"],
        "impostors_in_references": counts["entered"],
        "references_with_impostor": counts["spoilt"],
        "genuine_clips": genuine,
        "genuine_refused": counts["refused"],
        "genuine_refused_share": round(counts["refused"] / genuine, 4) if genuine else None,
        "entered": dict(entered.most_common()),
        "refused": dict(refused.most_common()),
    }


def _build_once(
    pile: Sequence[LabelledClip],
    target: str,
    verifiers: Sequence[Verifier],
    listener: Listener,
    window: LengthWindow,
    counts: Counter[str],
    entered: Counter[str],
    refused: Counter[str],
) -> None:
    """One build, counted."""
    candidates = [Candidate(c.utterance, str(c.utterance.audio), clip=c.clip, speech=c.speech) for c in pile]
    counts["genuine"] += sum(c.speaker == target for c in pile)
    counts["impostors"] += sum(c.speaker != target for c in pile)
    try:
        proof = prove_identity(candidates, (), verifiers, listener, anchor=None, on_step=lambda _: None)
    except NoVoiceError:
        counts["ambiguous"] += 1  # nothing is built and the user is asked for an anchor
        return
    for labelled, candidate in zip(pile, candidates, strict=True):
        if labelled.speaker == target and any(f.code in _REFUSED_FOR_IDENTITY for f in candidate.findings):
            counts["refused"] += 1
            refused[_name(labelled, target)] += 1
    admissible = [i for i in proof.compared if candidates[i].refusal is None]
    selections = choose_clips(candidates, admissible, proof, verifiers[0], [window], ())
    if selections is None:
        counts["none"] += 1
        return
    counts["references"] += 1
    strangers = [admissible[i] for i in selections[-1].chosen if pile[admissible[i]].speaker != target]
    counts["entered"] += len(strangers)
    counts["spoilt"] += bool(strangers)
    for index in strangers:
        entered[_name(pile[index], target)] += 1


def _name(labelled: LabelledClip, target: str) -> str:
    """A clip as the report calls it; an impostor with whose reference it got into."""
    path = Path(labelled.utterance.audio)
    name = f"{path.parent.name}/{path.name}"
    return name if labelled.speaker == target else f"{name} ({labelled.speaker}) -> {target}"
