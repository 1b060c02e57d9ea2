"""How much memory a long stream takes: speak for some minutes, give every sample away, and print the peak as JSON.

    python examples/stream_memory.py --minutes 1
    python examples/stream_memory.py --minutes 20

Both print about the same: what was given away is not kept. Without --model a tiny model of random weights speaks; what it
says is noise, and it never ends by itself, so that every request takes its 15 s.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from refprep.engine.random_checkpoint import write_random_checkpoint
from refprep.engine.speech import load_speech_engine
from refprep.errors import RefprepError
from refprep.types import SpeechRequest, StreamEnd

REQUEST_FRAMES = 188
TEXT = "The stream goes on."


def peak_bytes() -> int:
    """Most memory that this process ever had in use (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def main() -> None:
    """Speak and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="of audio")
    parser.add_argument("--model", type=Path, help="CustomVoice checkpoint; a tiny random one when left out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.model or Path(scratch) / "tiny"
        if options.model is None:
            write_random_checkpoint(folder, "custom_voice", "0b6")
        engine = load_speech_engine(folder, device="cpu", dtype="float32", never_ends=True)
        loaded = peak_bytes()
        num_samples = num_requests = 0
        while num_samples < options.minutes * 60 * engine.sample_rate_hz:
            request = SpeechRequest(TEXT, speaker="ryan", seed=num_requests, max_frames=REQUEST_FRAMES)
            for item in engine.stream(request):
                if not isinstance(item, StreamEnd):
                    num_samples += len(item)
            num_requests += 1
    row = {
        "audio_s": num_samples / engine.sample_rate_hz,
        "requests": num_requests,
        "loaded_bytes": loaded,
        "peak_bytes": peak_bytes(),
    }
    print(json.dumps(row))


if __name__ == "__main__":
    try:
        main()
    except RefprepError as error:
        sys.exit(f"{error.where}: {error.what}. {error.fix}")
