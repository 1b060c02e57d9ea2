"""`refprep bench`: refprep itself, measured on labelled sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refprep.cli.console import out, status, steps, table
from refprep.cli.options import (
    AsrOption,
    DeviceOption,
    Format,
    FormatOption,
    QuietOption,
    settings,
)

if TYPE_CHECKING:
    from refprep.bench.lint import LintCase
    from refprep.config import Config
    from refprep.manifest import Utterance
    from refprep.measure.cache import MeasurementCache
    from refprep.pipeline.listen import Listener

app = typer.Typer(help="Measure refprep on labelled sets.", no_args_is_help=True)


@app.command("lint")
def lint(
    cases: Annotated[
        Path, typer.Option("--cases", metavar="CASES.csv", help="Labelled texts (see manifests/README.md).")
    ],
    speed: Annotated[
        bool,
        typer.Option(
            "--speed", help="Time lint against a plain transcription instead of counting what it finds."
        ),
    ] = False,
    spans: Annotated[
        bool,
        typer.Option("--spans/--no-spans", help="Measure where spans start, on joins of the full clips."),
    ] = True,
    clips: Annotated[
        int,
        typer.Option("--clips", min=0, help="With --speed: so many clips, spread over the set; 0 for all."),
    ] = 0,
    asr: AsrOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Recall, false alarms and undecided cases of text against audio; or its speed."""
    from refprep.bench.lint import read_cases

    labelled = read_cases(cases)
    config = settings(asr=asr, device=device)
    if speed:
        result = _measure_speed(labelled, config, clips, quiet=quiet)
    else:
        result = _measure_lint(labelled, config, spans=spans, quiet=quiet)
    if format is not Format.TEXT:
        _print_json(result, format)
    elif speed:
        _print_speed(result)
    else:
        _print_lint(result)


def _measure_lint(
    labelled: Sequence[LintCase], config: Config, *, spans: bool, quiet: bool
) -> dict[str, Any]:
    from refprep.api import open_listener
    from refprep.bench.lint import run_cases, summarise
    from refprep.bench.spans import make_span_cases, measure_spans

    listener = open_listener(config.models)
    listener.require()
    with steps("cases", len(labelled), quiet=quiet) as advance:
        outcomes, wall_s, audio_s = run_cases(labelled, listener, on_case=advance)
    errors_s: list[float | None] = []
    if spans:
        with status(quiet=quiet) as tell:
            tell("where spans start")
            errors_s = measure_spans(make_span_cases(labelled, listener), listener)
    return summarise(outcomes, wall_s=wall_s, audio_s=audio_s, models=listener.models, span_errors_s=errors_s)


def _measure_speed(
    labelled: Sequence[LintCase], config: Config, clips: int, *, quiet: bool
) -> dict[str, Any]:
    import dataclasses
    import tempfile
    from functools import partial

    from refprep.api import open_listener
    from refprep.bench.speed import measure_speed, speed_utterances
    from refprep.measure.cache import MeasurementCache
    from refprep.models.load import LazyAsr, model_fingerprints
    from refprep.models.store import ModelStore
    from refprep.pipeline.align import cut_clip
    from refprep.pipeline.decode import decode_file
    from refprep.pipeline.listen import Listener
    from refprep.types import Span

    store = ModelStore.default()
    utterances = speed_utterances(labelled, most=clips)
    asr = LazyAsr(config.models, store)
    listener = open_listener(config.models, store=store)
    # Both are loaded, and their buffers made, before anything is timed; what was heard then is forgotten.
    warm = decode_file(utterances[0].audio)
    asr.transcribe_plainly(utterances[0].audio, "en")
    listener.check(cut_clip(warm, Span(0.0, warm.duration_s / 2)), "warm", language="en")
    listener = Listener(listener.voice_activity, listener.transcriber, listener.aligner)
    with tempfile.TemporaryDirectory() as folder, status(quiet=quiet) as tell:
        lint = partial(
            _lint_with,
            listener,
            config,
            cache=MeasurementCache(Path(folder)),
            fingerprints=partial(model_fingerprints, config.models, store),
        )
        signal = dataclasses.replace(config, lint=dataclasses.replace(config.lint, select=("RP2",)))
        result = measure_speed(
            utterances,
            plain=asr.transcribe_plainly,
            lint=lint,
            lint_again=lint,
            lint_signal=partial(_lint_with, listener, signal, cache=None, fingerprints=dict),
            audio_s=sum(decode_file(u.audio).duration_s for u in utterances),
            on_stage=tell,
        )
    return {"schema_version": 1, "models": {"transcriber": asr.name}, **result}


