"""What `refprep bench synth` prints, and the file with every request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from refprep.cli.console import out, table


def take_rows(result: dict[str, Any], path: Path | None) -> None:
    """Take the single requests out of a result, and write them to a file where one is named.

    Raises:
        OutputError: It cannot be written.
    """
    lines = []
    for measurement in result["measurements"]:
        load = measurement["load"]
        lines += [json.dumps({"load": load, **row}) + "\n" for row in measurement.pop("rows")]
    if path is not None:
        from refprep.atomic import write_text

        write_text(path, "".join(lines))


def print_result(result: dict[str, Any], *, published: bool) -> None:
    """The result as text: frames, loads, what was left out, ratios."""
    machine = result["host"]["cpu"] if result["device"] == "cpu" else (result["gpu"] or {}).get("name")
    out(
        f"{result['checkpoint']}: {result['kind']} {result['size']}, weights: {result['weights']}, {result['dtype']}, "
        f"{result['threads']} threads, {result['device']} ({machine})"
    )
    if result["engines"]:
        _print_frames(result)
    if result["measurements"]:
        _print_loads(result)
    for name, reason in result["not_run"].items():
        out(f"not run    {name}: {reason}")
    for name in [n for n in result if n.startswith("ratio_") and not n.endswith("_row")]:
        if result[name] is not None:
            out(f"{name}  {result[name]:.3f}  ({result[name + '_row']})")
    if published:
        _print_published(result)


def _print_frames(result: dict[str, Any]) -> None:
    columns = [
        "engine",
        "ms/frame",
        "runs",
        "codec ms/frame",
        "prefill ms",
        "start s",
        "peak MB",
        "of it torch",
    ]
    rows = []
    for name, found in result["engines"].items():
        spread = found["ms_per_frame_runs"]
        rows.append(
            [
                name,
                f"{found['ms_per_frame']:.1f}",
                f"{min(spread):.1f} to {max(spread):.1f}" if len(spread) > 1 else "1",
                f"{found['codec_ms_per_frame']:.1f}",
                f"{found['prefill_ms']:.1f}",
                f"{found['start_s']:.1f}",
                f"{found['peak_rss_bytes'] / 1e6:.0f}",
                f"{found['torch_rss_bytes'] / 1e6:.0f}",
            ]
        )
    table(f"frames: {result['frames']} in every run", columns, rows)
    ratios = result["peer_over_ours"]
    if ratios:
        out(
            f"eager      {ratios['ms_per_frame']:.2f} x as fast ({ratios['ms_per_frame_with_codec']:.2f} x with codec)"
        )
        out(
            f"peak memory of the peer over ours: {ratios['peak_rss_bytes']:.2f}, without the import of torch "
            f"{ratios['peak_rss_beyond_torch_bytes']:.2f}"
        )


def _print_loads(result: dict[str, Any]) -> None:
    from refprep.bench.published import load_name

    columns = [
        "load",
        "served",
        "errors",
        "playable ms p50 / p95 / p99",
        "audible ms p50 / p95",
        "RTF",
        "p95",
        "audio-s/s",
        "underruns",
        "complete",
        "WER",
    ]
    rows = []
    for measurement in result["measurements"]:
        found, load = measurement["results"], measurement["load"]
        seed = f", seed {load['seed']}" if load["kind"] == "open" else ""
        errors = ", ".join(f"{kind} {count}" for kind, count in found["errors"].items())
        rows.append(
            [
                load_name(load) + seed,
                f"{found['served']} of {found['requests']}",
                errors or "0",
                " / ".join(_ms(found["ttfa_ms"][p]) for p in ("p50", "p95", "p99")),
                " / ".join(_ms(found["audible_ms"][p]) for p in ("p50", "p95")),
                _ratio(found["rtf"]["mean"]),
                _ratio(found["rtf"]["p95"]),
                _ratio(found["audio_s_per_s"]),
                str(found["underruns"]),
                f"{found['complete']} of {found['served']}",
                _ratio(found["wer"]["mean"] if found["wer"] else None),
            ]
        )
    first = result["measurements"][0]
    ramp = ",".join(str(n) for n in first["engine"]["ramp"])
    table(
        f"load: {first['engine']['flags']['mode']}, chunks of {ramp},... frames, {first['load']['frames']} frames at most",
        columns,
        rows,
    )


def _print_published(result: dict[str, Any]) -> None:
    from refprep.bench.published import beside

    columns = [
        "system",
        "model",
        "on",
        "load",
        "first audio ms",
        "RTF",
        "audio-s/s",
        "theirs over ours",
        "source",
    ]
    table("published by others, not measured here", columns, beside(result))
    if result["device"] == "cpu":
        out("Figures of a CPU are not ranked among those of GPUs.")


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
