"""Whisper through faster-whisper and CTranslate2: free transcription and forced alignment.

Each interval is decoded as one piece of at most 30 s. The batched pipeline of faster-whisper merges intervals by
its own voice activity and loses text that way (160 of about 310 words in one measured file), so it is not used.
Verdicts run in float32: int8 dropped words that float32 heard.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refprep.dsp.resample import resample
from refprep.errors import BackendError, DeviceError, UsageError
from refprep.text.words import is_spaceless, join_words, primary_language, split_words
from refprep.types import Alignment, Clip, Origin, Samples, Span, Transcript, Word

WHISPER_SAMPLE_RATE_HZ = 16_000
WINDOW_S = 30.0
TIME_STEP_S = 0.02  # one encoder position
MAX_TEXT_TOKENS = 440  # Whisper's decoder holds 448, the start sequence among them
MAX_FORCED_TOKENS = 218  # and generates half of that
_ACRONYM_LETTERS = 5  # a text of capitals this short may be one
_END_MARKS = ".?!…。？！"


class FasterWhisper:
    """A Transcriber and an Aligner on one set of weights.

    Args:
        folder: CTranslate2 model with ``tokenizer.json``.
        name: What findings and voices call this model.
        device: ``auto``, ``cpu`` or ``cuda``.
        compute_type: CTranslate2's; float32 for verdicts.
        num_threads: CPU threads; 0 lets CTranslate2 choose.
        beam_size: Of the free transcription.

    Raises:
        BackendError: The folder holds no loadable model.
        DeviceError: CUDA was asked for and is not there.
    """

    def __init__(
        self,
        folder: Path,
        *,
        name: str,
        device: str = "auto",
        compute_type: str = "float32",
        num_threads: int = 0,
        beam_size: int = 5,
    ) -> None:
        from faster_whisper import WhisperModel

        self.name = name
        self.beam_size = beam_size
        try:
            self._model = WhisperModel(
                str(folder),
                device=device,
                compute_type=compute_type,
                cpu_threads=num_threads,
                local_files_only=True,
            )
        except (RuntimeError, ValueError, OSError) as error:
            kind = DeviceError if "CUDA" in str(error) else BackendError
            raise kind(
                f"the model does not load: {error}",
                where=str(folder),
                fix="Check it with `refprep models verify`, or choose `--device cpu`.",
            ) from error
        self._model.hf_tokenizer = mend_merges(self._model.hf_tokenizer)
        # The last encoded windows: transcription and alignment of one clip share the encoder's work.
        self._encoded: dict[bytes, tuple[Any, int]] = {}

    # ------------------------------------------------------------------ Transcriber

    def transcribe(self, clip: Clip, intervals: Sequence[Span], *, language: str | None = None) -> Transcript:
        """Write down what is said (see ``refprep.protocols.Transcriber``).

        The language is detected on the first interval when none is given.
        """
        audio = resample(clip.samples, clip.sample_rate_hz, WHISPER_SAMPLE_RATE_HZ)
        code, probability = (_whisper_language(language), 1.0) if language else ("", 0.0)
        words: list[Word] = []
        for interval in intervals:
            encoded, num_frames = self._encode(audio, interval)
            if not code:
                code, probability = self._detect(encoded)
            words += [_shifted(w, interval.start_s) for w in self._hear(encoded, num_frames, code)]
        return Transcript(
            text=join_words(w.text for w in words),
            language=language or code,
            language_probability=probability,
            words=tuple(words),
            origin=Origin.ASR,
            model=self.name,
        )

    def detect_language(self, clip: Clip, interval: Span) -> tuple[str, float]:
        """Language that is heard (see ``refprep.protocols.Transcriber``): one step of the decoder."""
        if not self._model.model.is_multilingual:
            return "", 0.0
        audio = resample(clip.samples, clip.sample_rate_hz, WHISPER_SAMPLE_RATE_HZ)
        return self._detect(self._encode(audio, interval)[0])

    # ------------------------------------------------------------------ Aligner

    def align(self, clip: Clip, text: str, *, language: str) -> Alignment:
        """Force a text onto a clip of at most 30 s (see ``refprep.protocols.Aligner``).

        Raises:
            UsageError: The clip is longer than 30 s, or the model does not know the language.
        """
        if clip.duration_s > WINDOW_S + TIME_STEP_S:
            raise UsageError(
                f"{clip.duration_s:.1f} s cannot be aligned in one window of {WINDOW_S:.0f} s",
                where=clip.source.path,
                fix="Cut it into utterances with `refprep split`.",
            )
        audio = resample(clip.samples, clip.sample_rate_hz, WHISPER_SAMPLE_RATE_HZ)
        encoded, num_frames = self._encode(audio, Span(0.0, clip.duration_s))
        tokenizer = self._tokenizer(_whisper_language(language))
        tokens = _tokens_of(text, tokenizer)
        # More than the decoder holds is more than anyone says in 30 s: what is beyond gets no time and no probability.
        placed = self._place(encoded, num_frames, tokens[:MAX_TEXT_TOKENS], tokenizer)
        words = _regroup(placed, text, leftover=0.0 if len(tokens) > MAX_TEXT_TOKENS else None)
        return Alignment(words=tuple(words), aligner=self.name)

    def end_probability(self, clip: Clip, text: str, *, language: str) -> float | None:
        """Probability that the model, made to say the text, ends there (see ``refprep.protocols.Aligner``).

        It is what it gives to the end and to the marks that end a sentence. Full texts reach 0.82 and more, texts that
        lack their last word at most 0.19 (base model, 41 and 38 clips in ten languages).
        """
        tokenizer = self._tokenizer(_whisper_language(language))
        tokens = _tokens_of(text, tokenizer)
        logits = self._next_logits(clip, tokens, tokenizer)
        if logits is None:
            return None
        shares = np.exp(logits - logits.max())
        marks = [ids[0] for mark in _END_MARKS if len(ids := tokenizer.encode(mark)) == 1]
        return float(shares[[tokenizer.eot, *marks]].sum() / shares.sum())

    def start_share(self, clip: Clip, text: str, *, language: str) -> float | None:
        """Probability of the text's first token, over that of the likeliest one (see ``refprep.protocols.Aligner``)."""
        tokenizer = self._tokenizer(_whisper_language(language))
        tokens = _tokens_of(text, tokenizer)
        logits = self._next_logits(clip, [], tokenizer)
        if not tokens or logits is None:
            return None
        return float(np.exp(logits[tokens[0]] - logits.max()))

    def _next_logits(self, clip: Clip, tokens: list[int], tokenizer: Any) -> npt.NDArray[np.float64] | None:  # noqa: ANN401
        """(V,) for what follows when the model was made to say these tokens; None for more than it can be made to say."""
        if len(tokens) > MAX_FORCED_TOKENS:
            return None
        audio = resample(clip.samples, clip.sample_rate_hz, WHISPER_SAMPLE_RATE_HZ)
        encoded, _ = self._encode(audio, Span(0.0, min(clip.duration_s, WINDOW_S)))
        steps = self._model.model.generate(
            encoded,
            [[*tokenizer.sot_sequence, tokenizer.no_timestamps, *tokens]],
            beam_size=1,
            max_length=2 * (len(tokens) + 2),  # CTranslate2 generates half of it
            return_logits_vocab=True,
            suppress_blank=False,
            suppress_tokens=[],
        )[0].logits[0]
        return _to_numpy(steps[len(tokens)]) if len(steps) > len(tokens) else None

    def transcribe_plainly(self, path: Path, language: str) -> str:
        """What faster-whisper itself makes of a file with its defaults: the measure of our own speed."""
        segments, _ = self._model.transcribe(
            str(path), language=_whisper_language(language) if language else None
        )
        return "".join(s.text for s in segments)

    # ------------------------------------------------------------------ the model's own calls

    def _encode(self, audio: Samples, interval: Span) -> tuple[Any, int]:
        from faster_whisper.audio import pad_or_trim

        start = round(interval.start_s * WHISPER_SAMPLE_RATE_HZ)
        piece = audio[start : round(interval.end_s * WHISPER_SAMPLE_RATE_HZ)]
        key = hashlib.sha256(piece.tobytes()).digest()
        if key not in self._encoded:
            features = self._model.feature_extractor(piece)
            max_frames = int(self._model.feature_extractor.nb_max_frames)
            num_frames = min(int(features.shape[-1]) - 1, max_frames)
            while len(self._encoded) >= 2:
                self._encoded.pop(next(iter(self._encoded)))
            self._encoded[key] = (self._model.encode(pad_or_trim(features, max_frames)), num_frames)
        return self._encoded[key]

    def _tokenizer(self, language: str) -> Any:  # noqa: ANN401  # faster-whisper ships no types
        from faster_whisper.tokenizer import Tokenizer

        multilingual = bool(self._model.model.is_multilingual)
        return Tokenizer(self._model.hf_tokenizer, multilingual, task="transcribe", language=language)

    def _detect(self, encoded: Any) -> tuple[str, float]:  # noqa: ANN401
        if not self._model.model.is_multilingual:
            return "en", 1.0
        token, probability = self._model.model.detect_language(encoded)[0][0]
        return str(token)[2:-2], float(probability)

    def _hear(self, encoded: Any, num_frames: int, language: str) -> list[Word]:  # noqa: ANN401
        tokenizer = self._tokenizer(language)
        prompt = [*tokenizer.sot_sequence, tokenizer.no_timestamps]
        options = _decoding_options(self.beam_size)
        result, *_ = self._model.generate_with_fallback(encoded, prompt, tokenizer, options)
        tokens = [t for t in result.sequences_ids[0] if t < tokenizer.eot]
        words = self._place(encoded, num_frames, tokens, tokenizer)
        return _regroup(words, tokenizer.decode(tokens))

    def _place(self, encoded: Any, num_frames: int, tokens: list[int], tokenizer: Any) -> list[Word]:  # noqa: ANN401
        if not tokens:
            return []
        placed = self._model.find_alignment(tokenizer, [tokens], encoded, num_frames)[0]
        return [
            Word(
                str(w["word"]),
                Span(float(w["start"]), max(float(w["start"]), float(w["end"]))),
                float(w["probability"]),
            )
            for w in placed
        ]


