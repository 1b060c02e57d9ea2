"""What is compared: every mode that a kind of checkpoint has, as requests of ours and as a job for the peer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refprep.engine.config import RANDOM_LABEL, CheckpointConfig, ModelKind
from refprep.engine.tokenizer import TextTokenizer
from refprep.types import GREEDY, CloneMode, SpeechRequest, VoicePrompt
from refprep.units import seconds_to_samples

SAMPLE_RATE_HZ = 24_000

# Mixed case, digits, an apostrophe, several scripts: what splitting patterns treat differently.
SHORT = "Good morning."
LONG = "Don't panic: the new iPad costs 1,249 euros; a naïve café owner in Kraków paid 98 % of it, 太贵了！"
REFERENCE = "Seven old friends met by the river at 6 pm."
SHORT_REFERENCE = "Oh."
INSTRUCT = "Speak slowly, like a tired McDonald's clerk."


@dataclass(frozen=True, slots=True)
class ParityCase:
    """One mode.

    Attributes:
        name: As it is printed.
        requests: One, or several that run side by side.
    """

    name: str
    requests: tuple[SpeechRequest, ...]


def weights_label(folder: Path) -> str:
    """``random`` where a checkpoint says so of itself; elsewhere nobody knows."""
    return "random" if (folder / RANDOM_LABEL).is_file() else "unknown"


def reference_wave(seconds: float) -> npt.NDArray[np.float32]:
    """A voice-like signal that is the same everywhere: harmonics of a gliding pitch, syllables, a little noise."""
    count = seconds_to_samples(seconds, SAMPLE_RATE_HZ)
    time_s = np.arange(count) / SAMPLE_RATE_HZ
    pitch_hz = 140 + 25 * np.sin(2 * np.pi * 0.7 * time_s)
    phase = 2 * np.pi * np.cumsum(pitch_hz) / SAMPLE_RATE_HZ
    tone = sum(np.sin(k * phase + k) / k for k in range(1, 25))
    syllables = 0.55 + 0.45 * np.sin(2 * np.pi * 3.3 * time_s)
    noise = np.random.Generator(np.random.PCG64(12)).standard_normal(count)
    return np.asarray(0.12 * tone * syllables + 0.01 * noise, dtype=np.float32)


def parity_cases(
    config: CheckpointConfig,
    tokenizer: TextTokenizer,
    *,
    frames: int,
    embedding: npt.NDArray[np.float32] | None = None,
    codes: npt.NDArray[np.int32] | None = None,
) -> list[ParityCase]:
    """Every mode of a checkpoint, and a batch of mixed lengths.

    Args:
        config: Of the checkpoint.
        tokenizer: Of the checkpoint.
        frames: To generate in each.
        embedding: Of the reference; Base checkpoints.
        codes: Of the reference; Base checkpoints.
    """
    base = SpeechRequest(LONG, sampling=GREEDY, max_frames=frames)
    if config.kind is ModelKind.BASE:
        assert embedding is not None, "a Base checkpoint speaks with a voice"  # noqa: S101
        assert codes is not None, "a Base checkpoint speaks with a voice"  # noqa: S101
        return _base_cases(base, config, tokenizer, embedding, codes)
    return (
        _custom_cases(base, config) if config.kind is ModelKind.CUSTOM_VOICE else _design_cases(base, config)
    )


def _base_cases(
    base: SpeechRequest,
    config: CheckpointConfig,
    tokenizer: TextTokenizer,
    embedding: npt.NDArray[np.float32],
    codes: npt.NDArray[np.int32],
) -> list[ParityCase]:
    # As many frames as leave text over for the frames to come: the other half of the overlay is icl.stream.short.
    track = len(tokenizer.reference(REFERENCE)) + len(tokenizer.target(LONG)[1]) + 1
    xvec = VoicePrompt(CloneMode.X_VECTOR, embedding)
    icl = VoicePrompt(CloneMode.ICL, embedding, REFERENCE, codes[: max(1, track - 3)])
    long = VoicePrompt(CloneMode.ICL, embedding, SHORT_REFERENCE, codes)
    named = _language(config)
    return [
        _one("xvec.stream", replace(base, voice=xvec, whole_text=False)),
        _one("xvec.full", replace(base, voice=xvec, whole_text=True, language=named)),
        _one("icl.stream", replace(base, voice=icl, whole_text=False, language=named)),
        _one("icl.stream.short", replace(base, text=SHORT, voice=long, whole_text=False)),
        _one("icl.full", replace(base, voice=icl, whole_text=True)),
        _batch(
            replace(base, text=SHORT, voice=long, whole_text=False, language=named),
            replace(base, voice=icl, whole_text=False),
            replace(base, voice=xvec, whole_text=False),
        ),
    ]


def _custom_cases(base: SpeechRequest, config: CheckpointConfig) -> list[ParityCase]:
    talker, named = config.talker_config, _language(config)
    dialect = [n for n in config.speakers if talker.spk_is_dialect.get(n)]
    plain = [n for n in config.speakers if n not in dialect] or dialect
    spoken = replace(base, speaker=plain[0])
    cases = [
        _one("plain.full", replace(spoken, whole_text=True, language=named)),
        _one("plain.stream", replace(spoken, whole_text=False)),
    ]
    if config.takes_instruct:
        told = replace(spoken, instruct=INSTRUCT)
        cases += [
            _one("instruct.full", replace(told, whole_text=True)),
            _one("instruct.stream", replace(told, whole_text=False, language=named)),
        ]
    if dialect:
        local = replace(base, speaker=dialect[0])
        cases.append(_one("dialect.full", replace(local, whole_text=True)))
        if "chinese" in config.languages:
            cases.append(_one("dialect.stream", replace(local, whole_text=False, language="chinese")))
    instruct = INSTRUCT if config.takes_instruct else None
    cases.append(
        _batch(
            replace(spoken, text=SHORT, whole_text=True, instruct=instruct, language=named),
            replace(base, speaker=(dialect or plain)[-1], whole_text=True),
        )
    )
    return cases


def _design_cases(base: SpeechRequest, config: CheckpointConfig) -> list[ParityCase]:
    named, told = _language(config), replace(base, instruct=INSTRUCT)
    return [
        _one("instruct.full", replace(told, whole_text=True)),
        _one("instruct.stream", replace(told, whole_text=False, language=named)),
        _one("plain.full", replace(base, text=SHORT, whole_text=True, language=named)),
        _one("plain.stream", replace(base, whole_text=False)),
        _batch(replace(told, text=SHORT, whole_text=True), replace(base, whole_text=True, language=named)),
    ]


def peer_job(cases: Sequence[ParityCase], tokenizer: TextTokenizer) -> dict[str, list[Mapping[str, Any]]]:
    """``texts`` and ``cases`` of a worker's job."""
    texts: dict[tuple[str, str], dict[str, Any]] = {}

    def note(kind: str, text: str | None, ids: Sequence[int]) -> None:
        if text is not None:
            texts[kind, text] = {"kind": kind, "text": text, "ids": list(ids)}

    for request in (r for case in cases for r in case.requests):
        role, ids = tokenizer.target(request.text)
        note("target", request.text, [*role, *ids])
        if request.instruct:
            note("instruct", request.instruct, tokenizer.instruction(request.instruct))
        if request.voice is not None and request.voice.text:
            note("reference", request.voice.text, tokenizer.reference(request.voice.text))
    return {"texts": list(texts.values()), "cases": [_case(case) for case in cases]}


