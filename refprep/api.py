"""refprep from Python: the same functions the commands call, returning dataclasses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from refprep.config import Config, ModelConfig
from refprep.linter.baseline import read_baseline
from refprep.linter.judge import Judge
from refprep.linter.profiles import find_profiles
from refprep.linter.registry import select_rules
from refprep.linter.rule import Rule, Severity
from refprep.linter.run import FileReport
from refprep.linter.speakers import SpeakerRoll
from refprep.manifest import Utterance, read_utterances
from refprep.measure.cache import MeasurementCache
from refprep.measure.measurement import Measurement, Parts
from refprep.measure.measurer import Measurer
from refprep.measure.program_cache import program_fingerprint
from refprep.models.load import (
    LazyAsr,
    choose_asr,
    choose_encoder,
    has_encoder,
    load_encoder,
    load_vad,
    model_fingerprints,
)
from refprep.models.store import ModelStore
from refprep.types import Clip, ClipVoices, LanguageCase, TextCheck, Transcript

if TYPE_CHECKING:
    # Loaded with the first call that needs them: linting what is in the cache takes less time than importing scipy.
    from refprep.fix.correction import Correction
    from refprep.fix.write import Fixer
    from refprep.pipeline.listen import Listener

__all__ = ["lint", "lint_utterances", "open_fixer", "open_listener", "transcribe"]


def open_listener(models: ModelConfig | None = None, *, store: ModelStore | None = None) -> Listener:
    """The models that listen; recogniser and speaker encoder are loaded when they are first needed.

    Where one is needed for sure, ``Listener.require`` tells at once whether it is there.
    """
    from refprep.pipeline.listen import Listener

    models, store = models or ModelConfig(), store or ModelStore.default()
    asr = LazyAsr(models, store)
    return Listener(load_vad(), asr, asr, open_encoder=partial(load_encoder, models, store))


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
    judge = _open_judge(utterances, config)
    if listener is not None:
        measurer = Measurer(lambda: listener, parts_for(judge.rules))
    else:
        store = store or ModelStore.default()
        parts = _parts_here(judge.rules, config, store)
        if parts.text and any(u.text is not None for u in utterances):
            store.path(choose_asr(config.models, store))  # fails now rather than in the middle of the work
        measurer = _open_measurer(config, parts, store)
    return _reports(measurer.measure(utterances[skip:]), judge)


def _open_judge(utterances: Sequence[Utterance], config: Config) -> Judge:
    lint = config.lint
    return Judge(
        rules=rules_for(config),
        roll=SpeakerRoll(utterances),
        per_file_ignores=lint.per_file_ignores,
        folder=config.folder,
        baseline=read_baseline(Path(config.folder) / lint.baseline) if lint.baseline else None,
        profiles=find_profiles(lint.profile),
    )


def rules_for(config: Config) -> dict[str, Rule]:
    """Code -> Rule: those that the settings run.

    Raises:
        UsageError: A code or a severity there is not.
    """
    lint = config.lint
    return select_rules(lint.select, lint.ignore, preview=lint.preview, severity=lint.severity)


def _reports(measured: Iterable[tuple[Utterance, Measurement]], judge: Judge) -> Iterator[FileReport]:
    for utterance, found in measured:
        yield _report(utterance, found, judge)


def _report(utterance: Utterance, found: Measurement, judge: Judge) -> FileReport:
    nouns = [*found.nouns(), *_voice_codes(utterance.audio)]
    findings, num_known = judge.judge(utterance, nouns, found.source)
    return FileReport(
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


def _voice_codes(audio: Path) -> Iterator[object]:
    """What a built voice's ``codes`` folder holds; nothing for other audio, and nothing is imported for it."""
    folder = audio.parent
    if audio.name == "reference.wav" and (folder / "codes").is_dir() and (folder / "voice.json").is_file():
        from refprep.voice.code_files import code_nouns

        yield from code_nouns(folder, audio)


class PairLinter:
    """Lints one pair at a time, under the settings of a run; models are opened when one is needed.

    Args:
        utterances: Of the run: what their rows say of speakers counts.
        config: Settings; one process does it, whatever ``lint.jobs`` says.
        listener: Models of the caller's own; nothing is remembered on disk then.
        store: Where models and the cache are; this user's when None.
    """

    def __init__(
        self,
        utterances: Sequence[Utterance],
        config: Config,
        *,
        listener: Listener | None = None,
        store: ModelStore | None = None,
    ) -> None:
        self._judge = _open_judge(utterances, config)
        store = store or ModelStore.default()
        self._open = cache(lambda: listener or open_listener(config.models, store=store))
        parts = (
            _parts_here(self._judge.rules, config, store)
            if listener is None
            else parts_for(self._judge.rules)
        )
        self._measurer = Measurer(
            self._open,
            parts,
            cache=MeasurementCache(store.root) if config.lint.cache and listener is None else None,
            fingerprints=_fingerprints(config.models, store, parts),
        )

    def lint(self, utterance: Utterance, *, at: Path) -> FileReport:
        """Lint a pair whose audio will stand at another place: messages and per-file ignores go by that one."""
        found = self._measurer.measure_one(utterance).at(str(at))
        return _report(replace(utterance, audio=at), found, self._judge)

    def codes(self, utterance: Utterance) -> set[str]:
        """Codes of all its findings, also of those that the baseline knows."""
        found = self._measurer.measure_one(utterance)
        return {f.code for f in _report(utterance, found, replace(self._judge, baseline=None)).findings}

    def transcribe(self, clip: Clip, *, language: str) -> Transcript:
        """What is said in a clip."""
        return self._open().transcribe(clip, language=language)


