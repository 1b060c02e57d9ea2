"""Figures that others published of Qwen3-TTS, each with its GPU and its source: what a run of ours is set beside.

Nothing of it was measured by us. RTF is processing time over audio time everywhere: where a source prints the inverse, it
was turned around. Best of each column of the servers, and some engines for one stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SERVERS = 'mstar-project/mstar, pull request "Qwen3-TTS PR 5"'
_NARI = "nari-labs/benchmarks at a2d65e1, Qwen3-TTS-1.7B-CustomVoice"
_FASTER = "faster-qwen3-tts 0.5.4, README"


@dataclass(frozen=True, slots=True)
class Published:
    """One figure.

    Attributes:
        system: Name and version, with settings that matter.
        model: Size.
        gpu: That it was measured on.
        load: ``c=N`` closed loop, ``N req/s`` open loop, or another protocol in words.
        ttfa_ms: First playable audio, p50; None where it is not said. For the open loops first audible audio, p95.
        rtf: Processing over audio time.
        audio_s_per_s: Of all streams.
        source: Where it stands.
    """

    system: str
    model: str
    gpu: str
    load: str
    ttfa_ms: float | None
    rtf: float | None
    audio_s_per_s: float | None
    source: str


PUBLISHED = (
    Published("M* 643d958", "0.6b", "H100", "c=1", 22, 0.084, 12.0, _SERVERS),
    Published("vLLM-Omni 0.28.0", "1.7b", "H100", "c=1", 27, 0.085, 11.8, _SERVERS),
    Published("M* db3427e", "1.7b", "H100", "c=1", 22, 0.089, 11.4, _SERVERS),
    Published("SGLang-Omni 0.1.5", "1.7b", "H100", "c=8", 40, 0.135, 58.5, _SERVERS),
    Published("vLLM-Omni 0.28.0", "1.7b", "H100", "c=8", 49, 0.125, 63.2, _SERVERS),
    Published("M* 643d958", "0.6b", "H100", "c=8", 62, 0.174, 46.0, _SERVERS),
    Published("SGLang-Omni 0.1.5, max_running 32", "1.7b", "H100", "c=32", 56, 0.234, 127.9, _SERVERS),
    Published("M*, split, MPS, bf16 codec", "1.7b", "H100", "c=32", 70, 0.300, 100.5, _SERVERS),
    Published("M*, reference encoded in the request", "1.7b", "H100", "clone, cold", 106, None, None, _SERVERS),
    Published("Nari Qwen3-TTS", "1.7b", "H100", "1 req/s", 26.5, None, None, _NARI),
    Published("Nari Qwen3-TTS", "1.7b", "H100", "4 req/s", 31.6, None, None, _NARI),
    Published("Nari Qwen3-TTS", "1.7b", "H100", "10 req/s", 34.1, None, None, _NARI),
    Published("Nari Qwen3-TTS", "1.7b", "H100", "20 req/s", 77.2, None, None, _NARI),
    Published("vLLM-Omni", "1.7b", "H100", "10 req/s", 135.8, None, None, _NARI),
    Published("faster-qwen3-tts, 8 frames first", "0.6b", "RTX 4090", "one stream", 156, 0.209, 4.78, _FASTER),
    Published("faster-qwen3-tts, 8 frames first", "1.7b", "RTX 4090", "one stream", 174, 0.237, 4.22, _FASTER),
    Published("faster-qwen3-tts, 8 frames first", "0.6b", "H100", "one stream", 228, 0.257, 3.88, _FASTER),
    Published("faster-qwen3-tts, 8 frames first", "1.7b", "H100", "one stream", 241, 0.303, 3.30, _FASTER),
    Published("upstream qwen-tts", "1.7b", "H100", "one stream", 1525, 2.28, 0.439, _FASTER),
    Published(
        "SGLang-Omni, ids staged before the predictor", "1.7b", "RTX 5090", "one stream", 17.5, 0.093, 10.7,
        "sgl-project/sglang-omni, pull request 2103",
    ),
    Published(
        "vLLM-Omni, clone", "1.7b", "H20", "clone, cold", 165, 0.15, 6.8,
        "vllm-project/vllm-omni, pull request 2835",
    ),
    Published(
        "qwentts.cpp, BF16, 2 frames first", "1.7b", "GB10", "one stream", 111, 0.40, 2.50,
        "andimarafioti/faster-qwen3-tts, pull request 116",
    ),
)  # fmt: skip


def load_name(load: Mapping[str, Any]) -> str:
    """A measurement's load, as published loads are called."""
    if load["kind"] == "clone":
        return f"clone, {load['reference']}"
    return f"c={load['c']}" if load["kind"] == "closed" else f"{load['rps']:g} req/s"


def beside(document: Mapping[str, Any], published: Sequence[Published] = PUBLISHED) -> list[list[str]]:
    """A run of ours above the published figures, as rows of a table: cells are text.

    The last column holds their time to first audio over ours, and only where GPU, size and load are the same: what was
    measured on a CPU, or on another GPU, is beside them and not ranked among them.

    Args:
        document: Of ``synth.run_synth``.
        published: In the order of the table.
    """
    gpu, size = _gpu(document), document["model"]["shapes"]
    rows = []
    ours: dict[str, float] = {}
    for measurement in document["measurements"]:
        results, load = measurement["results"], load_name(measurement["load"])
        is_open = measurement["load"]["kind"] == "open"
        ttfa_ms = results["audible_ms"]["p95"] if is_open else results["ttfa_ms"]["p50"]
        flags, first = measurement["engine"]["flags"], measurement["engine"]["ramp"][0]
        name = f"refprep, {flags['mode']}, {measurement['weights']} weights, {first} frame first"
        rows.append(
            [
                name,
                size,
                gpu or "CPU",
                _shown(load),
                _cell(ttfa_ms),
                _cell(results["rtf"]["mean"]),
                _cell(results["audio_s_per_s"]),
                "",
                "this run",
            ]
        )
        if gpu is not None and ttfa_ms is not None:
            ours.setdefault(load, ttfa_ms)
            if load == "c=1":
                ours.setdefault("one stream", ttfa_ms)
    for figure in published:
        mine = (
            ours.get(figure.load) if gpu and is_same_gpu(gpu, figure.gpu) and size == figure.model else None
        )
        quotient = f"{figure.ttfa_ms / mine:.2f}" if mine and figure.ttfa_ms else ""
        cells = [_cell(figure.ttfa_ms), _cell(figure.rtf), _cell(figure.audio_s_per_s)]
        rows.append(
            [figure.system, figure.model, figure.gpu, _shown(figure.load), *cells, quotient, figure.source]
        )
    return rows


def is_same_gpu(found: str, named: str) -> bool:
    """Whether a driver's name of a GPU is that of a published figure: all its words are in it."""
    return set(named.lower().split()) <= set(found.lower().replace("-", " ").split())


def _shown(load: str) -> str:
    """With what stands for the time to first audio there."""
    return f"{load}, p95 audible" if load.endswith("req/s") else load


def _gpu(document: Mapping[str, Any]) -> str | None:
    if document["device"] != "cuda":
        return None
    return (document["gpu"] or {}).get("name") or "unknown GPU"


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"
