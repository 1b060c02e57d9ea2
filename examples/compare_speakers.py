"""Is it the same person? A score, beside the scores of people who are not.

python examples/compare_speakers.py a.wav b.wav control1.wav control2.wav ...
"""

from __future__ import annotations

import sys

from refprep.config import ModelConfig
from refprep.errors import RefprepError
from refprep.models.load import load_vad
from refprep.models.store import ModelStore
from refprep.models.verifiers import load_verifiers
from refprep.pipeline.decode import decode_file


def main(paths: list[str]) -> None:
    """Print the score of the first two clips, then that of the first one with every control."""
    (verifier,), voice_activity = load_verifiers(ModelConfig(), ModelStore.default()), load_vad()
    clips = [decode_file(path) for path in paths]
    prints = [verifier.embed(clip, voice_activity.speech_spans(clip)) for clip in clips]
    scores = verifier.matrix(prints)
    print(f"{verifier.model}, {verifier.scale}: {paths[0]} and {paths[1]}: {scores[0, 1]:.3f}")
    for index, path in enumerate(paths[2:], start=2):
        print(f"  control {path}: {scores[0, index]:.3f}")
    print(f"  one voice counts from {verifier.threshold:.2f}; trust the margin to the controls more")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(sys.argv[1:])
    except RefprepError as error:
        sys.exit(f"{error.where}: {error.what}. {error.fix}")