def _tokens_of(text: str, tokenizer: Any) -> list[int]:  # noqa: ANN401
    """Tokens of a text as the model would write it.

    A text begins with a capital and is not shouted: "as you" and "AS YOU" gave the first word a probability of 0.0002
    where "As you" is heard with 0.6. Scripts without spaces begin without one.
    """
    # Half of a surrogate pair (JSON can hold one, so can a command line) is nothing that the tokenizer takes.
    plain = text.strip().encode("utf-8", "replace").decode("utf-8")
    if not plain:
        return []
    lowered = plain.lower()
    if plain.isupper() and len(lowered) == len(plain) and len(plain) > _ACRONYM_LETTERS:
        plain = lowered
    first = plain[0].upper()
    if len(first) == 1:
        plain = first + plain[1:]
    found: list[int] = tokenizer.encode(plain if is_spaceless(plain[0]) else f" {plain}")
    return found


def _to_numpy(storage: Any) -> npt.NDArray[np.float64]:  # noqa: ANN401
    """One row of a CTranslate2 tensor, from any device."""
    import ctranslate2

    if storage.device != "cpu":
        storage = storage.to_device(ctranslate2.Device.cpu)
    return np.array(storage).ravel().astype(np.float64)


def mend_merges(tokenizer: Any) -> Any:  # noqa: ANN401  # tokenizers ships no types
    """The tokenizer with the first of its BPE merges, where a converter took that line for a file header.

    The multilingual models of Systran lack "Ġ t": " the" falls into " " and "the", which the model was never trained on,
    and every word that begins with t gets a forced probability near zero (0.002 instead of 0.997 in one clip).

    Args:
        tokenizer: ``tokenizers.Tokenizer`` of byte-level BPE.

    Returns:
        The same object where nothing is missing, else a new one.
    """
    if tokenizer.token_to_id("Ġt") is None or len(tokenizer.encode(" t", add_special_tokens=False).ids) == 1:
        return tokenizer
    document = json.loads(tokenizer.to_str())
    merges = document["model"]["merges"]
    # Two spellings of a merge, by the version of the library that wrote the file.
    merges.insert(0, ["Ġ", "t"] if merges and isinstance(merges[0], list) else "Ġ t")
    return type(tokenizer).from_str(json.dumps(document))


