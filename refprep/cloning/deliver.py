"""Audio and its record to disk; what did not pass never takes the name it was to have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from refprep.atomic import write_text
from refprep.cloning.audio import write_speech
from refprep.cloning.document import spoken_document
from refprep.cloning.record import CloneOptions, Spoken

_FAILED = ".failed"


def deliver(
    spoken: Spoken, path: Path, *, options: CloneOptions, facts: Mapping[str, Any]
) -> tuple[Path, dict[str, Any]]:
    """Write the audio and the JSON beside it.

    An output that did not pass goes to ``NAME.failed.wav``: a script that only looks for the file it asked for does not
    take a runaway for speech. Whatever stood under the name before stays.

    Returns:
        Where the audio is, and the record.

    Raises:
        MachineError: The disk refused.
    """
    target = path if spoken.passed else path.with_name(f"{path.stem}{_FAILED}{path.suffix}")
    digest = write_speech(target, spoken.samples, spoken.sample_rate_hz)
    document = spoken_document(spoken, options=options, facts=facts, audio=target.name, audio_sha256=digest)
    write_text(target.with_suffix(".json"), json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    if spoken.passed:
        for stale in (path.with_name(f"{path.stem}{_FAILED}{s}") for s in (path.suffix, ".json")):
            stale.unlink(missing_ok=True)
    return target, document