def texts_of(case: ParityCase) -> set[tuple[str, str]]:
    """(kind, text) of everything that a case's requests are tokenized from."""
    found = set()
    for request in case.requests:
        found.add(("target", request.text))
        if request.instruct:
            found.add(("instruct", request.instruct))
        if request.voice is not None and request.voice.text:
            found.add(("reference", request.voice.text))
    return found


def _case(case: ParityCase) -> Mapping[str, Any]:
    return {
        "name": case.name,
        "whole_text": bool(case.requests[0].whole_text),
        "rows": [_row(request) for request in case.requests],
    }


def _row(request: SpeechRequest) -> dict[str, Any]:
    """One request in a worker's job."""
    voice = request.voice
    return {
        "text": request.text,
        "voice": None if voice is None else "icl" if voice.mode is CloneMode.ICL else "xvec",
        "ref_text": None if voice is None else voice.text,
        "ref_frames": 0 if voice is None else voice.num_frames,
        "language": request.language,
        "speaker": request.speaker,
        "instruct": request.instruct,
    }


def _language(config: CheckpointConfig) -> str:
    return "english" if "english" in config.languages else config.languages[0]


def _one(name: str, request: SpeechRequest) -> ParityCase:
    return ParityCase(name, (request,))


def _batch(*requests: SpeechRequest) -> ParityCase:
    assert len({r.whole_text for r in requests}) == 1, "the peer's batches have one mode"  # noqa: S101
    return ParityCase("batch", requests)
