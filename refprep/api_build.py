"""Voices from Python: one, or one for every speaker of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from refprep.config import Config
from refprep.errors import UsageError
from refprep.manifest import Utterance, read_utterances
from refprep.models.load import choose_asr
from refprep.models.store import ModelStore

if TYPE_CHECKING:
    from refprep.corpus.run import CorpusRun
    from refprep.corpus.task import SpeakerResult
    from refprep.corpus.workbench import WorkbenchSettings
    from refprep.pipeline.build import BuiltVoice


def build(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    language: str = "",
    speaker: str = "",
    consent: str = "",
    controls: Sequence[str | Path] = (),
    anchor: str | Path | None = None,
    config: Config | None = None,
    resample: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> BuiltVoice:
    """Build a verified voice from clips, with models of this machine's store.

    Args:
        paths: Audio files, folders, manifests.
        output: Folder of the voice.
        language: BCP 47, for clips whose manifest does not state one; empty detects it.
        speaker: corpus/country/gender/speaker; empty takes the one the manifest names.
        consent: How it is known that the speaker agrees; for clips whose manifest does not say.
        controls: Audio of people it must not be.
        anchor: A clip that is known to be the voice.
        config: Settings; defaults when None.
        resample: Convert clips of another rate or format instead of refusing them.
        on_step: Told what is being done.

    Raises:
        NoVoiceError, UsageError, WeightsMissing, MachineError: As ``refprep.voice.build.build_voice`` says.
    """
    from refprep.corpus.workbench import Workbench

    utterances = with_consent(read_utterances([Path(p) for p in paths], language=language), consent)
    strangers = read_utterances([Path(p) for p in controls])
    return Workbench(_settings(config or Config(), resample=resample)).build(
        utterances,
        Path(output),
        speaker=speaker,
        controls=strangers,
        anchor=Path(anchor) if anchor is not None else None,
        on_step=on_step,
    )


@dataclass(frozen=True, slots=True)
class CorpusOptions:
    """How a corpus is built.

    Attributes:
        language: BCP 47, for clips whose manifest does not state one; empty detects it.
        consent: How it is known that the speakers agree; for clips whose manifest does not say.
        controls: Audio of people that none of them must be.
        config: Settings.
        resample: Convert clips of another rate or format instead of refusing them.
        jobs: How many speakers at a time; above 1 the calling script needs the usual ``__main__`` guard.
        engine: ``local`` or ``ray``.
        resume: Go on with an earlier run, where nothing that decides about a voice changed.
    """

    language: str = ""
    consent: str = ""
    controls: tuple[str | Path, ...] = ()
    config: Config = field(default_factory=Config)
    resample: bool = False
    jobs: int = 1
    engine: str = "local"
    resume: bool = False


def build_corpus(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    group_by: str = "speaker",
    options: CorpusOptions | None = None,
    on_result: Callable[[SpeakerResult, bool], None] = lambda *_: None,
) -> CorpusRun:
    """Build one voice for every speaker of a corpus.

    Args:
        paths: Manifests, or folders with one.
        output: Folder of the voices.
        group_by: Column that tells the speakers apart: ``speaker``, ``language``, ``folder`` (of the audio), or another.
        options: How; defaults when None.
        on_result: Told of every speaker, and whether an earlier run had finished it.

    Returns:
        One result for every speaker: built, refused or failed, and why.

    Raises:
        UsageError, ManifestError: The call or the manifest cannot be carried out.
        WeightsMissing, MachineError: This machine cannot do it; finished speakers are kept.
    """
    from refprep.corpus.groups import group_rows

    options = options or CorpusOptions()
    settings = _settings(options.config, resample=options.resample)
    groups = group_rows(_utterances(paths, options), group_by)
    return _run(groups, Path(output), settings, options, on_result)


def build_discovered(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    options: CorpusOptions | None = None,
    on_step: Callable[[str], None] = lambda _: None,
    on_result: Callable[[SpeakerResult, bool], None] = lambda *_: None,
) -> CorpusRun:
    """Find the speakers among unlabelled clips, and build one voice for each.

    ``speakers.csv`` in the folder says for every clip whose it is and how sure that is; clips that are not sure go into no
    voice.

    Args:
        paths: Audio files, folders, manifests.
        output: Folder of the voices.
        options: How; defaults when None.
        on_step: Told what is being done before anything is built.
        on_result: As for ``build_corpus``.

    Raises:
        UsageError, ManifestError, WeightsMissing, MachineError: As ``build_corpus``.
    """
    from refprep.corpus.discover import discover_groups, write_speakers
    from refprep.corpus.run import require_corpus_folder
    from refprep.corpus.workbench import Workbench

    options = options or CorpusOptions()
    require_corpus_folder(Path(output))
    settings = _settings(options.config, resample=options.resample)
    groups, rows = discover_groups(_utterances(paths, options), Workbench(settings), on_step=on_step)
    run = _run(groups, Path(output), settings, options, on_result)
    write_speakers(Path(output), rows)
    return run


def _utterances(paths: Sequence[str | Path], options: CorpusOptions) -> list[Utterance]:
    found = read_utterances([Path(p) for p in paths], language=options.language)
    return with_consent(found, options.consent)


def _run(
    groups: Mapping[str, Sequence[Utterance]],
    folder: Path,
    settings: WorkbenchSettings,
    options: CorpusOptions,
    on_result: Callable[[SpeakerResult, bool], None],
) -> CorpusRun:
    from refprep.corpus import run as corpus
    from refprep.corpus.engine import run_here
    from refprep.corpus.ray_engine import run_on_ray

    engines = {"local": run_here, "ray": run_on_ray}
    if options.engine not in engines:
        raise UsageError(
            f"no engine {options.engine!r}", where="--engine", fix=f"Choose {' or '.join(engines)}."
        )
    if options.jobs < 1:
        raise UsageError(f"{options.jobs} jobs", where="--jobs", fix="Write 1 or more.")
    return corpus.build_corpus(
        groups,
        folder,
        settings,
        engine=engines[options.engine],
        jobs=options.jobs,
        resume=options.resume,
        controls=read_utterances([Path(p) for p in options.controls]),
        on_result=on_result,
    )


def _settings(config: Config, *, resample: bool) -> WorkbenchSettings:
    """What a workbench is opened from.

    Raises:
        WeightsMissing: The recogniser was not pulled: said now rather than in the middle of the work.
    """
    from refprep.corpus.workbench import WorkbenchSettings

    store = ModelStore.default()
    store.path(choose_asr(config.models, store))
    return WorkbenchSettings(config, store.root, calibration_paths(config), resample)


def with_consent(utterances: Sequence[Utterance], consent: str) -> list[Utterance]:
    """Utterances of which those that do not speak of consent state it as told."""
    return [
        u if u.consent or not consent else replace(u, extra={**u.extra, "consent": consent})
        for u in utterances
    ]


def calibration_paths(config: Config) -> tuple[Path, ...]:
    """Files of `refprep calibrate` that the settings name; relative ones stand beside the settings."""
    names = (n.strip() for n in config.build.calibration.split(","))
    return tuple(Path(config.folder) / n for n in names if n)
