"""A seed is a promise: the same request gives the same codes in the next release, too.

``frozen_codes.json`` was written by this file (``python tests/golden/test_frozen_codes.py``) when draws were defined:
Philox 4x32 at (frame, codebook), inverse cumulative distribution in the order of ids. A change that alters it is a new
definition, and belongs into the changelog.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from engine_requests import loaded, voice

from refprep.engine.engine import Engine
from refprep.engine.steps import StepMode
from refprep.types import CloneMode, SpeechRequest

FROZEN = Path(__file__).parent / "qwen3_tts" / "frozen_codes.json"
SEEDS = (0, 1, 2**63)
FRAMES = 12
CHECKPOINTS = ("base-0.6b", "base-1.7b")


def requests(name):
    modes = {"x-vector": voice(name, CloneMode.X_VECTOR), "in context": voice(name, CloneMode.ICL)}
    return {
        f"{mode}, seed {seed}": SpeechRequest(
            "Seven words are said in this line.", voice=one, seed=seed, max_frames=FRAMES
        )
        for mode, one in modes.items()
        for seed in SEEDS
    }


def written(name, **options):
    asked = requests(name)
    engine = Engine(loaded(name), never_ends=True, **options)
    return {
        key: found.codes.tolist()
        for key, found in zip(asked, engine.generate(list(asked.values())), strict=True)
    }


@pytest.mark.usefixtures("one_torch_thread")
@pytest.mark.parametrize("name", CHECKPOINTS)
@pytest.mark.parametrize("together", [False, True])
def test_seeds_give_the_codes_they_gave(name, together):
    frozen = json.loads(FROZEN.read_text("utf-8"))[name]
    found = written(name, rows_together=together)
    assert frozen.keys() == found.keys()
    for key, codes in frozen.items():
        assert np.array_equal(codes, found[key]), key
    assert len({json.dumps(codes) for codes in frozen.values()}) == len(frozen)


if __name__ == "__main__":
    everything = {name: written(name, mode=StepMode.EAGER) for name in CHECKPOINTS}
    FROZEN.write_text(json.dumps(everything, separators=(",", ":")) + "\n", encoding="utf-8")
    sys.stdout.write(f"{FROZEN}\n")
