"""refprep from Python: the same functions the commands call, returning dataclasses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from refprep.config import Config, ModelConfig
from refprep.linter.baseline import read_baseline
from refprep.linter.judge import Judge
from refprep.linter.registry import select_rules
from refprep.linter.rule import Rule
from refprep.linter.run import FileReport
from refprep.linter.speakers import SpeakerRoll
from refprep.manifest import Utterance, read_utterances
from refprep.measure.cache import MeasurementCache
from refprep.measure.measurement import Measurement, Parts
from refprep.measure.measurer import Measurer
from refprep.models.load import LazyAsr, choose_asr, load_vad, model_fingerprints
from refprep.models.store import ModelStore
from refprep.types import TextCheck, Transcript

if TYPE_CHECKING:
    # Loaded with the first call that needs them: linting what is in the cache takes less time than importing scipy.
    from refprep.pipeline.build import BuiltVoice
    from refprep.pipeline.listen import Listener

__all__ = ["build", "lint", "lint_utterances", "open_listener", "transcribe"]


def open_listener(models: ModelConfig | None = None, *, store: ModelStore | None = None) -> Listener:
    """The models that listen; the recogniser is loaded when it is first needed.

    Where one is needed for sure, ``Listener.require`` tells at once whether it is there.
    """
    from refprep.pipeline.listen import Listener

    asr = LazyAsr(models or ModelConfig(), store or ModelStore.default())
    return Listener(load_vad(), asr, asr)


def lint(
    paths: Sequence[str | Path],
    *,
    text: str | None = None,
    language: str = "",
    config: Config | None = None,
    listener: Listener | None = None,
) -> list[FileReport]:
    """Check texts against audio, and the audio itself.

    Args:
        paths: Audio files with sidecars, folders, manifests, built voices.
        text: The text of the one audio file given.
        language: BCP 47, for utterances whose manifest does not state one; empty detects it.
        config: Settings; defaults when None.
        listener: Models; loaded when None.

    Returns:
        One report for every utterance, in order.

    Raises:
        UsageError, ManifestError, TextInputError: The input cannot be read as a whole.
        WeightsMissing: A model was not pulled.
    """
    settings = config or Config()
    utterances = read_utterances([Path(p) for p in paths], text=text, language=language)
    return list(lint_utterances(utterances, settings, listener=listener))


def lint_utterances(
    utterances: Sequence[Utterance],
    config: Config,
    *,
    listener: Listener | None = None,
    store: ModelStore | None = None,
    skip: int = 0,
) -> Iterator[FileReport]:
    """Lint utterances one by one, in order; a file that cannot be read is a finding (RP001), the others go on.

    Args:
        utterances: What to lint.
        config: Settings. With ``lint.jobs`` above 1 the calling script needs the usual ``__main__`` guard.
        listener: Models of the caller's own: nothing is remembered then, and one process does it all.
        store: Where models and the cache are; this user's when None.
        skip: So many of the first utterances are known only as rows: they are not opened and not reported.

    Raises:
        UsageError: A code, severity or profile there is not.
        ConfigError: The baseline cannot be read.
        WeightsMissing: A model was not pulled.
        MachineError: A worker process died.
    """
    lint, rules = config.lint, rules_for(config)
    judge = Judge(
        rules=rules,
        roll=SpeakerRoll(utterances),
        per_file_ignores=lint.per_file_ignores,
        folder=config.folder,
        baseline=read_baseline(Path(config.folder) / lint.baseline) if lint.baseline else None,
    )
    parts = parts_for(rules)
    if listener is not None:
        measurer = Measurer(lambda: listener, parts)
    else:
        store = store or ModelStore.default()
        if parts.text and any(u.text is not None for u in utterances):
            store.path(choose_asr(config.models, store))  # fails now rather than in the middle of the work
        measurer = _open_measurer(config, parts, store)
    return _reports(measurer.measure(utterances[skip:]), judge)


def rules_for(config: Config) -> dict[str, Rule]:
    """Code -> Rule: those that the settings run.

    Raises:
        UsageError: A code or a severity there is not.
    """
    lint = config.lint
    return select_rules(lint.select, lint.ignore, preview=lint.preview, severity=lint.severity)


def _reports(measured: Iterable[tuple[Utterance, Measurement]], judge: Judge) -> Iterator[FileReport]:
    for utterance, found in measured:
        findings, num_known = judge.judge(utterance, found.nouns(), found.source)
        yield FileReport(
            utterance=utterance,
            findings=findings,
            duration_s=found.duration_s,
            source=found.source,
            speech=found.speech,
            quality=found.quality,
            check=found.check,
            models=found.models,
            num_known=num_known,
        )


def parts_for(rules: Mapping[str, Rule]) -> Parts:
    """What the rules need to have measured."""
    return Parts(text=any(r.noun is TextCheck for r in rules.values()))


def _open_measurer(config: Config, parts: Parts, store: ModelStore) -> Measurer:
    jobs = config.lint.jobs
    models = config.models
    if jobs > 1 and not models.threads:
        models = replace(models, threads=max(1, (os.cpu_count() or 1) // jobs))
    return Measurer(
        partial(_open_listener_below, models, store.root),
        parts,
        cache=MeasurementCache(store.root) if config.lint.cache else None,
        fingerprints=partial(model_fingerprints, models, store) if parts.text else dict,
        jobs=jobs,
    )


def _open_listener_below(models: ModelConfig, root: Path) -> Listener:
    """As open_listener, of plain values that another process can be given."""
    return open_listener(models, store=ModelStore(root))


def transcribe(path: str | Path, *, language: str = "", listener: Listener | None = None) -> Transcript:
    """Write down what a file says.

    Args:
        path: Any audio or video file.
        language: BCP 47; empty detects it.
        listener: Models; loaded when None.

    Returns:
        Text, language with its probability, and words with times and probabilities.

    Raises:
        AudioDecodeError: The file is no usable audio.
    """
    from refprep.pipeline.decode import decode_file

    return (listener or open_listener()).transcribe(decode_file(path), language=language)


def build(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    language: str = "",
    speaker: str = "",
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
        controls: Audio of people it must not be.
        anchor: A clip that is known to be the voice.
        config: Settings; defaults when None.
        resample: Convert clips of another rate or format instead of refusing them.
        on_step: Told what is being done.

    Raises:
        NoVoiceError, UsageError, WeightsMissing, MachineError: As ``refprep.voice.build.build_voice`` says.
    """
    from refprep.models.load import load_encoder, model_hashes
    from refprep.voice.build import build_voice

    settings = config or Config()
    utterances = read_utterances([Path(p) for p in paths], language=language)
    strangers = read_utterances([Path(p) for p in controls])
    store = ModelStore.default()
    return build_voice(
        utterances,
        Path(output),
        listener=open_listener(settings.models, store=store),
        encoder=load_encoder(settings.models, store),
        config=settings.build,
        speaker=speaker,
        controls=strangers,
        anchor=Path(anchor) if anchor is not None else None,
        resample=resample,
        weights=model_hashes(settings.models, store),
        on_step=on_step,
    )
