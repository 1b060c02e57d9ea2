"""A voice -> what a talker takes of it: from the voice's own folder, from the cache, or encoded now."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from refprep.backends.open import open_backend
from refprep.errors import BackendError, IntegrityError, MachineError, UsageError
from refprep.linter.rule import Finding, Severity
from refprep.pipeline.code_cache import CodeCache
from refprep.pipeline.decode import decode_file
from refprep.pipeline.encode import codes_case, encode_reference, reference_key
from refprep.protocols import Backend, VoiceEncoder
from refprep.types import CacheKey, Clip, CloneMode, CodeCacheEntry, TextNeed, VoicePrompt
from refprep.voice.code_files import judge_codes, read_codes, store_codes
from refprep.voice.names import AUDIO_NAME, CODES_NAME, VOICE_NAME
from refprep.voice.read import Voice

# What a machine may do otherwise without encoding otherwise: float32 sums in another order.
_ROUNDING = frozenset({"device", "torch_version"})


class CodesOrigin(enum.StrEnum):
    """Where codes were found."""

    VOICE = "voice"  # its own folder
    CACHE = "cache"
    ENCODED = "encoded"  # nowhere; they were made


@dataclass(frozen=True, slots=True, eq=False)
class FoundCodes:
    """Codes of a voice under a checkpoint.

    Attributes:
        entry: Codes and embedding.
        origin: Where they were.
        findings: Of the rules on codes (RP5xx), beside the reference as it is now.
    """

    entry: CodeCacheEntry
    origin: CodesOrigin
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Why nobody may speak with them; empty for sound ones."""
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)


