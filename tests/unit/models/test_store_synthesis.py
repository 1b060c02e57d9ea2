"""Checkpoints that speak, in the catalog and in the store: their files lie in a subfolder, too."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from engine_kit import tiny_checkpoint

from refprep.backends.qwen3_encoder import Qwen3ReferenceEncoder
from refprep.errors import UsageError, WeightsMissing
from refprep.models.catalog import HubSource, load_catalog
from refprep.models.load import model_folder
from refprep.models.store import ModelStore

IDS = [
    "qwen3-tts-0.6b-base",
    "qwen3-tts-1.7b-base",
    "qwen3-tts-0.6b-customvoice",
    "qwen3-tts-1.7b-customvoice",
    "qwen3-tts-1.7b-voicedesign",
]


def test_the_five_checkpoints_are_named_and_nothing_of_them_is_invented():
    catalog = load_catalog()
    assert [m.id for m in catalog.values() if m.role == "synthesis"] == IDS
    for model_id in IDS:
        model = catalog[model_id]
        (source,) = model.sources
        assert isinstance(source, HubSource)
        assert source.repo.lower() == f"qwen/qwen3-tts-12hz-{model_id.removeprefix('qwen3-tts-')}"
        assert source.revision is None
        assert all(f.sha256 is None and f.size_bytes is None for f in source.files)
        assert model.size_is_estimate
        assert {"model.safetensors", "speech_tokenizer/model.safetensors"} <= {
            f.names[0] for f in source.files
        }


def test_a_checkpoint_is_pulled_with_its_subfolder_and_verified(tmp_path: Path):
    store = ModelStore(tmp_path)
    with pytest.raises(WeightsMissing, match=r"refprep models pull qwen3-tts-0\.6b-base"):
        model_folder(IDS[0], store)
    folder = store.pull(IDS[0], source=str(tiny_checkpoint("base-0.6b")))
    assert model_folder(IDS[0], store) == folder
    assert store.verify(IDS[0]) == []
    facts = Qwen3ReferenceEncoder(folder).facts
    assert facts == Qwen3ReferenceEncoder(tiny_checkpoint("base-0.6b")).facts
    codec = folder / "speech_tokenizer" / "model.safetensors"
    data = bytearray(codec.read_bytes())
    data[-1] ^= 1
    codec.write_bytes(data)
    (problem,) = store.verify(IDS[0])
    assert problem.name == "speech_tokenizer/model.safetensors"
    codec.unlink()
    with pytest.raises(WeightsMissing, match=r"speech_tokenizer/model\.safetensors: is missing"):
        model_folder(IDS[0], store)


def test_a_folder_without_its_codec_is_refused(tmp_path: Path):
    part = tmp_path / "part"
    shutil.copytree(tiny_checkpoint("base-0.6b"), part, ignore=shutil.ignore_patterns("speech_tokenizer"))
    with pytest.raises(UsageError, match=r"speech_tokenizer/config\.json"):
        ModelStore(tmp_path / "cache").pull(IDS[0], source=str(part))


def test_only_what_speaks_is_a_checkpoint(tmp_path: Path):
    with pytest.raises(UsageError, match="speaks nothing"):
        model_folder("ge2e", ModelStore(tmp_path))
    assert model_folder(tiny_checkpoint("base-0.6b"), ModelStore(tmp_path)) == tiny_checkpoint("base-0.6b")
