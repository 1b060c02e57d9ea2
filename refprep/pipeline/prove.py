"""Candidates -> whose voice each is: embed, group, judge; a second encoder has to agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from refprep.errors import AudioDecodeError, UsageError
from refprep.identity.groups import VoiceGroups, group_voices
from refprep.identity.measure import measure_identity
from refprep.identity.verifier import Verifier
from refprep.manifest import Utterance
from refprep.pipeline.candidate import Candidate, NoVoiceError
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.types import IdentityCase, Matrix, Voiceprint

# With this much speech of a second voice beside the first, which one is meant is a guess.
_RIVAL_SHARE = 0.8
# Unreadable, no speech, a twin, too short.
_NOTHING_TO_EMBED = frozenset({"RP001", "RP211", "RP403", "RP404"})


@dataclass(frozen=True, slots=True, eq=False)
class VoiceProof:
    """Who was compared, and how alike they are.

    Attributes:
        compared: Indices of the candidates with a voiceprint.
        scores: (n, n) pair scores of the first encoder, in that order.
        joinable: (n, n) bool: every encoder takes the pair for one voice.
        prints: Voiceprints of the first encoder, in that order.
        controls: Names of the control speakers.
    """

    compared: tuple[int, ...]
    scores: Matrix
    joinable: npt.NDArray[np.bool_]
    prints: tuple[Voiceprint, ...]
    controls: tuple[str, ...]

    def pair_scores(self, indices: Sequence[int], *, below: float) -> Matrix:
        """Scores of some candidates, in their order; pairs that an encoder refuses get ``below`` at most."""
        rows = [self.compared.index(i) for i in indices]
        scores = self.scores[np.ix_(rows, rows)]
        return np.where(self.joinable[np.ix_(rows, rows)], scores, np.minimum(scores, below))


def prove_identity(
    candidates: Sequence[Candidate],
    controls: Sequence[Utterance],
    verifiers: Sequence[Verifier],
    listener: Listener,
    *,
    anchor: Path | None,
    on_step: Callable[[str], None],
) -> VoiceProof:
    """Find the target voice and judge every clip against it.

    The first encoder decides who the target voice is and scores the pairs. Every further one groups the clips of that
    voice by its own scores and threshold; what falls out of the largest group is refused, and so is every pair below.

    Raises:
        NoVoiceError: Two voices have about as much speech, and no anchor says which is meant.
        UsageError: The anchor is none of the clips, or nobody measured a threshold for an encoder.
        AudioDecodeError: A control that cannot be read; without it the proof would silently be weaker.
    """
    first, *others = verifiers
    for verifier in verifiers:
        _ = verifier.threshold  # fails now rather than after the work
    prints = _embed(candidates, first, on_step)
    strangers = _embed_controls(controls, first, listener, on_step)
    order = tuple(prints)
    scores = first.matrix(list(prints.values()))
    joinable = scores >= first.threshold
    if order:
        row = _anchor_row(candidates, order, anchor)
        groups = group_voices(
            scores, [p.speech_s for p in prints.values()], threshold=first.threshold, anchor=row
        )
        _require_one_voice(candidates, order, groups, is_anchored=row is not None)
        _judge(candidates, order, list(prints.values()), scores, set(groups.target), strangers, first)
        for verifier in others:
            more = _embed(candidates, verifier, on_step, order)
            rows = [row for row, index in enumerate(order) if index in more]
            own = verifier.matrix(list(more.values()))
            agrees = np.zeros_like(joinable)
            agrees[np.ix_(rows, rows)] = own >= verifier.threshold
            joinable = joinable & agrees
            shared = [k for k, row in enumerate(rows) if row in groups.target]
            agreed = _agreed(own, shared, list(more.values()), verifier)
            met = _embed_controls(controls, verifier, listener, on_step)
            _judge(candidates, tuple(more), list(more.values()), own, agreed, met, verifier, only=set(shared))
    return VoiceProof(order, scores, joinable, tuple(prints.values()), tuple(strangers))


def _embed(
    candidates: Sequence[Candidate],
    verifier: Verifier,
    on_step: Callable[[str], None],
    only: Sequence[int] | None = None,
) -> dict[int, Voiceprint]:
    """Voiceprints by index: also of clips refused for their format, since whose voice they hold is worth knowing."""
    prints: dict[int, Voiceprint] = {}
    for index in range(len(candidates)) if only is None else only:
        candidate = candidates[index]
        if only is None and (
            candidate.clip is None or any(f.code in _NOTHING_TO_EMBED for f in candidate.refusals)
        ):
            continue
        on_step(f"embed {candidate.path}")
        try:
            prints[index] = verifier.embed(candidate.decoded, candidate.speech)
        except AudioDecodeError as error:
            candidate.judge([error])
    return prints


def _embed_controls(
    controls: Sequence[Utterance], verifier: Verifier, listener: Listener, on_step: Callable[[str], None]
) -> dict[str, Voiceprint]:
    """Voiceprints of the control speakers, by name: the manifest's speaker id, else the file's name."""
    found: dict[str, Voiceprint] = {}
    for control in controls:
        on_step(f"control {control.audio}")
        clip = decode_file(control.audio)
        name = control.speaker or control.audio.stem
        found[name if name not in found else f"{name} ({control.audio.name})"] = verifier.embed(
            clip, listener.speech(clip)
        )
    return found


def _judge(
    candidates: Sequence[Candidate],
    order: Sequence[int],
    prints: Sequence[Voiceprint],
    scores: Matrix,
    target: set[int],
    controls: Mapping[str, Voiceprint],
    verifier: Verifier,
    *,
    only: set[int] | None = None,
) -> None:
    """Measure every clip and put it to the rules; ``only`` some of them where the first encoder refused the others."""
    rows = sorted(target)
    for row, index in enumerate(order):
        identity = measure_identity(row, prints, scores, rows, controls, verifier)
        candidates[index].identities += (identity,)
        if only is not None and row not in only:
            continue
        candidates[index].judge(
            [
                IdentityCase(
                    identity=identity,
                    is_target=row in target,
                    threshold=verifier.threshold,
                    window_threshold=verifier.window_threshold,
                    min_margin=verifier.min_margin,
                )
            ]
        )


def _agreed(own: Matrix, shared: Sequence[int], prints: Sequence[Voiceprint], verifier: Verifier) -> set[int]:
    """Rows of the first encoder's target that this one takes for one voice, too: the largest group among them."""
    if not shared:
        return set()
    scores = own[np.ix_(shared, shared)]
    groups = group_voices(scores, [prints[k].speech_s for k in shared], threshold=verifier.threshold)
    return {shared[k] for k in groups.target}


def _require_one_voice(
    candidates: Sequence[Candidate], order: Sequence[int], groups: VoiceGroups, *, is_anchored: bool
) -> None:
    if is_anchored:
        return
    num_target = len(groups.target)
    if groups.rival_share > _RIVAL_SHARE:
        what = (
            f"two voices with about as much speech (the smaller has {groups.rival_share:.0%} of the larger's)"
        )
    elif groups.rival_clips >= num_target:
        # Planted strangers with one long clip each came into 49 of 1,873 references before this was asked.
        what = (
            f"the voice with most speech has {num_target} clip{'' if num_target == 1 else 's'}, another one "
            f"{groups.rival_clips}: which is meant is a guess"
        )
    else:
        return
    raise NoVoiceError(
        what,
        where=candidates[order[0]].path,
        fix="Name a clip of the voice you want with --anchor.",
        candidates=candidates,
    )


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