def voice_prompt(
    voice: Voice,
    model: Path | Backend,
    *,
    mode: CloneMode | None = None,
    device: str = "cpu",
    cache: CodeCache | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> tuple[VoicePrompt, CodeCacheEntry]:
    """A voice as the talker of a checkpoint takes it.

    The whole reference is meant, its gaps and its tail included. Where the checkpoint has its encoders, the entry is of
    exactly these weights; where it has not, an entry of the voice's folder serves that fits the talker.

    Args:
        voice: As read from its folder.
        model: Of a checkpoint that takes a recorded voice: its folder, or its backend.
        mode: How the voice is given; None takes the backend's default.
        device: ``cpu`` or ``cuda``: where it would be encoded.
        cache: This user's when None.
        on_step: Told what is being done.

    Returns:
        The prompt, and the entry it was made of.

    Raises:
        UsageError: A checkpoint that takes no recorded voice, or not in this mode, or one with a rounded encoder and a voice
            without codes.
        IntegrityError: reference.wav is not what was built.
        AudioDecodeError: It cannot be read.
        WeightsMissing: No encoder here, and no codes in the voice that fit; or no checkpoint.
        BackendError: Another model; codes of two checkpoints that both fit one without encoders; or an encoder whose
            codes are unsound (RP5xx).
        DeviceError: The device is out of memory.
    """
    backend = open_backend(model) if isinstance(model, Path) else model
    encoder = backend.encoder(device=device)
    mode = mode or backend.profile.default_mode
    if mode not in backend.profile.modes or mode is None:
        raise UsageError(
            f"{backend.profile.name} has no mode {mode}",
            where="--mode",
            fix=f"Use one of {', '.join(backend.profile.modes)}.",
        )
    found = find_codes(voice, encoder, cache=cache, on_step=on_step)
    for finding in found.errors:
        raise BackendError(
            f"{finding.code} {finding.name}: {finding.message}", where=finding.path, fix=finding.remedy
        )
    entry = found.entry
    with contextlib.suppress(MachineError):  # a folder that is read only serves as well
        store_codes(voice, entry)
    if mode is CloneMode.X_VECTOR:
        return VoicePrompt(mode, entry.speaker_embedding, key=entry.key), entry
    needs_text = backend.profile.needs_text(mode) is TextNeed.REQUIRED
    text = voice.text if needs_text else None
    return VoicePrompt(mode, entry.speaker_embedding, text=text, codes=entry.codes, key=entry.key), entry


def find_codes(
    voice: Voice,
    encoder: VoiceEncoder,
    *,
    cache: CodeCache | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> FoundCodes:
    """Codes, and embedding where there is one, of a voice under a checkpoint; sound ones that are made go into the cache.

    Args:
        voice: As read from its folder; nothing is written into it (``store_codes`` does).
        encoder: Of the checkpoint; one whose weights are missing or rounded makes nothing.
        cache: This user's when None.
        on_step: Told what is being done.

    Raises:
        UsageError, IntegrityError, AudioDecodeError, WeightsMissing, BackendError, DeviceError: As ``voice_prompt``.
    """
    clip = _reference_clip(voice)
    on_step("look for codes")
    key = reference_key(clip.samples, clip.sample_rate_hz, encoder.facts)
    own = _usable(voice, clip, encoder)
    if fault := encoder.fault():
        fitting = _only_fitting(own, key, voice)
        if fitting is None:
            raise fault
        return fitting
    exact = [f for f in own if f.entry.key == key] or [
        f for f in own if f.entry.key.differs_in(key) <= _ROUNDING
    ]
    if exact:
        return exact[0]
    cache = cache if cache is not None else CodeCache.default()
    kept = cache.get(key)
    if kept is not None:
        return _found(kept, CodesOrigin.CACHE, voice, clip)
    on_step("encode the reference")
    found = _found(encode_reference(clip, encoder), CodesOrigin.ENCODED, voice, clip)
    if not found.errors:
        with contextlib.suppress(MachineError):  # a cache that cannot be written is no error
            cache.put(found.entry)
    return found


def _found(entry: CodeCacheEntry, origin: CodesOrigin, voice: Voice, clip: Clip) -> FoundCodes:
    case = codes_case(entry, clip.samples, clip.sample_rate_hz)
    return FoundCodes(entry, origin, judge_codes(case, path=str(voice.folder)))


def _usable(voice: Voice, clip: Clip, encoder: VoiceEncoder) -> list[FoundCodes]:
    """Sound entries of the folder. A damaged or stale file is as good as absent; `refprep verify` reports it."""
    entries = [e for _, e in read_codes(voice.folder) if isinstance(e, CodeCacheEntry)]
    fitting = [
        _found(e, CodesOrigin.VOICE, voice, clip)
        for e in entries
        if e.key.audio_sha256 == clip.id and encoder.fits(e)
    ]
    return [f for f in fitting if not f.errors]


def _only_fitting(own: list[FoundCodes], key: CacheKey, voice: Voice) -> FoundCodes | None:
    """The entry that fits as far as the checkpoint can say without its encoders."""
    unknown = {
        n for n in ("codec_weights_sha256", "speaker_weights_sha256", "config_sha256") if not getattr(key, n)
    }
    fitting = [f for f in own if f.entry.key.differs_in(key) <= unknown | _ROUNDING]
    makers = {
        (k.codec_weights_sha256, k.speaker_weights_sha256, k.config_sha256)
        for k in (f.entry.key for f in fitting)
    }
    if len(makers) > 1:
        raise BackendError(
            f"the codes of {len(makers)} checkpoints fit this one, and without its encoders nobody can tell which is meant",
            where=str(voice.folder / CODES_NAME),
            fix="Leave one of them in the folder, or use the whole checkpoint.",
        )
    return fitting[0] if fitting else None


def _reference_clip(voice: Voice) -> Clip:
    clip = decode_file(voice.audio_path)
    recorded = voice.document["audio"]
    if not isinstance(recorded, dict) or clip.id != recorded.get("pcm_sha256"):
        raise IntegrityError(
            f"its samples are not those that {VOICE_NAME} was written for, so its text may not be theirs",
            where=str(voice.folder / AUDIO_NAME),
            fix="See `refprep verify`, and build the voice again.",
        )
    return clip
