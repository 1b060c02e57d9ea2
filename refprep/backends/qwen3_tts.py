"""Qwen3-TTS at 12.5 frames a second as a backend; the engine itself is ``refprep.engine``."""

from __future__ import annotations

from pathlib import Path

from refprep.backends.qwen3_encoder import Qwen3ReferenceEncoder
from refprep.engine.codec.config import read_codec_config
from refprep.engine.config import ModelKind, read_config
from refprep.engine.speech import SpeechEngine, load_speech_engine
from refprep.engine.steps import StepMode
from refprep.errors import UsageError
from refprep.types import BACKEND_MODES, QWEN3_TTS, BackendProfile, SynthesisSettings
from refprep.units import CODE_RATE_HZ, FRAME_RATE_HZ


class Qwen3Backend:
    """A Qwen3-TTS checkpoint.

    Args:
        folder: Of the checkpoint.

    Attributes:
        folder: As given.
        kind: What the checkpoint follows.
        profile: What it can do.

    Raises:
        WeightsMissing: No checkpoint there.
        BackendError: Another model.
    """

    def __init__(self, folder: Path) -> None:
        config = read_config(folder)
        codec = read_codec_config(folder)
        self.folder, self.kind = folder, config.kind
        is_base = config.kind is ModelKind.BASE
        self.profile = BackendProfile(
            name=QWEN3_TTS,
            modes=tuple(BACKEND_MODES[QWEN3_TTS]) if is_base else (),
            needs_voice=is_base,
            languages=config.languages,
            takes_instruction=config.takes_instruct,
            streams=True,
            sample_rate_hz=CODE_RATE_HZ,
            channels=1,
            codec=codec.model_type,
            num_codebooks=codec.encoder_valid_num_quantizers,
            codebook_size=codec.encoder_config.codebook_size,
            frame_rate_hz=FRAME_RATE_HZ,
        )

    def encoder(self, *, device: str) -> Qwen3ReferenceEncoder:
        """See ``refprep.protocols.Backend``."""
        return Qwen3ReferenceEncoder(self.folder, device=device)

    def synthesizer(self, settings: SynthesisSettings) -> SpeechEngine:
        """See ``refprep.protocols.Backend``."""
        if settings.decoder_precision not in (None, "float32"):
            raise UsageError(
                "Qwen3-TTS decodes in float32 always", where="--decoder-precision", fix="Leave it out."
            )
        return load_speech_engine(
            self.folder,
            device=settings.device,
            dtype=settings.dtype,
            quantize=settings.quantize,
            rows_together=settings.rows_together,
            mode=None if settings.step_mode is None else StepMode(settings.step_mode),
            captures_ahead=False,
        )
