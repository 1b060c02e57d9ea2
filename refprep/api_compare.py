"""References against each other, from Python: what `refprep compare` calls."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refprep.config import Config
from refprep.errors import TextInputError, UsageError, WeightsMissing

if TYPE_CHECKING:
    from refprep.api_score import OutputScorer
    from refprep.cloning.record import Spoken
    from refprep.compare.measures import Output
    from refprep.types import CloneMode


def compare_voices(
    voices: Sequence[str | Path],
    model: str | Path,
    texts: Sequence[str],
    *,
    seeds: int = 5,
    nested_s: Sequence[float] = (),
    mode: CloneMode | None = None,
    codec: str | Path | None = None,
    language: str = "",
    instruct: str | None = None,
    dtype: str | None = None,
    force: bool = False,
    controls: Sequence[str | Path] = (),
    config: Config | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Speak the same texts with the same seeds and sampling from every reference, and compare what was spoken in pairs.

    Nothing is chosen: every text is spoken once a seed, and counts as it came.

    Args:
        voices: Two folders that `refprep build` wrote; one with ``nested_s``.
        model: Checkpoint folder, or an id of `refprep models ls`.
        texts: To say.
        seeds: How many, from 0 on.
        nested_s: Lengths: the voice's beginnings of whole clips nearest to them are compared with each other.
        mode: How the reference is given; None takes the model's default.
        codec: Folder or id of MOSS-TTS's codec, where the model's folder has none.
        language: BCP 47; empty takes the voice's.
        instruct: How to speak, where the model takes it.
        dtype: ``float32`` or ``bfloat16``; by the device when None.
        force: Speak although a reference's text does not cover its audio.
        controls: Audio of people it must not be.
        config: Settings; defaults when None.
        on_step: Told what is being done.

    Returns:
        The document of manifests/compare.schema.json.

    Raises:
        UsageError, TextInputError, ManifestError, AudioDecodeError: The input cannot be used.
        WeightsMissing, BackendError, DeviceError: The model cannot be loaded. Scoring models that are missing are noted.
    """
    from refprep.compare.report import comparison_json

    if not texts or not all(any(ch.isalnum() for ch in t) for t in texts):
        raise TextInputError(
            "a text has no words", where="the texts to speak", fix="Give texts with words, one at least."
        )
    if seeds < 1:
        raise UsageError("no seeds", where="--seeds", fix="Give 1 or more; 5 is a beginning.")
    if len(voices) != (1 if nested_s else 2):
        raise UsageError(
            f"{len(voices)} voices",
            where="compare",
            fix="Give two voices, or one voice and --nested 3,6,12,30.",
        )
    settings, notes = config or Config(), list[str]()
    with contextlib.ExitStack() as stack:
        folders = _folders(voices, nested_s, stack)
        on_step("open the voices for scoring")
        scorers = _scorers(folders, controls, settings, notes)
        found: dict[str, list[Output]] = {}
        seconds: dict[str, float] = {}
        weights = "as given"
        for name, folder in folders.items():
            on_step(f"speak with {name}")
            spoken, is_random, seconds[name] = _speak(
                folder, model, texts, seeds, mode, codec, language, instruct, dtype, settings, force=force
            )
            weights = "random" if is_random else weights
            found[name] = [_measured(one, name, scorers) for one in spoken]
    return comparison_json(found, model=str(model), weights=weights, seconds=seconds, notes=notes)


def _folders(
    voices: Sequence[str | Path], nested_s: Sequence[float], stack: contextlib.ExitStack
) -> dict[str, Path]:
    """Name -> folder of every reference; beginnings live as long as the stack."""
    from refprep.compare.prefixes import nearest_prefixes, write_prefix
    from refprep.voice.read import load_voice

    read = [load_voice(v) for v in voices]
    if not nested_s:
        names = [str(v) for v in voices]
        return dict(zip(names if len(set(names)) == 2 else ["A", "B"], (v.folder for v in read), strict=True))
    reference = read[0].read_reference()
    home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="refprep-nested-")))
    found: dict[str, Path] = {}
    for num_clips in nearest_prefixes(reference, nested_s):
        seconds = reference.silences[num_clips - 1].end_sample / reference.sample_rate_hz
        name = f"{seconds:.1f} s ({num_clips} clip{'' if num_clips == 1 else 's'})"
        found[name] = write_prefix(read[0], reference, num_clips, home / str(num_clips))
    return found


def _scorers(
    folders: Mapping[str, Path], controls: Sequence[str | Path], settings: Config, notes: list[str]
) -> dict[str, OutputScorer]:
    """One for every reference, with the same models; none where they are not here."""
    from refprep.api_score import OutputScorer

    try:
        return {
            name: OutputScorer(folder, controls=controls, config=settings) for name, folder in folders.items()
        }
    except WeightsMissing as error:
        notes.append(
            f"words, leaks and similarity were skipped, a model is missing: {error.where}: {error.what}"
        )
        return {}


def _speak(
    folder: Path,
    model: str | Path,
    texts: Sequence[str],
    seeds: int,
    mode: CloneMode | None,
    codec: str | Path | None,
    language: str,
    instruct: str | None,
    dtype: str | None,
    settings: Config,
    *,
    force: bool,
) -> tuple[list[Spoken], bool, float]:
    """Every text with every seed, once; whether the weights are random; the reference's length in seconds."""
    from refprep.api_clone import Cloner
    from refprep.cloning.record import CloneJob, CloneOptions

    cloner = Cloner(
        model,
        voice=folder,
        mode=mode,
        codec=codec,
        device=settings.models.device,
        dtype=dtype,
        force=force,
        config=settings,
    )
    jobs = [
        CloneJob(
            text, language or cloner.language, seed, instruct=instruct, name=f"text {n + 1}, seed {seed}"
        )
        for n, text in enumerate(texts)
        for seed in range(seeds)
    ]
    spoken = cloner.speak(jobs, CloneOptions(sampling=cloner.sampling, attempts=1))
    seconds = 0.0 if cloner.voice is None else float(cloner.voice.document["audio"]["duration_s"])
    return spoken, cloner.facts["weights"] == "random", seconds


def _measured(spoken: Spoken, name: str, scorers: Mapping[str, OutputScorer]) -> Output:
    from refprep.compare.measures import Output, plain_values, scored_values
    from refprep.pipeline.samples import clip_of

    values = plain_values(spoken.duration_s, spoken.stop)
    if scorers and spoken.num_samples:
        clip = clip_of(spoken.samples, spoken.sample_rate_hz, path=spoken.job.name)
        scored = scorers[name].score_clip(clip, text=spoken.job.text, language=spoken.job.language)
        others = [s.target for other, s in scorers.items() if other != name]
        values |= scored_values(scored, clip, others)
    return Output(spoken.job.text, spoken.job.seed, spoken.stop, values)
