"""Data sets of the library `datasets`: saved to a folder, or of the hub; what is said where they cannot be read."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from pathlib import Path

import pytest
from test_embedded import wav_of
from test_manifest import refused

from refprep.errors import BackendError, ManifestError, UsageError
from refprep.manifest import read_utterances
from refprep.manifest.dataset import hub_name

datasets = pytest.importorskip("datasets")

INSIDE = {"bytes": datasets.Value("binary"), "path": datasets.Value("string")}


@pytest.fixture(autouse=True)
def _quiet():
    datasets.disable_progress_bars()


def rows_of(audio: list[dict | None], **columns: list) -> datasets.Dataset:
    """Rows with an Audio column; `datasets` itself encodes audio only where torchcodec is installed."""
    found = datasets.Dataset.from_list(
        [{"audio": cell} for cell in audio], features=datasets.Features(audio=INSIDE)
    )
    for name, cells in columns.items():
        found = found.add_column(name, cells)
    return found.cast_column("audio", datasets.Audio())


def three_clips() -> datasets.Dataset:
    clips = [{"bytes": wav_of(k), "path": f"{name}.wav"} for k, name in ((1, "a"), (2, "b"), (1, "c"))]
    found = rows_of(
        clips, sentence=["It was.", "It is.", None], client_id=[7, 8, 9], gender=[0, 1, 1], snr=[20.5, None, 3.0],
        tags=[["x"], [], []],
    )  # fmt: skip
    return found.cast_column("gender", datasets.ClassLabel(names=["f", "m"]))


def saved(rows: datasets.Dataset | datasets.DatasetDict, folder: Path) -> Path:
    rows.save_to_disk(str(folder))
    return folder


# --------------------------------------------------------------------------- saved to a folder


def test_a_saved_data_set_is_read_row_by_row(tmp_path):
    folder = saved(three_clips(), tmp_path / "d")
    one, two, three = read_utterances([folder], clips=tmp_path / "clips")
    assert (one.text, one.speaker) == ("It was.", "7")
    assert one.extra == {"gender": "f", "snr": 20.5, "original_name": "a.wav"}
    assert (two.extra["gender"], "snr" in two.extra, three.text) == ("m", False, None)
    assert one.audio == three.audio
    assert (one.audio.read_bytes(), two.audio.read_bytes()) == (wav_of(1), wav_of(2))
    assert two.source == f"{folder}, row 2"
    assert sorted(p.suffix for p in (tmp_path / "clips").rglob("*") if p.is_file()) == [".wav", ".wav"]


def test_splits_are_read_one_after_the_other(tmp_path):
    rows = three_clips()
    splits = datasets.DatasetDict({"train": rows.select([2, 0]), "test": rows.select([1])})
    folder = saved(splits, tmp_path / "d")
    found = read_utterances([folder], clips=tmp_path / "clips")
    assert [(u.speaker, u.source) for u in found] == [
        ("9", f"{folder}, train, row 1"), ("7", f"{folder}, train, row 2"), ("8", f"{folder}, test, row 1"),
    ]  # fmt: skip
    assert [u.speaker for u in read_utterances([folder / "test"], clips=tmp_path / "clips")] == ["8"]


def test_more_rows_than_are_held_at_a_time(tmp_path):
    clips = [{"bytes": wav_of(k % 5), "path": f"{k}.wav"} for k in range(100)]
    folder = saved(rows_of(clips, text=[str(k) for k in range(100)]), tmp_path / "d")
    found = read_utterances([folder], clips=tmp_path / "clips")
    assert [u.text for u in found] == [str(k) for k in range(100)]
    assert [u.audio.read_bytes() for u in found] == [wav_of(k % 5) for k in range(100)]
    assert len({u.audio for u in found}) == 5


def test_rows_that_name_files_are_relative_to_the_folder(tmp_path):
    rows = datasets.Dataset.from_dict({"audio_filepath": ["a.wav", "/data/b.wav"], "text": ["x", "y"]})
    folder = saved(rows, tmp_path / "d")
    assert [u.audio for u in read_utterances([folder])] == [folder / "a.wav", Path("/data/b.wav")]


def test_bytes_that_are_no_audio_are_left_to_whoever_decodes_them(tmp_path):
    folder = saved(rows_of([{"bytes": b"nothing", "path": "a.exe"}]), tmp_path / "d")
    (found,) = read_utterances([folder], clips=tmp_path / "clips")
    assert (found.audio.suffix, found.audio.read_bytes()) == (".bin", b"nothing")


def test_a_row_without_audio_is_named(tmp_path):
    folder = saved(rows_of([{"bytes": wav_of(1), "path": "a.wav"}, None]), tmp_path / "d")
    with pytest.raises(ManifestError) as caught:
        read_utterances([folder], clips=tmp_path / "clips")
    assert caught.value.where == f"{folder}, row 2"


def test_a_data_set_without_audio_names_its_columns(tmp_path):
    error = refused(saved(datasets.Dataset.from_dict({"image": ["x"], "label": [1]}), tmp_path / "d"))
    assert "no audio column" in error.what
    assert "image, label" in error.fix


def test_several_audio_columns_are_told_apart_by_name(tmp_path):
    inside = [{"bytes": wav_of(2), "path": "b.wav"}]
    rows = rows_of([{"bytes": wav_of(1), "path": "a.wav"}]).add_column("noise", inside, feature=INSIDE)
    (found,) = read_utterances([saved(rows, tmp_path / "d")], clips=tmp_path / "clips")
    assert found.audio.read_bytes() == wav_of(1)
    unclear = saved(rows.rename_column("audio", "speech"), tmp_path / "e")
    assert "several audio columns: speech, noise" in refused(unclear).what


@pytest.mark.parametrize(
    "damage", ["dataset_info.json", "state.json", "arrow", "no arrow", "dataset_dict.json"]
)
def test_a_damaged_data_set_is_a_manifest_error(tmp_path, damage):
    folder = saved(three_clips(), tmp_path / "d")
    (arrow,) = folder.glob("*.arrow")
    if damage == "arrow":
        arrow.write_bytes(arrow.read_bytes()[:300])
    elif damage == "no arrow":
        arrow.unlink()
    else:
        if damage == "dataset_dict.json":
            (folder / "state.json").unlink()
        (folder / damage).write_text("{", encoding="utf-8")
    with pytest.raises(ManifestError, match="not readable as a data set") as caught:
        read_utterances([folder], clips=tmp_path / "clips")
    assert caught.value.where == str(folder)
    assert "save_to_disk" in caught.value.fix


def test_without_the_library_it_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train"]}', encoding="utf-8")
    monkeypatch.setitem(sys.modules, "datasets", None)
    for path in (tmp_path, Path("hf:ours/voices")):
        error = refused(path, UsageError)
        assert "pip install 'refprep[datasets]'" in error.fix


def test_the_option_text_does_not_go_with_a_data_set(tmp_path):
    for path in (saved(three_clips(), tmp_path / "d"), Path("hf:ours/voices")):
        with pytest.raises(UsageError, match="exactly one audio file"):
            read_utterances([path], text="x")


# --------------------------------------------------------------------------- of the hub


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("hf:voices", ("voices", "", "")),
        ("hf:ours/voices", ("ours/voices", "", "")),
        ("hf:ours/voices:train", ("ours/voices", "", "train")),
        ("hf:ours/voices/es.ar-1:train[:10]", ("ours/voices", "es.ar-1", "train[:10]")),
        ("hf:ours/voices/es/ar", ("", "", "")),
        ("hf:", ("", "", "")),
        ("hf:ours voices:train", ("", "", "train")),
    ],
)
def test_names_of_the_hub(written, parts):
    name = hub_name(Path(written))
    assert (name.repo, name.config, name.split) == parts
    assert name.written == written


def test_paths_of_this_machine_are_no_names_of_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hf:mine").mkdir()
    assert [hub_name(Path(p)) for p in ("hf:mine", "a/hf:b", "hf", "HF:a/b")] == [None] * 4


def test_a_name_that_is_none_is_a_usage_error():
    assert "no name" in refused(Path("hf:ours/voices/es/ar"), UsageError).what


def test_a_folder_of_that_name_is_not_taken_for_the_data_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ours" / "voices").mkdir(parents=True)
    assert "of this name here" in refused(Path("hf:ours/voices"), UsageError).what


@pytest.fixture
def no_network(monkeypatch) -> list[object]:
    """Whom anybody tried to reach."""
    asked: list[object] = []

    def refuse(*args: object, **_: object) -> None:
        asked.append(args)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return asked


@pytest.fixture
def hub_cache(tmp_path, monkeypatch) -> Path:
    """An empty cache of the hub."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hub")
    monkeypatch.setenv("REFPREP_OFFLINE", "1")
    return tmp_path / "hub"


