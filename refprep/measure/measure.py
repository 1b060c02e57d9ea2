"""Utterance -> Measurement: decode, listen, measure."""

from __future__ import annotations

from refprep.errors import AudioDecodeError, ManifestError, TextInputError, UsageError
from refprep.manifest import Utterance
from refprep.measure.measurement import Measurement, Parts
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.pipeline.quality import measure_quality


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
    check = None
    if utterance.text is not None and parts.text:
        try:
            check = listener.check(clip, utterance.text, language=utterance.language)
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
    return Measurement(
        source=clip.source,
        duration_s=clip.duration_s,
        speech=speech,
        quality=quality,
        check=check,
        models=models,
    )
