"""BuiltVoice -> its folder: whole, or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from refprep.atomic import replace_folder
from refprep.errors import IntegrityError, UsageError
from refprep.pipeline.build import BuiltVoice
from refprep.pipeline.decode import decode_file
from refprep.pipeline.wav import write_wav
from refprep.report.html import render_report
from refprep.text.words import join_texts
from refprep.voice.document import voice_document
from refprep.voice.names import AUDIO_NAME, REPORT_NAME, TEXT_NAME, VOICE_NAME, nested_names
from refprep.voice.verify import verify_voice


def write_voice(voice: BuiltVoice, *, speaker: str) -> None:
    """Write a voice's folder: whole, or not at all.

    The joined samples are read back from the written file and compared with every source clip bit for bit before the
    folder takes its place.

    Args:
        voice: The built voice; its ``folder`` is where it goes.
        speaker: Speaker id; may be empty.

    Raises:
        UsageError: The folder exists and is no voice: nothing of somebody's is overwritten.
        IntegrityError: The written samples are not the source samples.
        MachineError: The disk refused.
    """
    folder = voice.folder
    require_replaceable(folder)
    with replace_folder(folder) as fresh:
        reference = voice.reference
        write_wav(fresh / AUDIO_NAME, reference.samples, reference.sample_rate_hz, reference.sample_format)
        (fresh / TEXT_NAME).write_text(voice.reference.text + "\n", encoding="utf-8")
        for number, num_clips in enumerate(reference.nested):
            audio, text = nested_names(voice.nested_s[number])
            prefix = reference.samples[: reference.nested_samples(number)]
            write_wav(fresh / audio, prefix, reference.sample_rate_hz, reference.sample_format)
            said = join_texts([c.text for c in reference.clips[:num_clips]])
            (fresh / text).write_text(said + "\n", encoding="utf-8")
        _prove_bit_identity(fresh / AUDIO_NAME, voice)
        document = voice_document(voice, speaker=speaker, written=fresh)
        (fresh / VOICE_NAME).write_text(
            json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
        )
        (fresh / REPORT_NAME).write_text(
            render_report(document, voice.reference, name=folder.name), encoding="utf-8"
        )
        _prove_verified(fresh)


def _prove_verified(fresh: Path) -> None:
    """Nothing takes its place that `refprep verify` would refuse: a source that changed meanwhile, for one."""
    for about, what in verify_voice(fresh).problems:
        raise IntegrityError(
            f"{about}: {what}", where=str(fresh.parent), fix="Build again; nothing was overwritten."
        )


def require_replaceable(folder: Path) -> None:
    """Refuse to put a voice where something else is.

    Raises:
        UsageError: The folder exists, is not empty, and is no voice; or it is a file.
    """
    if not folder.exists():
        return
    if not (folder.is_dir() and ((folder / VOICE_NAME).is_file() or not any(folder.iterdir()))):
        raise UsageError(
            "it exists and is no voice",
            where=str(folder),
            fix="Choose another folder; nothing was overwritten.",
        )


def _prove_bit_identity(path: Path, voice: BuiltVoice) -> None:
    written = decode_file(path).samples
    for joined, index in zip(voice.reference.clips, voice.chosen, strict=True):
        clip = voice.candidates[index].clip
        if clip is None or not np.array_equal(written[joined.start_sample : joined.end_sample], clip.samples):
            raise IntegrityError(
                f"the samples of {joined.path} did not survive the join",
                where=str(path),
                fix="Report this: the voice was not written.",
            )
