"""The command line as a process: what it prints, and with which code it exits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from process import ROOT, refprep, run

COMMANDS = (
    "lint",
    "build",
    "split",
    "verify",
    "export",
    "transcribe",
    "explain",
    "doctor",
    "models",
    "bench",
)
HEAVY = (
    "torch",
    "torchaudio",
    "numpy",
    "scipy",
    "faster_whisper",
    "transformers",
    "speechbrain",
    "soundfile",
    "av",
)


def test_help_names_every_command() -> None:
    done = refprep("--help")
    assert done.code == 0
    assert all(f"\n  {command} " in done.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    done = refprep(command, "--help")
    assert done.code == 0
    assert "Usage: refprep" in done.out


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv=['refprep','--help']\n"
        "from refprep.cli.app import app\n"
        "try: app(prog_name='refprep')\n"
        "except SystemExit: pass\n"
        f"heavy=[m for m in {HEAVY!r} if m in sys.modules]\n"
        "sys.stderr.write('heavy: '+','.join(heavy))"
    )
    done = run([sys.executable, "-c", code])
    assert done.err == "heavy: "


def test_the_script_and_the_module_are_one_program() -> None:
    script = Path(sys.executable).with_name("refprep")
    if not script.exists():
        pytest.skip("the package is not installed in this environment: no `refprep` script beside python")
    for args in (["--help"], ["explain", "RP101"], ["explain", "RP999"], ["lint"]):
        left, right = run([str(script), *args]), refprep(*args)
        assert (left.code, left.out, left.err) == (right.code, right.out, right.err)


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["nonsense"], 2, "nonsense"),
        (["lint"], 2, "PATH"),
        (["lint", "nowhere.wav"], 2, "no such file"),
        (["lint", "nowhere.wav", "--select", "RP777"], 2, "names no rule"),
        (["lint", ".", "--fail-on", "sometimes"], 2, "no severity"),
        (["explain"], 2, "no rule named"),
        (["explain", "RP777"], 2, "names no rule"),
        (["verify", "."], 2, "no voice.json"),
        (["models", "pull", "whisper-bse"], 2, "whisper-base"),
        (["build", "a.wav"], 2, "--output"),
        (["bench", "lint", "--cases", "pyproject.toml"], 2, "columns"),
    ],
)
def test_a_wrong_call_says_what_and_exits_2(args: list[str], code: int, says: str) -> None:
    done = refprep(*args)
    assert done.code == code, done.err
    assert says in done.err
    assert "Traceback" not in done.err


def test_a_missing_model_names_the_command_that_gets_it(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(1600, dtype=np.int16), 16_000)
    done = refprep(
        "lint", tmp_path / "a.wav", "--text", "hello", env={"REFPREP_CACHE": str(tmp_path / "cache")}
    )
    assert done.code == 3
    assert "refprep models pull whisper-base" in done.err


def test_explain_prints_every_section_and_json() -> None:
    text = refprep("explain", "RP101").out
    for section in ("What it checks", "Why it matters", "Example", "How to fix", "Fix safety", "Threshold"):
        assert section in text
    document = json.loads(refprep("explain", "RP1", "--format", "json").out)
    assert document["schema_version"] == 1
    assert [r["code"] for r in document["rules"]] == [f"RP10{k}" for k in range(1, 10)]


def test_a_bug_exits_4_with_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import refprep.linter.registry as r\nr.all_rules = lambda: 1 / 0\n", encoding="utf-8"
    )
    done = refprep("explain", "--all", env={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert done.code == 4
    assert "bug in refprep" in done.err
    assert "ZeroDivisionError" in done.err


def test_a_closed_pipe_is_no_error() -> None:
    command = f"'{sys.executable}' -m refprep explain --all | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith("RP001")
    assert "Traceback" not in done.stderr


def test_the_readme_shows_the_generated_rule_table() -> None:
    table = refprep("explain", "--markdown").out.strip()
    assert table in (ROOT / "README.md").read_text(encoding="utf-8"), (
        "run `refprep explain --markdown` and put it there"
    )