def _decoding_options(beam_size: int) -> Any:  # noqa: ANN401
    """One decode without timestamps; a repetition loop or a hopeless score is decoded again, less greedily."""
    from faster_whisper.transcribe import TranscriptionOptions

    return TranscriptionOptions(
        beam_size=beam_size,
        best_of=5,
        patience=1.0,
        length_penalty=1.0,
        repetition_penalty=1.0,
        no_repeat_ngram_size=0,
        log_prob_threshold=-1.0,
        no_speech_threshold=0.6,
        compression_ratio_threshold=2.4,
        condition_on_previous_text=False,
        prompt_reset_on_temperature=0.5,
        # Only deterministic decodes: the same clip must get the same verdict twice.
        temperatures=[0.0],
        initial_prompt=None,
        prefix=None,
        suppress_blank=True,
        suppress_tokens=(),
        without_timestamps=True,
        max_initial_timestamp=1.0,
        word_timestamps=True,
        prepend_punctuations="",
        append_punctuations="",
        multilingual=False,
        max_new_tokens=None,
        clip_timestamps="0",
        hallucination_silence_threshold=None,
        hotwords=None,
    )


def _whisper_language(language: str) -> str:
    """Whisper's code for a BCP 47 tag: its primary subtag.

    Raises:
        UsageError: Whisper does not know the language.
    """
    from faster_whisper.tokenizer import _LANGUAGE_CODES

    code = primary_language(language)
    code = {"cmn": "zh", "nb": "no", "fil": "tl"}.get(code, code)
    if code not in _LANGUAGE_CODES:
        raise UsageError(
            f"the recogniser does not know the language {language!r}",
            where="--language",
            fix="Use a code such as en, de or zh, or leave it out to have it detected.",
        )
    return str(code)


