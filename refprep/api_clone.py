"""Speaking with a voice, from Python: what `refprep clone` calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refprep.config import Config
from refprep.errors import UncoveredReferenceError, UsageError
from refprep.models.load import resolve_device
from refprep.models.store import ModelStore
from refprep.types import CloneMode

if TYPE_CHECKING:
    from refprep.api_score import OutputScorer
    from refprep.cloning.clone import Progress
    from refprep.cloning.record import CloneJob, CloneOptions, Spoken, Streamed
    from refprep.engine.speech import SpeechEngine
    from refprep.engine.steps import StepMode
    from refprep.scoring import ScoredOutput
    from refprep.types import Samples, SamplingParams, SynthesisResult, VoicePrompt
    from refprep.voice import Voice

__all__ = ["Cloner", "clone"]

_TEXT_RULES = ("RP101", "RP102", "RP103", "RP104")
"""What makes an in-context talker run away: speech without text, text without speech."""


def _step_mode(name: str | None) -> StepMode | None:
    from refprep.engine.steps import StepMode

    return None if name is None else StepMode(name)


class Cloner:
    """A model and, where it speaks with one, a voice: opened once, used for many texts.

    Args:
        model: Checkpoint folder, or an id of `refprep models ls`.
        voice: Folder that `refprep build` wrote; Base checkpoints need one, the others take none.
        mode: In context, or by the speaker embedding alone.
        device: ``auto``, ``cuda`` or ``cpu``.
        dtype: ``float32`` or ``bfloat16``; None takes bfloat16 on CUDA, float32 on a CPU.
        force: Speak in context although the reference's text does not cover its audio.
        verify: Score what was spoken, and try again where it does not pass.
        quantize: ``int8``: the layers of talker and code predictor in int8, on a CPU; None leaves them as they are.
        step_mode: How frames are run: ``eager``, ``compiled`` or ``graph``; None takes what suits the device.
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
        mode: CloneMode = CloneMode.ICL,
        device: str = "auto",
        dtype: str | None = None,
        force: bool = False,
        verify: bool = False,
        fast_batch: bool = False,
        quantize: str | None = None,
        step_mode: str | None = None,
        config: Config | None = None,
        on_step: Callable[[str], None] = lambda _: None,
    ) -> None:
        from refprep.engine.config import ModelKind, read_config
        from refprep.engine.speech import load_speech_engine
        from refprep.models.load import model_folder

        self._config = config or Config()
        folder = model_folder(model, ModelStore.default())
        kind = read_config(folder).kind
        self.device = resolve_device(device)
        self.dtype = dtype or ("bfloat16" if self.device == "cuda" else "float32")
        if kind is ModelKind.BASE and voice is None:
            raise UsageError(
                "a Base checkpoint speaks with a recorded voice, and none is given",
                where=str(folder),
                fix="Name one with --voice; `refprep build` makes it.",
            )
        if kind is not ModelKind.BASE and (voice is not None or verify):
            raise UsageError(
                f"a {kind.value} checkpoint has no recorded voice to speak with or to verify against",
                where=str(folder),
                fix="Leave out --voice and --verify, or use a Base checkpoint.",
            )
        self.voice: Voice | None = None
        self.prompt: VoicePrompt | None = None
        self.pace_per_s: float | None = None
        self._facts: dict[str, Any] = {}
        self._scorer: OutputScorer | None = None
        if voice is not None:
            self._open_voice(Path(voice), folder, mode, force=force, on_step=on_step)
        if verify and voice is not None:
            from refprep.api_score import OutputScorer

            on_step("open the voice for verification")
            self._scorer = OutputScorer(voice, config=self._config)
        on_step(f"load {folder.name}")
        self.synthesizer: SpeechEngine = load_speech_engine(
            folder,
            device=self.device,
            dtype=self.dtype,
            quantize=quantize,
            rows_together=fast_batch,
            mode=_step_mode(step_mode),
            captures_ahead=False,
        )

    @property
    def facts(self) -> Mapping[str, Any]:
        """Model, device and voice, for the record beside the audio."""
        return {
            "model": self.synthesizer.name,
            "weights": "random" if self.synthesizer.checkpoint.has_random_weights else "as given",
            "device": self.device,
            "dtype": self.dtype,
            "quantization": None if (int8 := self.synthesizer.int8) is None else dataclasses.asdict(int8),
            "step_mode": self.synthesizer.mode.value,
            "voice": None if self.voice is None else self._facts,
        }

    @property
    def sampling(self) -> SamplingParams:
        """The checkpoint's own."""
        return self.synthesizer.checkpoint.sampling

    @property
    def language(self) -> str:
        """Of the voice where the model knows it, as BCP 47; empty leaves it to the model."""
        from refprep.text.language import english_name

        if self.voice is None:
            return ""
        known = self.synthesizer.checkpoint.config.languages
        return self.voice.language if english_name(self.voice.language).lower() in known else ""

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

    def _open_voice(
        self, folder: Path, model: Path, mode: CloneMode, *, force: bool, on_step: Callable[[str], None]
    ) -> None:
        from refprep.guard.budget import reference_pace
        from refprep.voice import load_voice
        from refprep.voice.codes import voice_prompt

        self.voice = voice = load_voice(folder)
        if mode is CloneMode.ICL and not force:
            on_step("lint the reference")
            refuse_uncovered(folder, self._config)
        self.prompt, entry = voice_prompt(voice, model, mode=mode, device=self.device, on_step=on_step)
        reference = voice.read_reference()
        clips_s = sum(c.end_sample - c.start_sample for c in reference.clips) / reference.sample_rate_hz
        self.pace_per_s = reference_pace(voice.text, clips_s, voice.language)
        self._facts = {
            "folder": str(folder),
            "mode": mode.value,
            "pcm_sha256": entry.key.audio_sha256,
            "code_key": entry.key.digest,
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
            fix="Correct the reference (`refprep lint` shows where), use --mode x-vector, or insist with --force.",
        )


def clone(
    text: str,
    voice: str | Path | None,
    model: str | Path,
    *,
    language: str = "",
    seed: int = 0,
    mode: CloneMode = CloneMode.ICL,
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
        mode: In context, or by the speaker embedding alone.
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
