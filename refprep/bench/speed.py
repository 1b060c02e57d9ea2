"""What lint costs: its time against a plain transcription of the same clips, and against real time.

All in one run on one machine, since only ratios travel. Models are loaded before anything is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from refprep.bench.lint import LintCase
from refprep.manifest import Utterance

Lint = Callable[[Sequence[Utterance]], Iterable[object]]


def speed_utterances(cases: Sequence[LintCase], *, most: int = 0) -> list[Utterance]:
    """One utterance for every clip of labelled cases, with the text that fits where there is one.

    Args:
        cases: Labelled.
        most: So many clips, spread over the set; 0 for all.
    """
    chosen: dict[Path, LintCase] = {}
    for case in cases:
        if case.path not in chosen or (case.expect == "pass" and chosen[case.path].expect != "pass"):
            chosen[case.path] = case
    found = [Utterance(c.path, c.text, c.language, source=c.case_id) for c in chosen.values()]
    if most and most < len(found):
        found = [found[k * len(found) // most] for k in range(most)]
    return found


def measure_speed(
    utterances: Sequence[Utterance],
    *,
    plain: Callable[[Path, str], object],
    lint: Lint,
    lint_again: Lint,
    lint_signal: Lint,
    audio_s: float,
    on_stage: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Time the stages one after another.

    Args:
        utterances: What to lint.
        plain: Transcribes a file in a language with the recogniser that lint uses.
        lint: Lints with an empty cache.
        lint_again: Lints with the cache that the first run filled.
        lint_signal: Lints with the signal rules alone, nothing remembered.
        audio_s: Of all utterances.
        on_stage: Told what is done next.

    Returns:
        Seconds, and the three ratios: lint over plain transcription, signal checks in multiples of real time, first run
        over second.
    """

    def timed(name: str, work: Callable[[], object]) -> float:
        on_stage(name)
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    def run(run_lint: Lint) -> None:
        for _ in run_lint(utterances):
            pass

    plain_s = timed("plain transcription", lambda: [plain(u.audio, u.language) for u in utterances])
    lint_s = timed("lint", lambda: run(lint))
    again_s = timed("lint, again", lambda: run(lint_again))
    signal_s = timed("signal checks", lambda: run(lint_signal))
    return {
        "clips": len(utterances),
        "audio_s": round(audio_s, 2),
        "plain_s": round(plain_s, 3),
        "lint_s": round(lint_s, 3),
        "lint_again_s": round(again_s, 3),
        "signal_s": round(signal_s, 3),
        "lint_over_plain": round(lint_s / plain_s, 3),
        "signal_times_realtime": round(audio_s / signal_s, 1),
        "first_over_again": round(lint_s / again_s, 1),
    }
