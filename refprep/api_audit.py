"""What precision does to a voice under a model, from Python: what `refprep audit` calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refprep.config import Config
from refprep.errors import UsageError, WeightsMissing
from refprep.models.load import model_folder, resolve_device
from refprep.models.store import ModelStore

if TYPE_CHECKING:
    from refprep.audit.round_trip import RoundTrip
    from refprep.types import Reference

MAX_TEXT = 120
"""Characters of the reference's own text that generators say, where no other is given."""


def audit_voice(
    voice: str | Path,
    model: str | Path,
    *,
    codec: str | Path | None = None,
    generators: Sequence[str] = ("bfloat16",),
    encoders: Sequence[str] = ("bfloat16", "float16", "int8", "tf32"),
    decoders: Sequence[str] = ("bfloat16", "int8"),
    seconds: float | None = None,
    text: str = "",
    frames: int = 50,
    controls: Sequence[str | Path] = (),
    config: Config | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Hold every precision against float32, with the reference of a voice; nothing is kept anywhere.

    Args:
        voice: Folder that `refprep build` wrote.
        model: Checkpoint or codec: a folder, or an id of `refprep models ls`.
        codec: Folder or id of a MOSS model's codec; None takes the one below the model, then the one that was pulled.
        generators: Precisions beside float32; an empty sequence looks at the codec alone.
        encoders: Likewise.
        decoders: Likewise.
        seconds: Of the reference; all of it when None.
        text: That generators say; the beginning of the reference's own when empty.
        frames: That generators write at most.
        controls: Audio of people it must not be; the cohort's people stand in where there is none.
        config: Settings; defaults when None.
        on_step: Told what is being done.

    Returns:
        The document of manifests/audit.schema.json; ``passed`` is false where float32 itself is inconsistent, or where the
        encoder's stored weights are refused by `refprep encode`.

    Raises:
        ManifestError, AudioDecodeError, UsageError: The input cannot be used.
        WeightsMissing, BackendError, DeviceError: The model cannot be loaded.
    """
    from refprep.audit.codecs import DECODERS, ENCODERS, check_precisions, open_audit_codec
    from refprep.audit.generators import GENERATORS, Saying, is_random
    from refprep.audit.matrix import Choices, run_audit
    from refprep.audit.report import audit_json
    from refprep.dsp.resample import resample
    from refprep.units import CODE_RATE_HZ
    from refprep.voice.read import load_voice

    settings = config or Config()
    choices = Choices(
        check_precisions(generators, GENERATORS, option="--generator") if generators else (),
        check_precisions(encoders, ENCODERS, option="--encoder"),
        check_precisions(decoders, DECODERS, option="--decoder"),
    )
    if frames < 1 or (seconds is not None and not seconds >= 1.0):
        raise UsageError("too little to compare", where="--seconds, --frames", fix="Give at least 1 of each.")
    found = load_voice(voice)
    reference = found.read_reference()
    samples = resample(reference.samples, reference.sample_rate_hz, CODE_RATE_HZ)
    length_s = len(samples) / CODE_RATE_HZ if seconds is None else seconds
    samples = samples[: round(length_s * CODE_RATE_HZ)]
    folder, device = model_folder(model, ModelStore.default()), resolve_device(settings.models.device)
    opened = open_audit_codec(folder, codec=_codec_folder(folder, codec), device=device)
    notes: list[str] = []
    hearing = _hearing(reference, controls, settings, length_s, notes)
    audit = run_audit(
        opened,
        Saying(text or _beginning(found.text), found.text, samples, frames),
        choices,
        model=folder,
        device=device,
        hearing=hearing,
        on_step=on_step,
    )
    weights = "random" if is_random(folder) or is_random(opened.folder) else "as given"
    return audit_json(audit, voice=str(voice), model=str(model), weights=weights, device=device, notes=notes)


def _codec_folder(folder: Path, codec: str | Path | None) -> Path | None:
    """Where the codec is that is not in the model's own folder; None for one that is."""
    from refprep.audit.codecs import lacks_codec
    from refprep.moss.codec import CODEC_NAME

    store = ModelStore.default()
    if codec is not None:
        return store.path(str(codec))
    if lacks_codec(folder) and store.status(CODEC_NAME).state == "present":
        return store.path(CODEC_NAME)
    return None


def _hearing(
    reference: Reference,
    controls: Sequence[str | Path],
    settings: Config,
    seconds: float,
    notes: list[str],
) -> RoundTrip | None:
    from refprep.api_build import calibration_paths
    from refprep.audit.round_trip import RoundTrip
    from refprep.errors import AudioDecodeError
    from refprep.models.verifiers import load_verifiers
    from refprep.pipeline.decode import decode_file

    strangers = {str(path): decode_file(path) for path in controls}
    try:
        verifiers = load_verifiers(
            settings.models, ModelStore.default(), calibrations=calibration_paths(settings)
        )
    except WeightsMissing as error:
        notes.append(f"likeness was skipped, no speaker encoder is here: {error.where}: {error.what}")
        return None
    try:
        return RoundTrip(reference, verifiers, strangers, seconds=seconds)
    except AudioDecodeError as error:
        notes.append(f"likeness was skipped: {error.where}: {error.what}")
        return None


def _beginning(text: str) -> str:
    """Whole words of a text, up to ``MAX_TEXT`` characters."""
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT].rsplit(" ", 1)[0]
