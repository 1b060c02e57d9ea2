"""What each synthesis engine does with a reference: what it cuts, refuses and ignores.

The facts were read in the engines' own sources and manuals; they belong to the versions that were current in autumn
2026. Where an engine takes a length as an option, the default is given.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from refprep.errors import UsageError
from refprep.text.words import join_words
from refprep.types import BACKEND_MODES, MOSS_TTS, QWEN3_TTS, QualityReport, TextCheck, TextNeed, Word

MIN_LOST_S = 0.05  # less is a rounding of frames


class TextUse(enum.StrEnum):
    """What an engine does with the text of the reference."""

    NEEDED = "needed"
    OPTIONAL = "optional"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class EngineProfile:
    """One engine.

    Attributes:
        name: As ``--profile`` takes it.
        text: What it does with the text.
        longer_than_s: Audio of this length and less is refused; None where nothing is too short.
        min_s, max_s: Audio shorter, longer than this is refused; None likewise.
        max_with_text_s: Longer audio is refused when a text comes with it.
        kept_s: It uses the first part of the audio, at most this long; None for all of it.
        parts: (what, seconds): what within ``kept_s`` looks at less of it.
        advised_s: Length that its makers advise.
        min_rate_hz: It warns of a lower sample rate.
    """

    name: str
    text: TextUse
    longer_than_s: float | None = None
    min_s: float | None = None
    max_s: float | None = None
    max_with_text_s: float | None = None
    kept_s: float | None = None
    parts: tuple[tuple[str, float], ...] = ()
    advised_s: tuple[float, float] | None = None
    min_rate_hz: int | None = None


def _text_use(backend: str) -> TextUse:
    """Of an engine that refprep runs itself, by its backend's modes: the default one decides, others make it optional."""
    needs = [mode.text for mode in BACKEND_MODES[backend].values()]
    if needs[0] is TextNeed.REQUIRED:
        return TextUse.NEEDED
    return TextUse.OPTIONAL if TextNeed.REQUIRED in needs else TextUse.IGNORED


PROFILES: dict[str, EngineProfile] = {
    p.name: p
    for p in (
        # No check of the length. The text is needed for in-context cloning; x-vector cloning does without.
        EngineProfile(QWEN3_TTS, _text_use(QWEN3_TTS)),
        # Cloning takes any length and no text; continuation needs one.
        EngineProfile(MOSS_TTS, _text_use(MOSS_TTS)),
        # The audio is cut near 12 s, at a pause where there is one; the caller's text stays whole.
        EngineProfile("f5-tts", TextUse.NEEDED, kept_s=12.0),
        # Raises outside of 3-10 s. Without a text it works, and less well.
        EngineProfile("gpt-sovits", TextUse.OPTIONAL, min_s=3.0, max_s=10.0),
        # Asserts at most 30 s and warns below 16 kHz; the zero-shot mode needs the text.
        EngineProfile("cosyvoice", TextUse.NEEDED, max_s=30.0, min_rate_hz=16_000),
        # IndexTTS 2 loads the first 15 s.
        EngineProfile("index-tts", TextUse.IGNORED, kept_s=15.0),
        # 6 s condition the language model, 10 s the decoder.
        EngineProfile("chatterbox", TextUse.IGNORED, kept_s=10.0, parts=(("the conditioning", 6.0),)),
        # 15 s condition the language model, 10 s the decoder; asserts more than 5 s.
        EngineProfile(
            "chatterbox-turbo",
            TextUse.IGNORED,
            longer_than_s=5.0,
            kept_s=15.0,
            parts=(("the decoder", 10.0),),
        ),
        # By default 12 s go into the latents and 10 s into the speaker reference; several files are averaged.
        EngineProfile("xtts", TextUse.IGNORED, kept_s=12.0, parts=(("the speaker embedding", 10.0),)),
        # A folder of clips with .lab files; 10-30 s are advised.
        EngineProfile("fish-speech", TextUse.NEEDED, advised_s=(10.0, 30.0)),
        # Raises over 20 s when a text comes with the audio.
        EngineProfile("omnivoice", TextUse.OPTIONAL, max_with_text_s=20.0),
        # Any length; a missing text is transcribed with Whisper.
        EngineProfile("mlx-audio", TextUse.OPTIONAL),
    )
}


@dataclass(frozen=True, slots=True)
class ProfileCase:
    """One clip and its text, as an engine takes them.

    Attributes:
        profile: The engine.
        duration_s: Of the clip.
        sample_rate_hz: Of the clip.
        text: That would be given with it; None without one.
        words: The text's words with their places in the audio; empty where nobody aligned them.
    """

    profile: EngineProfile
    duration_s: float
    sample_rate_hz: int
    text: str | None
    words: tuple[Word, ...] = ()

    @property
    def has_text(self) -> bool:
        """There is more than blanks."""
        return bool(self.text and self.text.strip())

    @property
    def lost_s(self) -> float:
        """Seconds of audio that the engine does not use."""
        kept_s = self.profile.kept_s
        return max(0.0, self.duration_s - kept_s) if kept_s is not None else 0.0

    @property
    def lost_words(self) -> str:
        """Words that are spoken, for the most part, in what the engine does not use."""
        return join_words(w.text for w in self._words_beyond)

    @property
    def num_lost_words(self) -> int:
        """How many these are."""
        return len(self._words_beyond)

    @property
    def _words_beyond(self) -> tuple[Word, ...]:
        kept_s = self.profile.kept_s
        if kept_s is None:
            return ()
        return tuple(w for w in self.words if (w.span.start_s + w.span.end_s) / 2 >= kept_s)


def find_profiles(names: str) -> tuple[EngineProfile, ...]:
    """Profiles by name.

    Args:
        names: One, or several with commas between them; empty for none.

    Raises:
        UsageError: A name of no profile.
    """
    wanted = [n.strip().lower() for n in names.split(",")] if names.strip() else []
    for name in wanted:
        if name not in PROFILES:
            raise UsageError(
                f"{name!r} is no engine profile", where="--profile", fix=f"Known ones: {', '.join(PROFILES)}."
            )
    return tuple(PROFILES[n] for n in dict.fromkeys(wanted))


def profile_cases(
    profiles: Sequence[EngineProfile], text: str | None, nouns: Iterable[object]
) -> tuple[ProfileCase, ...]:
    """What the engines get, of what was measured of a clip.

    Args:
        profiles: The engines.
        text: Of the clip; None without one.
        nouns: What was measured; without a QualityReport (the file does not decode) there is no case.
    """
    measured = tuple(nouns)
    quality = next((n for n in measured if isinstance(n, QualityReport)), None)
    check = next((n for n in measured if isinstance(n, TextCheck)), None)
    if quality is None:
        return ()
    return tuple(
        ProfileCase(
            profile,
            duration_s=quality.duration_s,
            sample_rate_hz=quality.sample_rate_hz,
            text=text,
            words=check.alignment.words if check else (),
        )
        for profile in profiles
    )
