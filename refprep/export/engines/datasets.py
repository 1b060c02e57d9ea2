"""Datasets, a row a clip: LJSpeech, Hugging Face audiofolder."""

from __future__ import annotations

import json
from typing import Any

from refprep.errors import NoReferenceError
from refprep.export.exporter import Excerpt, Exporter, Layout, Sidecars
from refprep.linter.profiles import EngineProfile, TextUse
from refprep.text.words import primary_language


def _ljspeech(excerpt: Excerpt) -> Sidecars:
    """``metadata.csv`` with ``id|text|normalised text``, and ``wavs/id.wav``.

    The format of the LJ Speech dataset's own README: no header, no quoting, UTF-8. Nothing is normalised here: both
    columns hold the text as spoken. The dataset itself is 22,050 Hz, 16 bit; these are the voice's own samples.
    Language, speaker, licence and consent have no column: they stand in README.md.
    """
    rows = []
    for file in excerpt.files:
        if "|" in file.text:
            raise NoReferenceError(
                f"the text of clip {file.clips[0] + 1} holds a |, which parts the columns of metadata.csv",
                where=str(excerpt.source.folder),
                fix="Build the voice again without that sign, or export to hf-audiofolder.",
            )
        clip_id = file.name.removeprefix("wavs/").removesuffix(".wav")
        rows.append(f"{clip_id}|{file.text}|{file.text}\n")
    return Sidecars(
        {"metadata.csv": "".join(rows), "README.md": "\n".join(_readme(excerpt)) + "\n"},
        use="the path of this folder, wherever LJSpeech is asked for",
    )


def _hf_audiofolder(excerpt: Excerpt) -> Sidecars:
    """``metadata.jsonl`` with ``file_name``, ``text`` and what is known of each clip, and a dataset card.

    The format of https://huggingface.co/docs/datasets/audio_dataset; the rows were loaded with ``datasets`` 5.2. JSON
    lines and not CSV: its reader would make numbers of texts such as "1984". Every row has the same columns, null where
    a clip does not say. The card names the files that belong to the dataset, or ``export.json`` might count as data.
    """
    source = excerpt.source
    columns = _provenance_columns(excerpt)
    rows = []
    for number, file in enumerate(excerpt.files):
        row = {
            "file_name": file.name.removeprefix("data/"),
            "text": file.text,
            "speaker_id": source.speaker,
            "language": source.reference.language,
        }
        row |= {key: values[number] for key, values in columns.items() if key not in row}
        rows.append(json.dumps(row, ensure_ascii=False) + "\n")
    card = [
        "---",
        "configs:",
        "- config_name: default",
        "  data_files:",
        "  - split: train",
        "    path: data/*",
        "task_categories:",
        "- text-to-speech",
    ]
    if source.reference.language:
        # Quoted: YAML reads a bare "no" as false.
        card += ["language:", f'- "{primary_language(source.reference.language)}"']
    return Sidecars(
        {
            "data/metadata.jsonl": "".join(rows),
            "README.md": "\n".join([*card, "---", "", *_readme(excerpt)]) + "\n",
        },
        use='datasets.load_dataset("path of this folder", split="train")',
    )


def _provenance_columns(excerpt: Excerpt) -> dict[str, list[Any]]:
    """What the clips' manifest rows said, a column a field; a column of mixed types becomes text, as Arrow needs it."""
    rows = [excerpt.source.provenance(f.clips[0]) for f in excerpt.files]
    columns: dict[str, list[Any]] = {}
    for key in dict.fromkeys(k for row in rows for k in row):
        values = [row.get(key) for row in rows]
        is_mixed = len({type(v) for v in values if v is not None}) > 1
        columns[key] = [
            v if v is None or isinstance(v, str) or not is_mixed else json.dumps(v) for v in values
        ]
    return columns


def _readme(excerpt: Excerpt) -> list[str]:
    """Lines for people: what this is, and what was said of licence and consent."""
    source = excerpt.source
    clips = tuple(i for f in excerpt.files for i in f.clips)
    total_s = sum(f.num_samples for f in excerpt.files) / source.reference.sample_rate_hz
    return [
        f"# {source.name}",
        "",
        f"{len(excerpt.files)} clips of one voice, {total_s:.2f} s, {source.reference.sample_rate_hz} Hz; exported by refprep,",
        "which proved that the text of each covers its audio. `export.json` holds hashes and where each clip comes from.",
        "",
        f"- speaker: {source.speaker}",
        f"- language: {source.reference.language or 'not stated'}",
        *(
            f"- {what}: {'; '.join(source.stated(what, clips)) or 'not stated'}"
            for what in ("licence", "consent")
        ),
    ]


EXPORTERS = (
    Exporter(
        "metadata.csv and wavs/, a row a clip",
        EngineProfile("ljspeech", TextUse.NEEDED),
        Layout.CLIPS,
        "wavs/{voice}-{number:04d}.wav",
        _ljspeech,
    ),
    Exporter(
        "data/ with a wav a clip and metadata.jsonl, a dataset card",
        EngineProfile("hf-audiofolder", TextUse.NEEDED),
        Layout.CLIPS,
        "data/{number:04d}.wav",
        _hf_audiofolder,
    ),
)
