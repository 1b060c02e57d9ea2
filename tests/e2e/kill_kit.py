"""A process that builds a voice and says where it is: ``python kill_kit.py CLIPS FOLDER SPEAKER LENGTH_S``.

It prints ``start`` when everything is imported, every step of the build, and ``done``; then it waits to be killed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from build_kit import ordinary_scene

from refprep.config import BuildConfig
from refprep.pipeline.build import BuiltVoice


def build(clips: Path, folder: Path, speaker: str, length_s: float, on_step=lambda _: None) -> BuiltVoice:
    """Build a voice of the clips that are there."""
    config = BuildConfig(min_s=length_s, max_s=12.0, target_s=length_s)
    return ordinary_scene(clips).build(folder, config=config, speaker=speaker, on_step=on_step)


def main() -> None:
    clips, folder, speaker, length_s = sys.argv[1:]

    def say(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    say("start")
    build(Path(clips), Path(folder), speaker, float(length_s), say)
    say("done")
    sys.stdin.read()


if __name__ == "__main__":
    main()