def cache_voices(hub: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put ours/voices where the library leaves what it has loaded once."""
    three_clips().to_parquet(str(scratch / "rows.parquet"))
    files = {"train": str(scratch / "rows.parquet")}
    monkeypatch.setattr(datasets.config, "HF_UPDATE_DOWNLOAD_COUNTS", False)
    datasets.load_dataset("parquet", data_files=files, cache_dir=str(scratch / "built"))
    (info,) = (scratch / "built").rglob("dataset_info.json")
    place = hub / "ours___voices" / "default" / "0.0.0" / info.parent.name
    shutil.copytree(info.parent, place)
    (arrow,) = place.glob("*.arrow")
    arrow.rename(place / "voices-train.arrow")
    said = json.loads((place / "dataset_info.json").read_text(encoding="utf-8"))
    said["dataset_name"] = "voices"
    (place / "dataset_info.json").write_text(json.dumps(said), encoding="utf-8")


@pytest.mark.parametrize(
    "written", ["hf:ours/voices:train", "hf:ours/voices", "hf:ours/voices/default:train[:3]"]
)
def test_offline_the_cache_is_enough(tmp_path, hub_cache, no_network, monkeypatch, written):
    cache_voices(hub_cache, tmp_path, monkeypatch)
    found = read_utterances([Path(written)], clips=tmp_path / "clips")
    assert [u.text for u in found] == ["It was.", "It is.", None]
    assert found[0].audio.read_bytes() == wav_of(1)
    assert found[1].source == (f"{written}, row 2" if ":train" in written else f"{written}, train, row 2")
    assert no_network == []


def test_a_split_that_is_not_there_is_a_usage_error(tmp_path, hub_cache, no_network, monkeypatch):
    cache_voices(hub_cache, tmp_path, monkeypatch)
    error = refused(Path("hf:ours/voices:dev"), UsageError)
    assert "dev" in error.what
    assert no_network == []


@pytest.mark.parametrize("switch", ["refprep", "datasets", "huggingface_hub"])
def test_offline_nothing_is_fetched(hub_cache, no_network, monkeypatch, switch):
    from huggingface_hub import constants

    monkeypatch.setenv("REFPREP_OFFLINE", "1" if switch == "refprep" else "0")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", switch == "datasets")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", switch == "huggingface_hub")
    error = refused(Path("hf:ours/voices:train"), BackendError)
    assert "offline" in error.what
    assert "HF_HUB_OFFLINE" in error.fix
    assert no_network == []
    assert (datasets.config.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE) == (
        switch == "datasets", switch == "huggingface_hub",
    )  # fmt: skip


def test_what_the_hub_says_is_passed_on(hub_cache, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise ConnectionError("Couldn't reach 'ours/voices' on the Hub\nand more")

    monkeypatch.setenv("REFPREP_OFFLINE", "0")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets, "load_dataset", fail)
    error = refused(Path("hf:ours/voices"), BackendError)
    assert error.what == "the hub did not deliver: ConnectionError: Couldn't reach 'ours/voices' on the Hub"
    assert "HF_TOKEN" in error.fix
