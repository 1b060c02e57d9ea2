"""Which clips of a voice an engine gets: all of them, or the fullest set of whole ones that it takes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from refprep.errors import NoReferenceError
from refprep.linter.profiles import EngineProfile, TextUse


@dataclass(frozen=True, slots=True)
class VoiceShape:
    """What a plan needs to know of a voice.

    Attributes:
        clip_samples: Length of every clip, in order.
        silence_samples: Length of what follows each of them: gaps, and the tail after the last one.
        sample_rate_hz: Of all of them.
    """

    clip_samples: tuple[int, ...]
    silence_samples: tuple[int, ...]
    sample_rate_hz: int

    @property
    def everything(self) -> tuple[int, ...]:
        """Indices of all clips."""
        return tuple(range(len(self.clip_samples)))

    def joined_samples(self, chosen: Sequence[int]) -> int:
        """Length of clips laid behind each other: each is followed by what follows it, the last one by the tail."""
        lengths = (self.clip_samples[i] + self.silence_samples[i] for i in chosen[:-1])
        return sum(lengths) + self.clip_samples[chosen[-1]] + self.silence_samples[-1]

    def joined_s(self, chosen: Sequence[int]) -> float:
        """The same in seconds."""
        return self.joined_samples(chosen) / self.sample_rate_hz


@dataclass(frozen=True, slots=True)
class Plan:
    """What an engine gets.

    Attributes:
        clips: Indices of the clips, in the voice's order.
        warnings: What the engine ignores or limits of them, and what was left out.
    """

    clips: tuple[int, ...]
    warnings: tuple[str, ...]


def plan_joined(shape: VoiceShape, profile: EngineProfile, *, where: str) -> Plan:
    """Choose the clips of one joined file.

    The whole voice where the engine takes it. Otherwise the set of whole clips, in their order, that comes closest to
    the engine's limit without exceeding it; of several such sets the one with the earliest clips. An engine that reads
    no text and uses the start of longer audio gets the whole voice where not one clip is short enough: it then cuts
    inside a clip, and a warning says so.

    Args:
        shape: The voice.
        profile: The engine.
        where: The voice, for messages.

    Raises:
        NoReferenceError: No set of whole clips is long enough and short enough.
    """
    rate_hz, name = shape.sample_rate_hz, profile.name
    limit_s, why = _limit(profile)
    warnings: list[str] = []
    clips = shape.everything
    if limit_s is not None and shape.joined_samples(clips) > math.floor(limit_s * rate_hz):
        clips = fullest_set(shape, math.floor(limit_s * rate_hz))
        if not clips and profile.text is TextUse.IGNORED and profile.kept_s is not None:
            plan = plan_joined(shape, dataclasses.replace(profile, kept_s=None), where=where)
            warning = f"{name} {why}, and no clip is that short: it will cut inside one"
            return Plan(plan.clips, (warning, *plan.warnings))
        if not clips:
            shortest_s = min(shape.joined_s((i,)) for i in shape.everything)
            raise NoReferenceError(
                f"{name} {why}, and the shortest clip has {shortest_s:.2f} s with its tail",
                where=where,
                fix=f"Build the voice from clips of less than {limit_s:g} s (`refprep split --max`).",
            )
        warnings.append(
            f"only {len(clips)} of {len(shape.clip_samples)} clips are exported "
            f"({shape.joined_s(clips):.2f} of {shape.joined_s(shape.everything):.2f} s): {name} {why}"
        )
    if shape.joined_samples(clips) < _min_samples(profile, rate_hz):
        bound = (
            f"less than {profile.min_s:g} s"
            if profile.min_s is not None
            else f"{profile.longer_than_s:g} s and less"
        )
        raise NoReferenceError(
            f"{name} refuses {bound}, and the most that whole clips give is {shape.joined_s(clips):.2f} s",
            where=where,
            fix="Build the voice from more clips, or from longer ones.",
        )
    duration_s = shape.joined_s(clips)
    warnings += [
        f"{what} of {name} uses only the first {part_s:g} s of {duration_s:.2f} s"
        for what, part_s in profile.parts
        if duration_s > part_s
    ]
    return Plan(clips, (*warnings, *_common_warnings(profile, rate_hz, duration_s)))


def plan_clips(shape: VoiceShape, profile: EngineProfile) -> Plan:
    """All clips, each in a file of its own: nothing has to fit."""
    duration_s = sum(shape.clip_samples) / shape.sample_rate_hz
    return Plan(shape.everything, _common_warnings(profile, shape.sample_rate_hz, duration_s))


def fullest_set(shape: VoiceShape, max_samples: int) -> tuple[int, ...]:
    """The clips whose joined length is the largest that does not exceed a limit; empty where not one fits.

    Subset sums as bit sets, so it is exact for any number of clips: bit n of ``reachable[k]`` says that some of the
    clips from k on, the tail behind them, make n samples.
    """
    lengths = [n + gap for n, gap in zip(shape.clip_samples, shape.silence_samples, strict=True)]
    last = [n + shape.silence_samples[-1] for n in shape.clip_samples]
    mask = (1 << (max_samples + 1)) - 1
    reachable = [0]
    for length, length_as_last in zip(reversed(lengths), reversed(last), strict=True):
        later = reachable[-1]
        reachable.append((later | later << length | 1 << length_as_last) & mask)
    reachable.reverse()
    rest = reachable[0].bit_length() - 1
    chosen: list[int] = []
    for index, length in enumerate(lengths):
        if rest == last[index]:
            return (*chosen, index)
        if length <= rest and reachable[index + 1] >> (rest - length) & 1:
            chosen.append(index)
            rest -= length
    return ()


def _limit(profile: EngineProfile) -> tuple[float | None, str]:
    """The longest audio that the engine takes and uses, and what it does with more."""
    bounds = [(s, f"refuses more than {s:g} s") for s in (profile.max_s,) if s is not None]
    if profile.max_with_text_s is not None and profile.text is not TextUse.IGNORED:
        bounds.append(
            (profile.max_with_text_s, f"refuses more than {profile.max_with_text_s:g} s with a text")
        )
    if profile.kept_s is not None:
        bounds.append((profile.kept_s, f"uses only the first {profile.kept_s:g} s"))
    return min(bounds, default=(None, ""), key=lambda bound: bound[0])


def _min_samples(profile: EngineProfile, rate_hz: int) -> int:
    bounds = [0]
    if profile.min_s is not None:
        bounds.append(math.ceil(profile.min_s * rate_hz))
    if profile.longer_than_s is not None:
        bounds.append(math.floor(profile.longer_than_s * rate_hz) + 1)
    return max(bounds)


def _common_warnings(profile: EngineProfile, rate_hz: int, duration_s: float) -> tuple[str, ...]:
    warnings: list[str] = []
    if profile.text is TextUse.IGNORED:
        warnings.append(f"{profile.name} does not read the text; it stands in export.json")
    if profile.advised_s is not None and not profile.advised_s[0] <= duration_s <= profile.advised_s[1]:
        low_s, high_s = profile.advised_s
        warnings.append(f"{profile.name} advises {low_s:g} to {high_s:g} s; this is {duration_s:.2f} s")
    if profile.min_rate_hz is not None and rate_hz < profile.min_rate_hz:
        warnings.append(
            f"{profile.name} wants {profile.min_rate_hz} Hz or more and warns or refuses below; this is {rate_hz} Hz"
        )
    return tuple(warnings)
