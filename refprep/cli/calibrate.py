"""`refprep calibrate`: what the scores of a speaker encoder mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refprep.cli.console import err, out, status
from refprep.cli.options import (
    DeviceOption,
    EncoderOption,
    Format,
    FormatOption,
    LanguageOption,
    QuietOption,
    settings,
)

if TYPE_CHECKING:
    from refprep.identity.calibration import Calibration


def calibrate(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The calibration.")],
    pairs: Annotated[
        Path | None,
        typer.Argument(metavar="[PAIRS.csv]", help="Labelled pairs (see manifests/README.md)."),
    ] = None,
    cohort: Annotated[
        list[Path] | None,
        typer.Option(
            "--cohort",
            metavar="PATH",
            help="One clip each of many other people: scores are normalised with them (AS-norm). Without PAIRS.csv "
            "pieces of these clips are the pairs.",
        ),
    ] = None,
    false_accepts: Annotated[
        float,
        typer.Option("--false-accepts", help="Share of pairs of two people that the threshold may accept."),
    ] = 0.001,
    language: LanguageOption = "",
    encoder: EncoderOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Measure what the scores of a speaker encoder mean: thresholds, the influence of length, error rates.

    `refprep build --calibration FILE` and `refprep bench identity --calibration FILE` read what it writes.
    """
    from refprep.bench.calibrate import cohort_of, pair_trials, piece_trials, read_members
    from refprep.bench.identity import read_pairs
    from refprep.errors import UsageError
    from refprep.identity.calibration import save_calibration
    from refprep.identity.probe import probe
    from refprep.identity.trials import calibrate as measure
    from refprep.manifest import read_utterances
    from refprep.models.load import load_encoder, load_vad
    from refprep.models.store import ModelStore

    if pairs is None and not cohort:
        raise UsageError("nothing to measure on", where="calibrate", fix="Give PAIRS.csv, --cohort, or both.")
    if not 0.0 < false_accepts < 0.5:
        raise UsageError(
            f"a share of {false_accepts:g}", where="--false-accepts", fix="Write 0.001 to 0.05, say."
        )
    labelled = read_pairs(pairs) if pairs is not None else []
    utterances = read_utterances(cohort, language=language) if cohort else []
    config = settings(encoder=encoder, device=device)
    model, vad = load_encoder(config.models, ModelStore.default()), load_vad()
    failed: list[str] = []
    with status(quiet=quiet) as tell:
        members = read_members(utterances, vad, on_clip=tell)
        people = cohort_of(members, model) if members else None
        if labelled:
            trials, failed = pair_trials(labelled, model, vad, on_clip=tell)
        elif people is not None:
            trials = piece_trials(members, people, model, on_length=tell)
        tell("thresholds")
        found = measure(
            trials,
            model=model.name,
            probe=probe(model),
            cohort=people,
            false_accepts=false_accepts,
            source=_source(pairs, len(labelled), people.names if people is not None else ()),
        )
    save_calibration(found, output)
    for line in failed:
        err(f"not embedded: {line}")
    if format is Format.TEXT:
        _print(found, output)
    else:
        document = {"schema_version": 1, "calibration": str(output), **calibration_json(found)}
        out(json.dumps(document, ensure_ascii=False, indent=2 if format is Format.JSON else None))


def _source(pairs: Path | None, num_pairs: int, members: tuple[str, ...]) -> str:
    made_of = f"{num_pairs} pairs of {pairs.name}" if pairs is not None else "pieces of the cohort's clips"
    return f"{made_of}; a cohort of {len(members)} people" if members else made_of


def calibration_json(found: Calibration) -> dict[str, Any]:
    """A calibration without its vectors."""
    return {
        "encoder": found.model,
        "scale": "as-norm" if found.cohort is not None else "cosine",
        "threshold": found.threshold,
        "window_threshold": found.window_threshold,
        "cosine_floor": found.cosine_floor,
        "thresholds": {f"{share:g}": value for share, value in found.thresholds.items()},
        "lengths": [{"speech_s": s, "offset": offset} for s, offset in found.lengths],
        "source": found.source,
        **found.figures,
    }


def _print(found: Calibration, output: Path) -> None:
    figures = found.figures
    scale = "as-norm" if found.cohort is not None else "cosine"
    out(f"{output}: {found.model}, {scale}, {found.source}")
    out(
        f"equal error rate   {figures['eer']:.1%}  ({figures['eer_low']:.1%} to {figures['eer_high']:.1%}), "
        f"{figures['same']} pairs of one person, {figures['different']} of two"
    )
    for share, value in found.thresholds.items():
        mark = "  <- threshold" if value == found.threshold and share == figures["false_accepts"] else ""
        out(f"false accepts {share:>6.1%}  {value:7.3f}{mark}")
    out(f"misses there       {figures['misses_at_threshold']:.1%}")
    if found.window_threshold is not None:
        out(f"window threshold   {found.window_threshold:.3f}")
    if found.cosine_floor is not None:
        out(f"cosine floor       {found.cosine_floor:.3f}")
    for speech_s, offset in found.lengths:
        out(f"speech {speech_s:6.2f} s    {offset:+.3f}")