def _regroup(pieces: list[Word], text: str, *, leftover: float | None = None) -> list[Word]:
    """Join the tokenizer's word pieces into the words of the text as it is written.

    The tokenizer splits at spaces and before punctuation; a written word is what stands between two spaces, or one
    character where the script writes no spaces. Concatenated, the pieces are the text, so both are walked together.
    Words that no piece is left for get no length and the probability ``leftover``, or that of the word before them.
    """
    written = split_words(text)
    words: list[Word] = []
    pending = list(pieces)
    for target in written:
        group: list[Word] = []
        have = ""
        while pending and len(have) < len(_bare(target)):
            piece = pending.pop(0)
            group.append(piece)
            have += _bare(piece.text)
        if group:
            weights = [max(1, len(_bare(p.text))) for p in group]
            spoken = [p for p in group if any(ch.isalnum() for ch in p.text)] or group
            probability = sum(
                p.probability * w for p, w in zip(group, weights, strict=True) if p in spoken
            ) / sum(w for p, w in zip(group, weights, strict=True) if p in spoken)
            words.append(Word(target, Span(spoken[0].span.start_s, spoken[-1].span.end_s), probability))
        elif words:
            end_s = words[-1].span.end_s
            probability = words[-1].probability if leftover is None else leftover
            words.append(Word(target, Span(end_s, end_s), probability))
        else:
            words.append(Word(target, Span(0.0, 0.0), 0.0))
    return words


def _bare(text: str) -> str:
    return "".join(text.split())


def _shifted(word: Word, offset_s: float) -> Word:
    return Word(word.text, Span(word.span.start_s + offset_s, word.span.end_s + offset_s), word.probability)