def _lint_with(
    listener: Listener,
    config: Config,
    utterances: Sequence[Utterance],
    *,
    cache: MeasurementCache | None,
    fingerprints: Callable[[], Mapping[str, str]],
) -> Iterator[object]:
    """Lint with models that are loaded already."""
    from refprep.api import parts_for, rules_for
    from refprep.linter.judge import Judge
    from refprep.linter.speakers import SpeakerRoll
    from refprep.measure.measurer import Measurer

    judge = Judge(rules=rules_for(config), roll=SpeakerRoll(utterances))
    measurer = Measurer(lambda: listener, parts_for(judge.rules), cache=cache, fingerprints=fingerprints)
    for utterance, found in measurer.measure(utterances):
        yield judge.judge(utterance, found.nouns(), found.source)


def _print_speed(result: dict[str, Any]) -> None:
    out(f"{result['clips']} clips, {result['audio_s']} s of audio, {result['models']['transcriber']}")
    for name in ("plain", "lint", "lint_again", "signal"):
        out(f"{name + '_s':22} {result[f'{name}_s']}")
    out(f"lint / plain           {result['lint_over_plain']} x (1.6 at most)")
    out(f"signal checks          {result['signal_times_realtime']} x real time (100 at least)")
    out(f"first / second run     {result['first_over_again']} x (50 at least)")


def _print_lint(result: dict[str, Any]) -> None:
    out(
        f"{result['cases']} cases, {result['models']['transcriber']}, real-time factor {result['realtime_factor']}"
    )
    for name in ("recall_missing", "recall_edge_word", "recall_extra", "recall_other_clip"):
        row = result["counts"][name]
        out(f"{name:20} {_percent(result[name])}  ({row['found']} of {row['of']})")
    for name in ("false_alarms", "false_warnings", "undecided_of_passes"):
        out(f"{name:20} {result[name]} of {result['passes']}")
    out(f"{'undecided':20} {result['undecided']} of {result['cases']}")
    out(f"{'suggested_text_wer':20} {_percent(result['suggested_text_wer'])}")
    if result["span_starts"]["of"]:
        out(
            f"{'span_start_error_ms':20} median {result['span_start_error_ms_median']}, "
            f"p95 {result['span_start_error_ms_p95']}  "
            f"({result['span_starts']['found']} of {result['span_starts']['of']} found)"
        )
    said = ["pass", "warn", "fail", "undecided"]
    table(
        "",
        ["kind (expected)", *said],
        [[k, *(str(v.get(s, 0)) for s in said)] for k, v in result["confusion"].items()],
    )
    grades = ["right", "missed", "false alarm", "undecided"]
    table(
        "",
        ["language", *grades],
        [[k, *(str(v.get(g, 0)) for g in grades)] for k, v in result["languages"].items()],
    )
    for row in result["wrong"]:
        out(
            f"{row['case_id']}: {row['kind']}, expected {row['expect']}, said {row['said']} {row['reason']}".rstrip()
        )


def _print_json(result: dict[str, Any], format: Format) -> None:  # noqa: A002
    out(json.dumps(result, ensure_ascii=False, indent=2 if format is Format.JSON else None))


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
