"""What a user points at, as utterances: audio with its text, language and speaker.

    read.py          paths -> utterances
    folder.py        a folder: its metadata, its built voices, or every audio file in it
    manifests.py     a manifest file -> the reader of its format
    jsonl.py  table.py  ljspeech.py  gpt_sovits.py  parquet.py    one format each
    dataset.py       data sets of the library `datasets`: saved to a folder, or named on the hub
    arrow.py         rows of Arrow tables, for the two that carry audio inside
    embedded.py      audio that a row carries inside -> a file
    row.py           a row of any format -> Utterance
    sidecar.py       audio beside its text
    content.py       the text of a file, refused where it is not UTF-8

Paths inside a manifest are relative to its folder.
"""

from refprep.manifest.read import read_utterances
from refprep.manifest.row import AUDIO_SUFFIXES
from refprep.manifest.sidecar import TEXT_SUFFIXES, read_text_file
from refprep.manifest.utterance import Utterance

__all__ = ["AUDIO_SUFFIXES", "TEXT_SUFFIXES", "Utterance", "read_text_file", "read_utterances"]
