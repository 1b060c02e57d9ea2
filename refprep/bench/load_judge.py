"""What was said under load, after the window: word errors, and whether it is still the voice of the single stream.

Only audio of real weights can be judged. A recogniser's figure belongs to its model, a similarity to its encoder: both
are named beside the figures.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refprep.config import ModelConfig
from refprep.pipeline.decode import pcm_sha256
from refprep.protocols import SpeakerEncoder, Transcriber
from refprep.text.compare import compare
from refprep.text.words import split_words
from refprep.types import AudioSource, Clip, Downmix, SampleFormat, Samples, Span, freeze
from refprep.units import CODE_RATE_HZ

_WINDOW_S = 30.0  # a recogniser's longest interval


@dataclass(frozen=True, slots=True)
class Judge:
    """Who listens.

    Attributes:
        transcriber: For word errors; None leaves them out.
        encoder: For similarity; None likewise.
        language: ISO 639-1, of the sentences.
    """

    transcriber: Transcriber | None = None
    encoder: SpeakerEncoder | None = None
    language: str = "en"

    def judge(
        self, measurements: Sequence[dict[str, Any]], audio: Mapping[str, Any], sentences: Sequence[str]
    ) -> None:
        """Fill in ``wer`` and ``sim_c1`` of the closed loops.

        Args:
            measurements: Of the load part.
            audio: By the name of the request: ``LOOP/SENTENCE/REPEAT``.
            sentences: By their number.
        """
        clips: dict[str, dict[str, Clip]] = {}
        for name, samples in audio.items():
            loop, _, which = name.partition("/")
            if which:
                clips.setdefault(loop, {})[which] = clip_of(np.asarray(samples, np.float32), name)
        alone = clips.get("c1", {})
        for measurement in measurements:
            if measurement["load"]["kind"] != "closed":
                continue
            results, own = measurement["results"], clips.get(f"c{measurement['load']['c']}", {})
            if self.transcriber is not None and own:
                rates = [
                    self._error_rate(clip, sentences[int(which.split("/")[0])]) for which, clip in own.items()
                ]
                results["wer"] = {"model": self.transcriber.name, "mean": round(statistics.fmean(rates), 5)}
            if self.encoder is not None and own is not alone and alone.keys() & own.keys():
                cosines = [
                    self._cosine(own[which], alone[which]) for which in sorted(alone.keys() & own.keys())
                ]
                results["sim_c1"] = {
                    "encoder": self.encoder.name,
                    "mean": round(statistics.fmean(cosines), 4),
                }

    def _error_rate(self, clip: Clip, text: str) -> float:
        """Edits over the words (characters, for scripts without spaces) of the text."""
        assert self.transcriber is not None, "nobody listens"  # noqa: S101
        starts_s = np.arange(0.0, clip.duration_s, _WINDOW_S)
        spans = [Span(float(s), min(float(s) + _WINDOW_S, clip.duration_s)) for s in starts_s]
        heard = self.transcriber.transcribe(clip, spans, language=self.language)
        found = compare(split_words(text), [word.text for word in heard.words], self.language)
        return found.distance / max(1, found.num_given_tokens)

    def _cosine(self, one: Clip, other: Clip) -> float:
        assert self.encoder is not None, "nobody listens"  # noqa: S101
        vectors = [self.encoder.embed(c, [Span(0.0, c.duration_s)]).vector for c in (one, other)]
        return float(np.dot(*vectors))


def open_judge(asr: str | None, encoder: str | None, *, device: str) -> Judge:
    """A judge with models by name.

    Args:
        asr: Id or folder of a recogniser; None: no word errors.
        encoder: Id or folder of a speaker encoder; None: no similarity.
        device: ``cpu`` or ``cuda``.

    Raises:
        WeightsMissing: A model was not pulled.
        UsageError: A name is none.
    """
    from refprep.models.load import LazyAsr, load_encoder
    from refprep.models.store import ModelStore

    config = ModelConfig(asr=asr or "auto", encoder=encoder or "auto", device=device)
    store = ModelStore.default()
    transcriber = None if asr is None else LazyAsr(config, store)
    if transcriber is not None:
        assert transcriber.name  # noqa: S101  # it raises where the model is missing, before anything is measured
    return Judge(transcriber, None if encoder is None else load_encoder(config, store))


def clip_of(samples: Samples, name: str) -> Clip:
    """Generated audio as a clip."""
    source = AudioSource(
        path=name,
        file_sha256="",
        container="",
        codec="",
        sample_format=SampleFormat.FLOAT,
        num_channels=1,
        declared_duration_s=None,
        decoded_duration_s=len(samples) / CODE_RATE_HZ,
        downmix=Downmix.NONE,
        channel_peaks=(float(np.max(np.abs(samples), initial=0.0)),),
    )
    return Clip(pcm_sha256(samples, CODE_RATE_HZ), source, freeze(samples), CODE_RATE_HZ)
