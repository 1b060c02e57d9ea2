"""How closely two engines agree: metrics, and the limits that they must keep.

    name                   meaning
    argmax                 share of positions at which the two likeliest ids are one
    confident              the same among positions where the peer's two best logits are more than 1 apart
    rel_diff               ||ours - peer|| / ||peer|| over all logits
    max_diff               largest absolute difference, over the largest absolute logit of the peer
    greedy_frames_equal    whether both wrote the same codes
    codec_max_abs_diff     largest difference of two waves decoded from the same codes
    xvector_cosine         of two embeddings of the same wave
    ref_code_agreement     share of equal codes of the same wave

Logits are those along the peer's own greedy codes, since two engines' codes part for good at the first near tie.
Everything here is a function of arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Codes = npt.NDArray[np.integer[Any]]

CONFIDENT_MARGIN = 1.0
FLOAT32_MAX_DIFF = 1e-4
BFLOAT16_REL_DIFF = 0.01
CODEC_MAX_ABS_DIFF = 1e-5
XVECTOR_COSINE = 0.99999


@dataclass(frozen=True, slots=True)
class LogitAgreement:
    """Of one kind of logits; see the table above.

    Attributes:
        confident_of: Positions that ``confident`` is a share of; it is 1 where there are none.
    """

    argmax: float
    confident: float
    confident_of: int
    rel_diff: float
    max_diff: float


def compare_logits(ours: Floats, peer: Floats) -> LogitAgreement:
    """Compare (..., vocab) logits.

    Raises:
        ValueError: The shapes differ.
    """
    if ours.shape != peer.shape:
        raise ValueError(f"logits of shapes {ours.shape} and {peer.shape}")
    mine, theirs = (x.reshape(-1, x.shape[-1]).astype(np.float64) for x in (ours, peer))
    if not len(mine):
        return LogitAgreement(1.0, 1.0, 0, 0.0, 0.0)
    is_same = mine.argmax(-1) == theirs.argmax(-1)
    is_clear = margins(theirs) > CONFIDENT_MARGIN
    off = mine - theirs
    return LogitAgreement(
        argmax=float(is_same.mean()),
        confident=float(is_same[is_clear].mean()) if is_clear.any() else 1.0,
        confident_of=int(is_clear.sum()),
        rel_diff=_ratio(float(np.linalg.norm(off)), float(np.linalg.norm(theirs))),
        max_diff=_ratio(float(np.abs(off).max()), float(np.abs(theirs).max())),
    )


def margins(logits: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    """How far the best of (..., vocab) is above the second."""
    best = np.partition(logits, -2, axis=-1)[..., -2:]
    return np.asarray(best[..., 1] - best[..., 0])


def first_difference(ours: Codes, peer: Codes) -> tuple[int, int] | None:
    """(frame, codebook) at which two (frames, codebooks) part; None where they are equal.

    Where one ends before the other, they part in codebook 0 of the next frame.
    """
    shared = min(len(ours), len(peer))
    places = np.argwhere(ours[:shared] != peer[:shared])
    if len(places):
        return int(places[0][0]), int(places[0][1])
    return None if len(ours) == len(peer) else (shared, 0)


def code_agreement(ours: Codes, peer: Codes) -> float:
    """Share of equal codes; frames that one side alone has count as different."""
    shared = min(len(ours), len(peer))
    most = max(ours.size, peer.size)
    return float((ours[:shared] == peer[:shared]).sum() / most) if most else 1.0


def cosine(ours: Floats, peer: Floats) -> float:
    """Of two vectors; 0 where one of them is zero."""
    a, b = ours.astype(np.float64), peer.astype(np.float64)
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / length if length else 0.0


def max_abs_diff(ours: Floats, peer: Floats) -> float:
    """Of two arrays; infinite where their shapes differ."""
    if ours.shape != peer.shape:
        return float("inf")
    return float(np.abs(ours.astype(np.float64) - peer.astype(np.float64)).max(initial=0.0))


@dataclass(frozen=True, slots=True)
class ModeParity:
    """One mode in one dtype.

    Attributes:
        mode: Its name.
        dtype: Of both talkers.
        frames: Compared.
        talker: Logits of codebook 0.
        predictor: Logits of codebooks 1 to 15.
        greedy_frames_equal: Both wrote the same codes.
        parted_at: (row, frame, codebook) of the first difference.
        parted_margin: How clear the peer's choice was there.
        prompt_max_abs_diff: Of the prompts' embeddings.
        peer_own_diff: How far the peer's logits in one pass, each row by itself, are from those it generated with.
        token_ids_equal: The peer makes the same ids of the texts.
        tokenizer_swapped: It does not, because its wrapper swapped the tokenizer's pattern; without that it does.
        codec_max_abs_diff: None where no audio was compared, as below.
        xvector_cosine: Of the reference.
        ref_code_agreement: Of the reference.
    """

    mode: str
    dtype: str
    frames: int
    talker: LogitAgreement
    predictor: LogitAgreement
    greedy_frames_equal: bool
    parted_at: tuple[int, int, int] | None
    parted_margin: float | None
    prompt_max_abs_diff: float
    peer_own_diff: float
    token_ids_equal: bool
    tokenizer_swapped: bool
    codec_max_abs_diff: float | None = None
    xvector_cosine: float | None = None
    ref_code_agreement: float | None = None

    def failures(self) -> list[Failure]:
        """Every limit that is not kept, by name."""
        return [Failure(self.mode, self.dtype, *fault) for fault in self._faults()]

    def _faults(self) -> list[tuple[str, str, str]]:
        # written as "not (kept)", so that a NaN keeps nothing
        faults: list[tuple[str, str, str]] = []
        is_float32 = self.dtype == "float32"
        for name, logits in (("talker", self.talker), ("predictor", self.predictor)):
            if is_float32 and not logits.max_diff <= FLOAT32_MAX_DIFF:
                faults.append((f"{name}_max_diff", f"{logits.max_diff:.2e}", f"<= {FLOAT32_MAX_DIFF:g}"))
            if not is_float32 and not logits.rel_diff <= BFLOAT16_REL_DIFF:
                faults.append((f"{name}_rel_diff", f"{logits.rel_diff:.2e}", f"<= {BFLOAT16_REL_DIFF:g}"))
            if not logits.confident >= 1.0:
                faults.append((f"{name}_confident", f"{logits.confident:.4f}", "1"))
        if is_float32 and not self.greedy_frames_equal:
            faults.append(("greedy_frames_equal", self._parting(), "equal"))
        if not self.token_ids_equal and not self.tokenizer_swapped:
            faults.append(("token_ids_equal", "different", "equal"))
        if self.codec_max_abs_diff is not None and not self.codec_max_abs_diff <= CODEC_MAX_ABS_DIFF:
            faults.append(
                ("codec_max_abs_diff", f"{self.codec_max_abs_diff:.2e}", f"<= {CODEC_MAX_ABS_DIFF:g}")
            )
        if self.xvector_cosine is not None and not self.xvector_cosine >= XVECTOR_COSINE:
            faults.append(("xvector_cosine", f"{self.xvector_cosine:.6f}", f">= {XVECTOR_COSINE:g}"))
        if self.ref_code_agreement is not None and not self.ref_code_agreement >= 1.0:
            faults.append(("ref_code_agreement", f"{self.ref_code_agreement:.4f}", "1"))
        return faults

    def _parting(self) -> str:
        if self.parted_at is None:
            return "different"
        row, frame, codebook = self.parted_at
        clear = (
            "" if self.parted_margin is None else f", where the peer's choice led by {self.parted_margin:.1e}"
        )
        return f"different from frame {frame}, codebook {codebook} of row {row} on{clear}"

    def row(self) -> dict[str, Any]:
        """As JSON."""
        flat: dict[str, Any] = {"mode": self.mode, "dtype": self.dtype, "frames": self.frames}
        for name, logits in (("talker", self.talker), ("predictor", self.predictor)):
            flat |= {f"{name}_{key}": value for key, value in asdict(logits).items()}
        rest = (
            "greedy_frames_equal",
            "parted_at",
            "parted_margin",
            "codec_max_abs_diff",
            "xvector_cosine",
            "ref_code_agreement",
            "token_ids_equal",
            "tokenizer_swapped",
            "prompt_max_abs_diff",
            "peer_own_diff",
        )
        return flat | {name: getattr(self, name) for name in rest}


@dataclass(frozen=True, slots=True)
class Failure:
    """A limit that is not kept."""

    mode: str
    dtype: str
    criterion: str
    found: str
    limit: str


def report(rows: Sequence[ModeParity], about: Mapping[str, Any]) -> dict[str, Any]:
    """All modes as one JSON object."""
    failures = [failure for row in rows for failure in row.failures()]
    return {
        "schema_version": 1,
        **about,
        "ok": not failures,
        "failures": [asdict(f) for f in failures],
        "modes": [row.row() for row in rows],
    }


def _ratio(part: float, whole: float) -> float:
    if whole:
        return part / whole
    return 0.0 if part == 0 else float("inf")
