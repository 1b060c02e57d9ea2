"""Is it the same person? A cosine, beside the cosines of people who are not.

python examples/compare_speakers.py a.wav b.wav control1.wav control2.wav ...
"""

from __future__ import annotations

import sys

from refprep.config import ModelConfig
from refprep.errors import RefprepError
from refprep.models.load import load_encoder, load_vad
from refprep.models.store import ModelStore
from refprep.pipeline.decode import decode_file
from refprep.pipeline.identity import cosine_matrix


def main(paths: list[str]) -> None:
    """Print the cosine of the first two clips, then that of the first one with every control."""
    encoder, voice_activity = load_encoder(ModelConfig(), ModelStore.default()), load_vad()
    clips = [decode_file(path) for path in paths]
    prints = [encoder.embed(clip, voice_activity.speech_spans(clip)) for clip in clips]
    cosines = cosine_matrix(prints)
    print(f"{encoder.name}: {paths[0]} and {paths[1]}: {cosines[0, 1]:.3f}")
    for index, path in enumerate(paths[2:], start=2):
        print(f"  control {path}: {cosines[0, index]:.3f}")
    if encoder.default_threshold is not None:
        print(
            f"  one voice counts from {encoder.default_threshold:.2f} with this encoder; trust the margin more"
        )


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(sys.argv[1:])
    except RefprepError as error:
        sys.exit(f"{error.where}: {error.what}. {error.fix}")
