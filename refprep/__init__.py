"""refprep: prepare, prove and use the reference of a cloned voice."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refprep.api import lint, transcribe
    from refprep.api_build import build, build_corpus
    from refprep.api_clone import clone
    from refprep.api_encode import encode_voice
    from refprep.api_score import score
    from refprep.errors import RefprepError
    from refprep.pipeline.decode import decode_file
    from refprep.voice import Voice, load_voice, verify_voice

__version__ = "0.1.0"

# Where each public name lives. Looked up on first use, so `import refprep` and `refprep --help` stay
# free of torch.
_HOMES = {
    "RefprepError": "refprep.errors",
    "Voice": "refprep.voice.read",
    "build": "refprep.api_build",
    "build_corpus": "refprep.api_build",
    "encode_voice": "refprep.api_encode",
    "export_voice": "refprep.export.write",
    "clone": "refprep.api_clone",
    "decode_file": "refprep.pipeline.decode",
    "lint": "refprep.api",
    "load_voice": "refprep.voice.read",
    "score": "refprep.api_score",
    "transcribe": "refprep.api",
    "verify_voice": "refprep.voice.verify",
}

__all__ = [
    "RefprepError",
    "Voice",
    "__version__",
    "build",
    "build_corpus",
    "clone",
    "decode_file",
    "encode_voice",
    "export_voice",
    "lint",
    "load_voice",
    "score",
    "transcribe",
    "verify_voice",
]


def __getattr__(name: str) -> object:
    """Import a public name where it lives (PEP 562)."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'refprep' has no attribute {name!r}")