@contextmanager
def open_fixer(
    utterances: Sequence[Utterance],
    config: Config,
    folder: Path,
    *,
    free_name: Callable[[str], str],
    unsafe: bool = False,
    write: bool = True,
    listener: Listener | None = None,
    store: ModelStore | None = None,
    on_correction: Callable[[Correction], None] = lambda _: None,
    on_refusal: Callable[[str, str], None] = lambda *_: None,
) -> Iterator[Fixer]:
    """Write corrected copies of what a run of ``lint_utterances`` found fault with.

    Every copy is linted again before it stays: no finding at or above ``lint.fail_on`` is left in it, and none that its
    original did not have. The folder appears, or takes the place of an earlier one, when the block ends without an
    error; where nothing was corrected it stays as it was. ``refprep.fix.folder.check_fix_folder`` says beforehand
    whether it may be replaced.

    Args:
        utterances: Of the run.
        config: Settings of the run.
        folder: Where the copies go.
        free_name: Stem -> a name that no other copy has.
        unsafe: Also what puts a recogniser's text in place of a user's, or loses speech.
        write: False to find out only what would be written.
        listener: As for ``lint_utterances``.
        store: As for ``lint_utterances``.
        on_correction: Told of each copy.
        on_refusal: Told of each pair with a fault that is not corrected, and why.

    Yields:
        The fixer: every report goes through its ``fix``.

    Raises:
        MachineError: The disk refused.
    """
    from refprep.fix.folder import fix_folder
    from refprep.fix.write import Fixer

    fail_on = config.lint.fail_on
    with fix_folder(folder, write=write) as (scratch, rows):
        yield Fixer(
            scratch,
            rows,
            folder,
            PairLinter(utterances, config, listener=listener, store=store),
            unsafe=unsafe,
            fail_on=None if fail_on == "never" else Severity(fail_on),
            free_name=free_name,
            on_correction=on_correction,
            on_refusal=on_refusal,
        )


def parts_for(rules: Mapping[str, Rule]) -> Parts:
    """What the rules need to have measured."""
    nouns = {r.noun for r in rules.values()}
    return Parts(text=not nouns.isdisjoint((TextCheck, LanguageCase)), voices=ClipVoices in nouns)


def _parts_here(rules: Mapping[str, Rule], config: Config, store: ModelStore) -> Parts:
    """Those, less voices where there is no speaker encoder and no rule on them was asked for by its code.

    ``--preview`` asks for whatever there is, and goes on without what was not pulled.
    """
    parts = parts_for(rules)
    asked = {code.upper() for code in config.lint.select}
    if parts.voices and not has_encoder(config.models, store):
        if any(r.noun is ClipVoices and code in asked for code, r in rules.items()):
            store.path(choose_encoder(config.models))  # says what is missing
        return replace(parts, voices=False)
    return parts


def run_fingerprint(
    utterances: Sequence[Utterance], config: Config, *, store: ModelStore | None = None
) -> str:
    """Everything beside the rows that decides about the reports of ``lint_utterances``.

    Neither how many processes do it, nor which findings fail the run.

    Raises:
        UsageError, ConfigError, WeightsMissing: As ``lint_utterances`` does.
    """
    store = store or ModelStore.default()
    parts = _parts_here(rules_for(config), config, store)
    parts = replace(parts, text=parts.text and any(u.text is not None for u in utterances))
    lint = replace(config.lint, jobs=1, cache=True, fail_on="error")
    known = read_baseline(Path(config.folder) / lint.baseline).digest if lint.baseline else ""
    models = _fingerprints(config.models, store, parts)()
    settings = replace(config, lint=lint)
    return f"{program_fingerprint()} {settings} {sorted(models.items())} {known}"


def _fingerprints(models: ModelConfig, store: ModelStore, parts: Parts) -> Callable[[], Mapping[str, str]]:
    return partial(model_fingerprints, models, store, asr=parts.text, encoder=parts.voices)


def _open_measurer(config: Config, parts: Parts, store: ModelStore) -> Measurer:
    jobs = config.lint.jobs
    models = config.models
    if jobs > 1 and not models.threads:
        models = replace(models, threads=max(1, (os.cpu_count() or 1) // jobs))
    return Measurer(
        partial(_open_listener_below, models, store.root),
        parts,
        cache=MeasurementCache(store.root) if config.lint.cache else None,
        fingerprints=_fingerprints(models, store, parts),
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
