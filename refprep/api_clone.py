"""Speaking with a voice, from Python: what `refprep clone` calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refprep.config import Config
from refprep.errors import UncoveredReferenceError, UsageError
from refprep.models.load import load_backend, resolve_device
from refprep.models.store import ModelStore
from refprep.types import CloneMode, CoverageRule, SynthesisSettings

if TYPE_CHECKING:
    from refprep.api_score import OutputScorer
    from refprep.cloning.clone import Progress
    from refprep.cloning.record import CloneJob, CloneOptions, Spoken, Streamed
    from refprep.protocols import Backend, LoadedSynthesizer
    from refprep.scoring import ScoredOutput
    from refprep.types import BackendProfile, Samples, Sampling, SynthesisResult, VoicePrompt
    from refprep.voice import Voice

__all__ = ["Cloner", "clone"]

_TEXT_RULES = ("RP101", "RP102", "RP103", "RP104")
"""What makes an in-context talker run away: speech without text, text without speech."""


class Cloner:
    """A model and, where it speaks with one, a voice: opened once, used for many texts.

    Args:
        model: Checkpoint folder, or an id of `refprep models ls`.
        voice: Folder that `refprep build` wrote; Base checkpoints need one, MOSS-TTS may have one, the others take none.
        mode: How the voice is given; None takes the backend's default: in context for Qwen3-TTS, clone for MOSS-TTS.
        device: ``auto``, ``cuda`` or ``cpu``.
        dtype: ``float32`` or ``bfloat16``; None takes bfloat16 on CUDA, float32 on a CPU.
        force: Use the reference's text although the reference's text does not cover its audio.
        verify: Score what was spoken, and try again where it does not pass.
        quantize: ``int8``: the layers of talker and code predictor in int8, on a CPU; None leaves them as they are.
        step_mode: How frames are run: ``eager``, ``compiled`` or ``graph``; None takes what suits the device.
        codec: Folder or id of MOSS-TTS's codec; None takes the one below the model, then the one that was pulled.
        loudness: Of a reference for MOSS-TTS: ``as-is`` or ``published``; None is as it is.
        decoder_precision: Of MOSS-TTS's codec decoder; None takes float32.
        fast_batch: Texts that are spoken side by side share their matrix products: faster, and their codes may part from
            those of the text alone at a near tie.
        config: Settings; defaults when None.
        on_step: Told what is being done.

    Raises:
        ManifestError, AudioDecodeError, UsageError: The voice or the model cannot be used so.
        UncoveredReferenceError: The reference's text and audio differ.
        WeightsMissing, BackendError, DeviceError: The model cannot be loaded.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        voice: str | Path | None = None,
        mode: CloneMode | None = None,
        device: str = "auto",
        dtype: str | None = None,
        force: bool = False,
        verify: bool = False,
        codec: str | Path | None = None,
        loudness: str | None = None,
        decoder_precision: str | None = None,
        fast_batch: bool = False,
        quantize: str | None = None,
        step_mode: str | None = None,
        config: Config | None = None,
        on_step: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._config = config or Config()
        backend = load_backend(model, ModelStore.default(), codec=codec, loudness=loudness)
        self.profile: BackendProfile = backend.profile
        self.device = resolve_device(device)
        self.dtype = dtype or ("bfloat16" if self.device == "cuda" else "float32")
        self._refuse_misfit(backend.folder, voice, verify=verify)
        self.voice: Voice | None = None
        self.prompt: VoicePrompt | None = None
        self.pace_per_s: float | None = None
        self._facts: dict[str, Any] = {}
        self._scorer: OutputScorer | None = None
        if voice is not None:
            self._open_voice(Path(voice), backend, mode, force=force, on_step=on_step)
        if verify and voice is not None:
            from refprep.api_score import OutputScorer

            on_step("open the voice for verification")
            self._scorer = OutputScorer(voice, config=self._config)
        on_step(f"load {backend.folder.name}")
        self.synthesizer: LoadedSynthesizer = backend.synthesizer(
            SynthesisSettings(
                device=self.device,
                dtype=self.dtype,
                rows_together=fast_batch,
                quantize=quantize,
                step_mode=step_mode,
                decoder_precision=decoder_precision,
            )
        )

    @property
    def facts(self) -> Mapping[str, Any]:
        """Model, device and voice, for the record beside the audio."""
        return {
            "backend": self.profile.name,
            **self.synthesizer.facts,
            "device": self.device,
            "dtype": self.dtype,
            "voice": None if self.voice is None else self._facts,
        }

    @property
    def sampling(self) -> Sampling:
        """The checkpoint's own."""
        return self.synthesizer.sampling

    @property
    def language(self) -> str:
        """Of the voice where the model knows it, as BCP 47; empty leaves it to the model."""
        from refprep.text.language import english_name

        if self.voice is None:
            return ""
        known = self.profile.languages
        is_known = known is None or english_name(self.voice.language).lower() in known
        return self.voice.language if is_known else ""

    def speak(
        self,
        jobs: Sequence[CloneJob],
        options: CloneOptions | None = None,
        *,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> list[Spoken]:
        """Speak texts side by side (see ``refprep.cloning.clone.clone``)."""
        from refprep.cloning.clone import clone as run

        return run(
            jobs,
            self.synthesizer,
            voice=self.prompt,
            pace_per_s=self.pace_per_s,
            options=self._options(options),
            score=None if self._scorer is None else self._score,
            on_progress=on_progress,
        )

    def check(self, jobs: Sequence[CloneJob], options: CloneOptions | None = None) -> None:
        """Refuse what ``speak`` would refuse, before anything is spoken.

        Raises:
            TextInputError: A job without words.
            UsageError: A job that the model cannot do.
        """
        from refprep.cloning.clone import check_jobs

        check_jobs(
            jobs,
            self.synthesizer,
            voice=self.prompt,
            pace_per_s=self.pace_per_s,
            options=self._options(options),
        )

    def stream(self, job: CloneJob, options: CloneOptions | None = None) -> Iterator[Samples | Streamed]:
        """Speak one text as a stream (see ``refprep.cloning.clone.stream_clone``)."""
        from refprep.cloning.clone import stream_clone

        return stream_clone(
            job,
            self.synthesizer,
            voice=self.prompt,
            pace_per_s=self.pace_per_s,
            options=self._options(options),
        )

    def _options(self, options: CloneOptions | None) -> CloneOptions:
        from refprep.cloning.record import CloneOptions

        return options or CloneOptions(sampling=self.sampling)

    def _refuse_misfit(self, folder: Path, voice: str | Path | None, *, verify: bool) -> None:
        """A voice where the model takes none, or none where it needs one."""
        if self.profile.needs_voice and voice is None:
            raise UsageError(
                "a Base checkpoint speaks with a recorded voice, and none is given",
                where=str(folder),
                fix="Name one with --voice; `refprep build` makes it.",
            )
        if not self.profile.modes and (voice is not None or verify):
            raise UsageError(
                "the checkpoint has no recorded voice to speak with or to verify against",
                where=str(folder),
                fix="Leave out --voice and --verify, or use a Base checkpoint.",
            )
        if verify and voice is None:
            raise UsageError(
                "there is no recorded voice to verify against",
                where="--verify",
                fix="Name one with --voice, or leave it out.",
            )

    def _open_voice(
        self,
        folder: Path,
        backend: Backend,
        mode: CloneMode | None,
        *,
        force: bool,
        on_step: Callable[[str], None],
    ) -> None:
        from refprep.guard.budget import reference_pace
        from refprep.voice import load_voice
        from refprep.voice.codes import voice_prompt

        self.voice = voice = load_voice(folder)
        chosen = mode or self.profile.default_mode
        is_gated = chosen in self.profile.modes and self.profile.coverage(chosen) is CoverageRule.GATE
        if is_gated and not force:
            on_step("lint the reference")
            refuse_uncovered(folder, self._config)
        self.prompt, entry = voice_prompt(voice, backend, mode=mode, device=self.device, on_step=on_step)
        reference = voice.read_reference()
        clips_s = sum(c.end_sample - c.start_sample for c in reference.clips) / reference.sample_rate_hz
        self.pace_per_s = reference_pace(voice.text, clips_s, voice.language)
        self._facts = {
            "folder": str(folder),
            "mode": self.prompt.mode.value,
            "pcm_sha256": entry.key.audio_sha256,
            "code_key": entry.key.digest,
            "codec": entry.key.codec,
            "encoder_dtype": entry.key.encoder_dtype,
            "preparation": entry.key.tail_policy,
            "reference_frames": self.prompt.num_frames,
        }

    def _score(self, result: SynthesisResult, job: CloneJob) -> ScoredOutput:
        from refprep.pipeline.samples import clip_of

        assert self._scorer is not None  # noqa: S101  # speak() passes this method only with a scorer
        clip = clip_of(result.samples, result.sample_rate_hz, path=job.name or "output")
        return self._scorer.score_clip(clip, text=result.text, language=job.language)


def refuse_uncovered(folder: Path, config: Config) -> None:
    """Lint a voice's text against its audio.

    Raises:
        UncoveredReferenceError: An error among RP101 to RP104.
        WeightsMissing: No recogniser is here to look.
    """
    from refprep.api import lint
    from refprep.linter.rule import Severity

    rules = dataclasses.replace(config.lint, select=_TEXT_RULES, ignore=(), profile="", baseline="")
    reports = lint([folder], config=dataclasses.replace(config, lint=rules))
    faults = [f for r in reports for f in r.findings if f.severity is Severity.ERROR]
    if faults:
        raise UncoveredReferenceError(
            f"{faults[0].code} {faults[0].message}",
            where=str(folder),
            fix="Correct the reference (`refprep lint` shows where), use a --mode that does without its text (x-vector, clone), "
            "or insist with --force.",
        )


def clone(
    text: str,
    voice: str | Path | None,
    model: str | Path,
    *,
    language: str = "",
    seed: int = 0,
    mode: CloneMode | None = None,
    options: CloneOptions | None = None,
    verify: bool = False,
    force: bool = False,
    device: str = "auto",
    dtype: str | None = None,
    config: Config | None = None,
) -> Spoken:
    """Speak one text; for many open a ``Cloner`` once.

    Args:
        text: Any length.
        voice: Folder that `refprep build` wrote; None for checkpoints with voices of their own.
        model: Checkpoint folder, or an id of `refprep models ls`.
        language: BCP 47; empty takes the voice's.
        seed: The same call with the same seed gives the same codes.
        mode: How the voice is given; None takes the backend's default.
        options: Sampling, attempts, margins; the checkpoint's sampling when None.
        verify: Score what was spoken.
        force: Speak although the reference's text does not cover its audio.
        device: ``auto``, ``cuda`` or ``cpu``.
        dtype: ``float32`` or ``bfloat16``.
        config: Settings; defaults when None.

    Returns:
        Audio and every attempt; ask ``passed`` before you use it.

    Raises:
        RefprepError: As ``Cloner`` and ``refprep.cloning.clone.clone``.
    """
    from refprep.cloning.record import CloneJob

    cloner = Cloner(
        model, voice=voice, mode=mode, device=device, dtype=dtype, force=force, verify=verify, config=config
    )
    (spoken,) = cloner.speak([CloneJob(text, language or cloner.language, seed)], options)
    return spoken
