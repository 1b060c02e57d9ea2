"""Checkpoints that speak, in the catalog and in the store: their files lie in a subfolder, too."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from engine_kit import tiny_checkpoint

from refprep.backends.qwen3_encoder import Qwen3ReferenceEncoder
from refprep.errors import BackendError, UsageError, WeightsMissing
from refprep.models.catalog import HubSource, load_catalog
from refprep.models.load import load_backend, model_folder
from refprep.models.store import ModelStore
from refprep.moss.random_codec import write_random_codec
from refprep.moss.random_generator import write_random_generator

IDS = [
    "qwen3-tts-0.6b-base",
    "qwen3-tts-1.7b-base",
    "qwen3-tts-0.6b-customvoice",
    "qwen3-tts-1.7b-customvoice",
    "qwen3-tts-1.7b-voicedesign",
]
MOSS_IDS = ["moss-tts-v1.5", "moss-tts"]


def test_the_five_checkpoints_are_named_and_nothing_of_them_is_invented():
    catalog = load_catalog()
    assert [m.id for m in catalog.values() if m.role == "synthesis"] == IDS + MOSS_IDS
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


def sharded_moss(folder: Path) -> Path:
    """A tiny MOSS-TTS generator in several files, as the published ones are."""
    write_random_generator(folder, "delay", max_shard_bytes=200_000)
    assert len(list(folder.glob("*.safetensors"))) > 1
    return folder


def test_shards_come_along_with_their_index(tmp_path: Path):
    whole = sharded_moss(tmp_path / "whole")
    store = ModelStore(tmp_path / "cache")
    folder = store.pull("moss-tts-v1.5", source=str(whole))
    assert {p.name for p in whole.glob("*.safetensors")} == {p.name for p in folder.glob("*.safetensors")}
    assert store.verify("moss-tts-v1.5") == []
    next(folder.glob("model-00002*")).unlink()
    assert store.status("moss-tts-v1.5").state == "damaged"


@pytest.mark.parametrize("names", ["{}", '{"a": "../b.safetensors"}', '{"a": 1}', '"a"'])
def test_an_index_that_names_other_folders_is_refused(tmp_path: Path, names: str):
    whole = sharded_moss(tmp_path / "whole")
    (whole / "model.safetensors.index.json").write_text(f'{{"weight_map": {names}}}')
    with pytest.raises(BackendError, match="no index of weights"):
        ModelStore(tmp_path / "cache").pull("moss-tts-v1.5", source=str(whole))


def test_the_codec_is_found_below_the_model_or_among_the_pulled_ones(tmp_path: Path):
    store = ModelStore(tmp_path / "cache")
    generator = sharded_moss(tmp_path / "moss")
    backend = load_backend(generator, store)
    with pytest.raises(WeightsMissing, match=r"models pull moss-audio-tokenizer"):
        backend.encoder(device="cpu")
    write_random_codec(tmp_path / "codec")
    pulled = store.pull("moss-audio-tokenizer", source=str(tmp_path / "codec"))
    assert load_backend(generator, store).codec == pulled
    assert load_backend(generator, store, codec=tmp_path / "codec").codec == tmp_path / "codec"
    write_random_codec(generator / "audio_tokenizer")
    assert load_backend(generator, store).codec == generator / "audio_tokenizer"
    assert load_backend(generator, store).encoder(device="cpu").fault() is None
