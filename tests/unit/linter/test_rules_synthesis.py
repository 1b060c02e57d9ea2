"""RP601: a synthesis ends by itself or it failed."""

from __future__ import annotations

import numpy as np
import pytest

from refprep.linter.registry import all_rules
from refprep.types import GeneratedCodes, StopReason, SynthesisResult


def result(stop):
    codes = np.zeros((25, 16), np.int32)
    generated = GeneratedCodes(codes, np.zeros(25, np.int32), stop, 7, 0.1, 1.0)
    return SynthesisResult(np.zeros(25 * 1920, np.float32), 24_000, "Hello.", generated, 0.1, 1.0)


FIRES = {"RP601": (result(StopReason.MAX_FRAMES), "max-frames, after 2.0 s", "another seed")}
QUIET = {"RP601": result(StopReason.EOS)}


@pytest.mark.parametrize("stop", [s for s in StopReason if s is not StopReason.EOS])
def test_every_end_but_eos_is_a_finding(stop):
    (hit,) = all_rules()["RP601"].check(result(stop))
    assert stop.value in hit.message
    assert hit.evidence["seed"] == 7


def test_eos_is_none():
    assert list(all_rules()["RP601"].check(QUIET["RP601"])) == []
