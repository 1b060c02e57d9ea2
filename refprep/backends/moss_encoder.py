"""A MOSS-TTS codec as a VoiceEncoder: codes in float32, and no speaker embedding, since the generator takes none."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path

from refprep.errors import UsageError, WeightsMissing
from refprep.moss.codec import Loudness, ReferenceEncoder
from refprep.moss.codec.load import ENCODER, QUANTIZER, open_codec
from refprep.types import CodeCacheEntry, CodeMatrix, EncoderFacts, Samples


class MossVoiceEncoder:
    """The encoder of a codec; every generator with this codec takes its codes, so their key names the codec alone.

    Args:
        folder: Of the codec.
        loudness: What happens to the level of a reference; a part of every key.
        device: ``cpu`` or ``cuda``.

    Raises:
        WeightsMissing: No codec there.
        BackendError: Another codec.
    """

    def __init__(self, folder: Path, *, loudness: Loudness, device: str = "cpu") -> None:
        self.folder = folder
        self._encoder = ReferenceEncoder(folder, loudness=loudness, device=device)

    @property
    def name(self) -> str:
        """Of the codec's folder."""
        return self._encoder.name

    def fault(self) -> UsageError | WeightsMissing | None:
        """See ``refprep.protocols.VoiceEncoder``."""
        if not self._has_encoder:
            return WeightsMissing(
                "the codec carries no encoder",
                where=str(self.folder),
                fix="Encode the voice where the whole codec is, and take its folder along: the codes in it serve here.",
            )
        return self._encoder.fault()

    @cached_property
    def facts(self) -> EncoderFacts:
        """See ``refprep.protocols.ReferenceEncoder``; the hash of weights that are not there, or may not encode, is empty."""
        facts = self._encoder.facts
        return facts if self._has_encoder else replace(facts, codec_weights_sha256="")

    def fits(self, entry: CodeCacheEntry) -> bool:
        """See ``refprep.protocols.VoiceEncoder``."""
        return entry.key.codec == self.facts.codec and entry.speaker_embedding is None

    def encode(self, samples: Samples) -> CodeMatrix:
        """See ``refprep.protocols.ReferenceEncoder``."""
        return self._encoder.encode(samples)

    def embed(self, samples: Samples) -> None:
        """There is none."""

    @cached_property
    def _has_encoder(self) -> bool:
        names = open_codec(self.folder).files
        return all(any(name.startswith(side) for name in names) for side in (ENCODER, QUANTIZER))
