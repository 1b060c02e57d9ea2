"""A voice's folder -> what every output of it is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refprep.errors import TextInputError
from refprep.identity.verifier import Verifier
from refprep.pipeline.align import align_text
from refprep.pipeline.edges import speech_edges
from refprep.pipeline.joined import reference_clip
from refprep.pipeline.listen import Listener
from refprep.scoring.echo import Cepstra, cepstra
from refprep.text.words import split_words
from refprep.types import Clip, QualityReport, Reference, Voiceprint, Word
from refprep.voice.read import Voice


@dataclass(frozen=True, slots=True, eq=False)
class TargetVoice:
    """The voice as one encoder hears it.

    Attributes:
        verifier: The encoder and its thresholds.
        print: Of the whole reference.
        controls: Name -> voiceprint of people it must not be.
    """

    verifier: Verifier
    print: Voiceprint
    controls: Mapping[str, Voiceprint]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTarget:
    """What every output of a voice is held against.

    Attributes:
        name: Of the voice.
        words: Of the reference, as written, with their places in it.
        language: BCP 47, of the reference.
        quality: Of the reference: its level and pace.
        sound: What the reference sounds like, every 10 ms.
        speech_end_s: Where the last speech of the reference ends, by its energy.
        voices: The voice, encoder by encoder; the first decides nothing alone: every one has to agree.
    """

    name: str
    words: tuple[Word, ...]
    language: str
    quality: QualityReport
    sound: Cepstra
    speech_end_s: float
    voices: tuple[TargetVoice, ...]


def open_target(
    voice: Voice,
    listener: Listener,
    verifiers: Sequence[Verifier],
    *,
    controls: Mapping[str, Clip] | None = None,
) -> ScoreTarget:
    """Measure a voice once, for any number of outputs.

    Args:
        voice: A built voice; it is not verified again.
        listener: Voice activity, recogniser, aligner.
        verifiers: Speaker encoders with their thresholds; may be empty.
        controls: Name -> audio of people it must not be.

    Raises:
        TextInputError: The reference holds no words.
        AudioDecodeError: reference.wav is gone or cannot be read, or a control holds too little speech.
        ManifestError: voice.json is damaged.
        WeightsMissing: A model was not pulled.
    """
    return measure_target(
        voice.read_reference(), listener, verifiers, controls=controls, name=str(voice.folder)
    )


def measure_target(
    reference: Reference,
    listener: Listener,
    verifiers: Sequence[Verifier],
    *,
    controls: Mapping[str, Clip] | None = None,
    name: str = "reference",
) -> ScoreTarget:
    """As ``open_target``, of a reference in memory.

    Raises:
        TextInputError: The reference holds no words.
        AudioDecodeError: It, or a control, holds too little speech.
        WeightsMissing: A model was not pulled.
    """
    clip = reference_clip(reference)
    if not split_words(reference.text):
        raise TextInputError("its reference has no words", where=name, fix="Build the voice again.")
    speech = listener.speech(clip)
    heard = listener.transcribe(clip, language=reference.language)
    language = reference.language or heard.language
    placed = align_text(clip, reference.text, speech, listener.aligner, heard=heard, language=language)
    strangers = controls or {}
    return ScoreTarget(
        name=name,
        words=placed.words,
        language=language,
        quality=listener.quality(clip, reference.text, language=language),
        sound=cepstra(clip.samples, clip.sample_rate_hz),
        speech_end_s=speech_edges(clip, speech)[-1].end_s if speech else 0.0,
        voices=tuple(
            TargetVoice(
                verifier,
                verifier.embed(clip, speech),
                {name: verifier.embed(c, listener.speech(c)) for name, c in strangers.items()},
            )
            for verifier in verifiers
        ),
    )
