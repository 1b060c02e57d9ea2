"""WavLM x-vectors through transformers: ``microsoft/wavlm-base-plus-sv`` and folders of the same layout.

config.json  preprocessor_config.json  model.safetensors | pytorch_model.bin
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError  # what torch raises; nothing is unpickled here
from typing import Any

import torch
from safetensors import SafetensorError

from refprep.errors import BackendError
from refprep.models.waveform_encoder import ENCODER_SAMPLE_RATE_HZ, WaveformEncoder

_LOADING_ERRORS = (OSError, ValueError, RuntimeError, LookupError, SafetensorError, UnpicklingError)


class WavLmEncoder(WaveformEncoder):
    """A SpeakerEncoder on ``WavLMForXVector``.

    The model card's threshold of 0.86 is not the default here: the card itself calls it dependent on the data, and users
    report another person of the same sex at 0.887. So a threshold has to be given, or measured.

    Safetensors are preferred. A ``pytorch_model.bin`` is a pickle, and transformers reads it with
    ``weights_only=True``, which refuses anything but tensors. Nothing is fetched, and no code of the folder runs
    (``trust_remote_code`` stays off, the class is named here).

    Args:
        folder: In the layout above.
        name: What voiceprints call this model.
        device: ``cpu`` or ``cuda``.

    Raises:
        BackendError: The folder holds no such model, or one with parameters that no file fills.
    """

    def __init__(self, folder: Path, *, name: str = "wavlm-base-plus-sv", device: str = "cpu") -> None:
        from transformers import Wav2Vec2FeatureExtractor, WavLMForXVector

        _refuse_other_models(folder)
        has_safetensors = (folder / "model.safetensors").is_file()
        try:
            with _quiet_transformers():
                # The dtype is named: a checkpoint saved in half precision would otherwise stay in it.
                model, loaded = WavLMForXVector.from_pretrained(
                    folder,
                    local_files_only=True,
                    use_safetensors=has_safetensors,
                    weights_only=True,
                    dtype=torch.float32,
                    output_loading_info=True,
                )
                extractor = Wav2Vec2FeatureExtractor.from_pretrained(folder, local_files_only=True)
        except _LOADING_ERRORS as error:
            raise _broken(folder, f"the model does not load: {error}") from error
        # transformers fills what is missing with random numbers and goes on.
        unfilled = sorted({*loaded["missing_keys"], *(str(k) for k in loaded["mismatched_keys"])})
        unfilled = [key for key in unfilled if not key.startswith("objective.")]
        if unfilled:
            raise _broken(folder, f"{len(unfilled)} parameters have no weights, such as {unfilled[0]}")
        if int(extractor.sampling_rate) != ENCODER_SAMPLE_RATE_HZ:
            raise _broken(folder, f"it hears {extractor.sampling_rate} Hz, not {ENCODER_SAMPLE_RATE_HZ}")
        super().__init__(name=name, dim=int(model.config.xvector_output_dim), device=device)
        self._extractor = extractor
        self._model = model.eval().to(device)

    def forward(self, waves: torch.Tensor) -> torch.Tensor:
        """(N, T) float32 at 16 kHz -> (N, dim) float32; every wave is brought to the extractor's own scale first."""
        inputs: Any = self._extractor(
            list(waves.cpu().numpy()), sampling_rate=ENCODER_SAMPLE_RATE_HZ, return_tensors="pt"
        )
        # No mask: all waves of a batch are equally long.
        embeddings: torch.Tensor = self._model(
            input_values=inputs["input_values"].to(self._device)
        ).embeddings
        return embeddings


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """No progress bar and no load report on stderr: what matters of it becomes an error here."""
    from transformers.utils import logging

    had_bar, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if had_bar:
            logging.enable_progress_bar()


def _refuse_other_models(folder: Path) -> None:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        model_type = config["model_type"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _broken(folder, f"config.json cannot be read: {error}") from error
    if model_type != "wavlm":
        raise _broken(folder, f"config.json describes a {model_type!r} model, not 'wavlm'")


def _broken(folder: Path, what: str) -> BackendError:
    return BackendError(
        what,
        where=str(folder),
        fix="Check it with `refprep models verify`, or give the folder of a WavLM x-vector.",
    )
