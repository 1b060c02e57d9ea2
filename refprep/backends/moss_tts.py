"""MOSS-TTS as a backend; the engine itself is ``refprep.moss``.

The codec is a repository of its own upstream. Here it is named, or lies in ``audio_tokenizer/`` below the generator.
"""

from __future__ import annotations

from pathlib import Path

import torch

from refprep.backends.moss_encoder import MossVoiceEncoder
from refprep.errors import BackendError, UsageError, WeightsMissing
from refprep.moss.codec import CODEC_NAME, Loudness, OutputDecoder, Precision, read_codec_config
from refprep.moss.config import MossKind, read_config
from refprep.moss.load import DTYPES, load_generator
from refprep.moss.speech import MossSynthesizer
from refprep.types import BACKEND_MODES, MOSS_TTS, BackendProfile, CloneMode, SynthesisSettings
from refprep.units import CODE_RATE_HZ, FRAME_RATE_HZ

CODEC_FOLDER = "audio_tokenizer"
"""Below a generator's folder."""

CODEC_V2_NAME = "moss-audio-tokenizer-v2"

LOUDNESS = {"as-is": Loudness.AS_IS, "published": Loudness.PUBLISHED}
DEFAULT_LOUDNESS = "as-is"
"""The samples that were proven are the samples that are encoded. The published processor moves a reference toward -20 dBFS, by
3 dB at most; its gain depends on the whole clip, so that a reference is no longer a prefix of a longer one that begins with it.
Which of the two clones better was not measured here."""


class MossBackend:
    """A MOSS-TTS checkpoint.

    Args:
        folder: Of the generator.
        codec: Folder of its codec; None takes ``audio_tokenizer/`` below the generator.
        loudness: ``as-is`` or ``published``; None takes the default.

    Attributes:
        folder: As given.
        codec: Folder of the codec, there or not.
        loudness: What happens to the level of a reference.
        profile: What it can do.

    Raises:
        WeightsMissing: No checkpoint there.
        BackendError: One of the family that is not run here.
        UsageError: An unknown loudness.
    """

    def __init__(self, folder: Path, *, codec: Path | None = None, loudness: str | None = None) -> None:
        config = read_config(folder)
        name = loudness or DEFAULT_LOUDNESS
        if name not in LOUDNESS:
            raise UsageError(
                f"loudness {name!r} is unknown", where="--loudness", fix=f"Use {' or '.join(LOUDNESS)}."
            )
        self.folder, self.loudness = folder, LOUDNESS[name]
        self.codec = codec or folder / CODEC_FOLDER
        self._is_v1 = config.sample_rate_hz == CODE_RATE_HZ
        is_local = config.kind is MossKind.LOCAL
        self.profile = BackendProfile(
            name=MOSS_TTS,
            modes=tuple(m for m in BACKEND_MODES[MOSS_TTS] if not (is_local and m is CloneMode.BOTH)),
            needs_voice=False,
            languages=None,
            takes_instruction=True,
            streams=True,
            sample_rate_hz=config.sample_rate_hz,
            channels=1 if self._is_v1 else 2,
            codec=CODEC_NAME if self._is_v1 else CODEC_V2_NAME,
            num_codebooks=config.n_vq,
            codebook_size=config.codebook_size,
            frame_rate_hz=FRAME_RATE_HZ,
        )

    def encoder(self, *, device: str) -> MossVoiceEncoder:
        """See ``refprep.protocols.Backend``."""
        self._require_codec()
        return MossVoiceEncoder(self.codec, loudness=self.loudness, device=device)

    def synthesizer(self, settings: SynthesisSettings) -> MossSynthesizer:
        """See ``refprep.protocols.Backend``."""
        precision = self._precision(settings)
        self._require_codec()
        checkpoint = load_generator(
            self.folder, device=torch.device(settings.device), dtype=DTYPES[settings.dtype]
        )
        decoder = OutputDecoder(self.codec, precision=precision, device=settings.device)
        return MossSynthesizer(checkpoint, decoder, rows_together=settings.rows_together)

    def _precision(self, settings: SynthesisSettings) -> Precision:
        if settings.dtype not in DTYPES:
            raise UsageError(
                f"dtype {settings.dtype!r} is unknown", where="--dtype", fix=f"Choose of {', '.join(DTYPES)}."
            )
        if settings.quantize is not None:
            raise UsageError(
                "MOSS-TTS generators are not quantized here",
                where="--quantize",
                fix="Name a checkpoint that is stored quantized; the codec's decoder takes --decoder-precision int8.",
            )
        if settings.step_mode not in (None, "eager"):
            raise UsageError("MOSS-TTS runs its frames eagerly", where="--step-mode", fix="Leave it out.")
        try:
            return Precision(settings.decoder_precision or Precision.FLOAT32)
        except ValueError as error:
            raise UsageError(
                f"decoder precision {settings.decoder_precision!r} is unknown",
                where="--decoder-precision",
                fix=f"Choose of {', '.join(Precision)}.",
            ) from error

    def _require_codec(self) -> None:
        """The codec is there, is the one that is run here, and has the generator's codebooks."""
        if not self._is_v1:
            raise BackendError(
                "its codec is MOSS-Audio-Tokenizer-v2 (48 kHz stereo): that source code is published only inside the "
                "repository of its weights, which refprep does not run, so there is no engine for it",
                where=str(self.folder),
                fix="Use a model with MOSS-Audio-Tokenizer v1 (24 kHz), such as OpenMOSS-Team/MOSS-TTS-v1.5.",
            )
        if not (self.codec / "config.json").is_file():
            raise WeightsMissing(
                "the codec of this MOSS-TTS model is not here; upstream it is a repository of its own",
                where=str(self.codec),
                fix=f"Run `refprep models pull {CODEC_NAME}`, put its files into {CODEC_FOLDER}/ below the model, or name "
                "the folder with --codec.",
            )
        known = read_codec_config(self.codec).quantizer
        own = self.profile
        if known.num_quantizers < own.num_codebooks or known.codebook_size != own.codebook_size:
            raise BackendError(
                f"the codec has {known.num_quantizers} codebooks of {known.codebook_size}, the generator writes "
                f"{own.num_codebooks} of {own.codebook_size}",
                where=str(self.codec),
                fix="Name the codec that the generator was trained with.",
            )
