"""Which clips are timed, and what the ratios are of."""

from __future__ import annotations

from pathlib import Path

import pytest

from refprep.bench import speed
from refprep.bench.lint import LintCase
from refprep.bench.speed import measure_speed, speed_utterances


def case(name: str, expect: str, text: str) -> LintCase:
    return LintCase(f"{name}-{expect}", Path(name), "en", "kind", expect, text, "", 0)


def test_every_clip_once_with_the_text_that_fits():
    cases = [
        case("a", "fail", "half"),
        case("a", "pass", "whole"),
        case("a", "pass", "again"),
        case("b", "warn", "b"),
    ]
    assert [(str(u.audio), u.text, u.language) for u in speed_utterances(cases)] == [
        ("a", "whole", "en"),
        ("b", "b", "en"),
    ]


@pytest.mark.parametrize(
    ("most", "expected"), [(0, "0123456789"), (2, "05"), (5, "02468"), (20, "0123456789")]
)
def test_a_part_of_the_clips_is_spread_over_the_set(most, expected):
    cases = [case(str(k), "pass", "x") for k in range(10)]
    assert "".join(str(u.audio) for u in speed_utterances(cases, most=most)) == expected


def test_the_ratios(monkeypatch):
    now = 0.0
    monkeypatch.setattr(speed.time, "perf_counter", lambda: now)

    def taking(seconds: float):
        def work(*_: object):
            nonlocal now
            now += seconds
            return ()

        return work

    stages: list[str] = []
    result = measure_speed(
        speed_utterances([case("a", "pass", "x"), case("b", "pass", "y")]),
        plain=taking(2.0),
        lint=taking(6.0),
        lint_again=taking(0.1),
        lint_signal=taking(0.5),
        audio_s=100.0,
        on_stage=stages.append,
    )
    assert (result["plain_s"], result["lint_s"], result["clips"]) == (4.0, 6.0, 2)
    assert result["lint_over_plain"] == 1.5
    assert result["signal_times_realtime"] == 200.0
    assert result["first_over_again"] == 60.0
    assert stages == ["plain transcription", "lint", "lint, again", "signal checks"]
