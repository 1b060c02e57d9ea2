"""Transcript -> txt, json, srt."""

from __future__ import annotations

import json

from refprep.text.words import join_words
from refprep.types import Transcript, Word

SCHEMA_VERSION = 1
# One subtitle: at most two lines of 42 letters, the usual broadcast limit.
_MAX_CUE_LETTERS = 84
_MAX_CUE_S = 7.0
_BREAK_PAUSE_S = 0.6


def to_txt(transcript: Transcript, path: str) -> str:
    """The text alone."""
    del path
    return transcript.text


def to_json(transcript: Transcript, path: str) -> str:
    """Text, language and words with times (seconds) and probabilities."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "path": path,
        "text": transcript.text,
        "language": transcript.language,
        "language_probability": round(transcript.language_probability, 4),
        "model": transcript.model,
        "words": [
            {
                "text": w.text,
                "start_s": round(w.span.start_s, 3),
                "end_s": round(w.span.end_s, 3),
                "probability": round(w.probability, 4),
            }
            for w in transcript.words
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def to_srt(transcript: Transcript, path: str) -> str:
    """SubRip subtitles: a cue ends at a sentence's end, a pause, 84 letters or 7 s."""
    del path
    cues: list[list[Word]] = []
    for word in transcript.words:
        if cues and not _starts_cue(cues[-1], word):
            cues[-1].append(word)
        else:
            cues.append([word])
    blocks = [
        f"{number}\n{_clock(cue[0].span.start_s)} --> {_clock(cue[-1].span.end_s)}\n{join_words(w.text for w in cue)}\n"
        for number, cue in enumerate(cues, start=1)
    ]
    return "\n".join(blocks).rstrip("\n")


def _starts_cue(cue: list[Word], word: Word) -> bool:
    length = len(join_words(w.text for w in (*cue, word)))
    return (
        length > _MAX_CUE_LETTERS
        or word.span.end_s - cue[0].span.start_s > _MAX_CUE_S
        or word.span.start_s - cue[-1].span.end_s > _BREAK_PAUSE_S
        or cue[-1].text.endswith((".", "?", "!", "。", "？", "！"))
    )


def _clock(seconds: float) -> str:
    milliseconds = round(seconds * 1000)
    return f"{milliseconds // 3_600_000:02}:{milliseconds // 60_000 % 60:02}:{milliseconds // 1000 % 60:02},{milliseconds % 1000:03}"
