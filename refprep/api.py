"""refprep from Python: the same functions the commands call, returning dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from refprep.config import Config, LintConfig, ModelConfig
from refprep.errors import AudioDecodeError, ManifestError, TextInputError, UsageError
from refprep.linter.registry import select_rules
from refprep.linter.rule import Rule
from refprep.linter.run import FileReport, run_rules
from refprep.manifest import Utterance, read_utterances
from refprep.models.load import LazyAsr, load_vad
from refprep.models.store import ModelStore
from refprep.pipeline.build import BuiltVoice
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.pipeline.quality import measure_quality
from refprep.types import Transcript
from refprep.voice.build import build_voice

__all__ = ["BuiltVoice", "build", "lint", "lint_utterances", "open_listener", "transcribe"]


def open_listener(models: ModelConfig | None = None, *, store: ModelStore | None = None) -> Listener:
    """The models that listen; the recogniser is loaded when it is first needed.

    Where one is needed for sure, ``Listener.require`` tells at once whether it is there.
    """
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
    return list(
        lint_utterances(utterances, settings.lint, listener=listener or open_listener(settings.models))
    )


def lint_utterances(
    utterances: Sequence[Utterance], config: LintConfig, *, listener: Listener
) -> Iterator[FileReport]:
    """Lint utterances one by one; a file that cannot be read is a finding (RP001), the others go on."""
    rules = select_rules(config.select, config.ignore)
    for utterance in utterances:
        yield lint_utterance(utterance, rules, listener=listener)


def lint_utterance(utterance: Utterance, rules: Mapping[str, Rule], *, listener: Listener) -> FileReport:
    """Decode, listen, measure, and put everything to the rules."""
    path = str(utterance.audio)
    try:
        clip = decode_file(utterance.audio)
    except (AudioDecodeError, TextInputError) as error:
        return FileReport(utterance, run_rules([error], rules, path=path))
    speech = listener.speech(clip)
    nouns: list[object] = [clip.source, utterance]
    check = None
    if utterance.text is not None and any(c.startswith("RP1") for c in rules):
        try:
            check = listener.check(clip, utterance.text, language=utterance.language)
        except UsageError as error:  # a language the model does not know
            raise ManifestError(error.what, where=utterance.source or path, fix=error.fix) from error
        nouns.append(check)
    spoken = check.heard.language if check else utterance.language
    quality = measure_quality(
        clip, speech, text=check.heard.text if check else utterance.text, language=spoken
    )
    nouns.append(quality)
    return FileReport(
        utterance=utterance,
        findings=run_rules(nouns, rules, path=path),
        duration_s=clip.duration_s,
        source=clip.source,
        speech=speech,
        quality=quality,
        check=check,
    )


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
