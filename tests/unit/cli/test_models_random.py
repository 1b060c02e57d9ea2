"""`refprep models random`."""

from __future__ import annotations

from engine_kit import tiny_checkpoint
from typer.testing import CliRunner

from refprep.cli.app import app
from refprep.engine.loader import open_weights


def test_it_writes_a_checkpoint_and_says_that_it_is_noise(tmp_path):
    folder = tmp_path / "x"
    options = ["--kind", "voice_design", "--size", "1.7b", "--seed", "4"]
    result = CliRunner().invoke(app, ["models", "random", str(folder), *options])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{folder}: random weights, tiny voice_design 1.7b, ")
    assert result.stdout.endswith("they speak noise\n")
    assert open_weights(folder).sha256() == open_weights(tiny_checkpoint("design-1.7b")).sha256()
