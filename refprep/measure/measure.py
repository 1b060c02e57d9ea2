"""Utterance -> Measurement: decode, listen, measure."""

from __future__ import annotations

from refprep.errors import AudioDecodeError, ManifestError, TextInputError, UsageError
from refprep.manifest import Utterance
from refprep.measure.measurement import Measurement, Parts
from refprep.pipeline.clip_ends import measure_edges
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.pipeline.quality import measure_quality
from refprep.pipeline.voices import measure_voices
from refprep.types import Clip, ClipVoices, LanguageCase


def measure_utterance(utterance: Utterance, listener: Listener, parts: Parts) -> Measurement:
    """Measure one audio file and its text.

    Args:
        utterance: What to measure.
        listener: Models.
        parts: What is asked for.

    Returns:
        A measurement; of a file that does not decode, the error alone.

    Raises:
        ManifestError: The recogniser does not know the language that the row states.
        MachineError: A model is missing or failed.
    """
    try:
        clip = decode_file(utterance.audio)
    except (AudioDecodeError, TextInputError) as error:
        return Measurement(error=error)
    speech = listener.speech(clip)
    models = {"voice_activity": listener.voice_activity.name}
    check = language = None
    if utterance.text is not None and parts.text:
        try:
            check = listener.check(clip, utterance.text, language=utterance.language)
            language = _language_case(utterance, utterance.text, clip, listener)
        except UsageError as error:  # a language the model does not know
            where = utterance.source or str(utterance.audio)
            raise ManifestError(error.what, where=where, fix=error.fix) from error
        models |= {"transcriber": check.heard.model, "aligner": check.alignment.aligner}
    quality = measure_quality(
        clip,
        speech,
        text=check.heard.text if check else utterance.text,
        language=check.heard.language if check else utterance.language,
    )
    voices = _voices(clip, listener) if parts.voices else None
    if voices is not None:
        models["encoder"] = voices.model
    return Measurement(
        source=clip.source,
        duration_s=clip.duration_s,
        speech=speech,
        quality=quality,
        check=check,
        models=models,
        edges=measure_edges(clip, speech, quality, heard=check.heard if check else None),
        language=language,
        voices=voices,
    )


def _language_case(utterance: Utterance, text: str, clip: Clip, listener: Listener) -> LanguageCase:
    heard, probability = listener.language(clip)
    speech_s = sum(s.duration_s for s in listener.speech(clip))
    return LanguageCase(text, utterance.language, heard, probability, speech_s)


def _voices(clip: Clip, listener: Listener) -> ClipVoices | None:
    voiceprint = listener.voiceprint(clip)
    return measure_voices(voiceprint) if voiceprint is not None else None
