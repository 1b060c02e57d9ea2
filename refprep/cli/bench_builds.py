"""`refprep bench builds`: impostors in references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from refprep.cli.console import out, steps
from refprep.cli.options import (
    CalibrationOption,
    DeviceOption,
    EncoderOption,
    Format,
    FormatOption,
    QuietOption,
    settings,
)


def builds(
    manifest: Annotated[
        Path,
        typer.Option("--manifest", metavar="M", help="Clips with speaker ids corpus/country/gender/speaker."),
    ],
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How many builds.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="Of the draws.")] = 0,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Lowest score of a chosen pair.")
    ] = None,
    encoder: EncoderOption = None,
    calibration: CalibrationOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Random builds with 20 % impostors of the same sex: how many get into a reference, how many clips are refused."""
    from refprep.api import open_listener
    from refprep.bench.builds import read_clips, run_builds
    from refprep.manifest import read_utterances
    from refprep.models.load import load_vad
    from refprep.models.store import ModelStore
    from refprep.models.verifiers import load_verifiers
    from refprep.pipeline.build import length_windows
    from refprep.pipeline.silence_policy import SilencePolicy

    config = settings(encoder=encoder, device=device)
    utterances = read_utterances([manifest])
    store = ModelStore.default()
    verifiers = load_verifiers(config.models, store, calibrations=calibration or (), threshold=threshold)
    with steps("clips", len(utterances), quiet=quiet) as advance:
        clips = read_clips(utterances, load_vad(), on_clip=advance)
    gap, tail = (SilencePolicy.parse(p, option="gap") for p in (config.build.gap, config.build.tail))
    with steps("builds", rounds, quiet=quiet) as advance:
        result = run_builds(
            clips,
            verifiers,
            open_listener(config.models, store=store),
            rounds=rounds,
            seed=seed,
            window=length_windows(config.build, gap, tail)[0],
            on_round=advance,
        )
    if format is not Format.TEXT:
        out(json.dumps(result, ensure_ascii=False, indent=2 if format is Format.JSON else None))
        return
    judges = ", ".join(f"{n} ({e['scale']}, {e['threshold']:g})" for n, e in result["encoders"].items())
    out(f"{result['rounds']} builds of {result['speakers']} speakers, {judges}")
    out(
        f"references            {result['references']}  ({result['ambiguous']} ambiguous, {result['none_admissible']} without)"
    )
    out(
        f"impostors inside      {result['impostors_in_references']} of {result['impostors_planted']} planted, "
        f"in {result['references_with_impostor']} references"
    )
    out(f"genuine clips refused {result['genuine_refused']} of {result['genuine_clips']}")
    for title, rows in (("entered", result["entered"]), ("refused", result["refused"])):
        for name, count in rows.items():
            out(f"  {title:8} {count:5} x {name}")
