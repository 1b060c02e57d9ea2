"""A profile of agreement -> a verdict in words: rounding slopes down with depth, a broken encoder is low from the start.

Each codebook codes what those before it left. A small error in the encoder's states leaves the first choices as they are,
flips a few of the later ones, and every flip changes all choices behind it: the curve falls. Where the states themselves
are others, the first codebook already chooses otherwise. The states show it before any choice does.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from refprep.audit.agreement import Agreement, Distance

# Measured on tiny random codecs of both kinds (MOSS of three seeds), each with a chirp, noise, synthetic clips and speech.
# Rounding (bf16, fp16, int8 weights, int8 weights and states; 56 encodes) moved the states by 0.002 to 0.102 and kept 0.775 to
# 1.00 of codebook 0. Damage (a matrix, a convolution or a whole layer zeroed, two layers swapped, one projection doubled or
# halved; 684 encodes) moved them by 0.168 to 4.3 and kept 0.00 to 0.98 of codebook 0: the states decide before the codes do.
# One projection wrong by a tenth lies between, 0.093 to 0.298, and may be called either.
MAX_ROUNDING_DISTANCE = 0.13
"""Of the states before the quantizer, as a part of their own variation, in the worst third of the clip."""
MIN_FIRST_AGREEMENT = 0.70
"""Of codebook 0. The failure that this audit exists for kept 0.075 of it, and 0.077 of all codes."""
MIN_GROWTH = 1.5
"""Disagreement in the last quarter of the codebooks over that in the first: rounding had 1.9 and more, damage 0.7 to 1.8."""
MAX_UNSLOPED_LOSS = 0.10
"""Disagreement of all codes up to which a curve has no shape yet."""


class Kind(enum.StrEnum):
    """What became of an encoder."""

    EQUAL = "equal"
    ROUNDING = "rounding"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement, and why.

    Attributes:
        kind: In one word.
        words: In a sentence.
        evidence: Numbers that it rests on, one clause each.
    """

    kind: Kind
    words: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """What a judgement is made of.

    Attributes:
        agreement: Of the codes with the exact ones.
        distance: Of the states before the quantizer.
    """

    agreement: Agreement
    distance: Distance

    @property
    def head(self) -> float:
        """Agreement in the first quarter of the codebooks."""
        return _mean(self.agreement.per_codebook[: self._quarter])

    @property
    def tail(self) -> float:
        """Agreement in the last quarter."""
        return _mean(self.agreement.per_codebook[-self._quarter :])

    @property
    def _quarter(self) -> int:
        return max(1, len(self.agreement.per_codebook) // 4)


def judge(profile: Profile) -> Verdict:
    """Tell rounding from damage.

    Args:
        profile: Of an encoder against the exact one, on one clip.

    Returns:
        ``broken`` where the states are far away, codebook 0 is low, or the curve does not fall; ``equal`` where every code
        is the same; else ``rounding``.
    """
    codes, far = profile.agreement, profile.distance.worst
    evidence = [
        f"codebook 0 agrees in {codes.first:.1%} of the frames",
        f"all codes in {codes.mean:.1%}, the last quarter of the codebooks in {profile.tail:.1%}",
        f"states before the quantizer are {far:.3f} of their variation away",
    ]
    faults: list[str] = []
    if far > MAX_ROUNDING_DISTANCE:
        faults.append(f"states may move by {MAX_ROUNDING_DISTANCE:g} through rounding")
    if codes.first < MIN_FIRST_AGREEMENT:
        faults.append(f"rounding keeps {MIN_FIRST_AGREEMENT:.0%} of codebook 0")
    if _is_flat(profile):
        faults.append("the curve over the codebooks is flat, and that of rounding falls")
    if faults:
        return Verdict(
            Kind.BROKEN,
            "This encoder says something else: its output is wrong, not rounded.",
            (*evidence, *faults),
        )
    if codes.first_difference is None:
        return Verdict(Kind.EQUAL, "Every code is that of the exact encoder.", tuple(evidence))
    return Verdict(
        Kind.ROUNDING,
        "Agreement falls with depth from a high first codebook: rounding. The codes are still those of another reference.",
        tuple(evidence),
    )


def _is_flat(profile: Profile) -> bool:
    if 1.0 - profile.agreement.mean <= MAX_UNSLOPED_LOSS:
        return False
    return 1.0 - profile.tail < MIN_GROWTH * (1.0 - profile.head)


def _mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values)
