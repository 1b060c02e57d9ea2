"""Outputs of several conditions -> differences with intervals, as JSON and as lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from refprep.compare.measures import Output, measure_of
from refprep.compare.statistics import CONFIDENCE, MIN_PAIRS, Difference, paired_difference

SCHEMA_VERSION = 1
ACCENT = "similarity says how alike two voices sound to a speaker encoder; it does not measure accent"


def comparison_json(
    conditions: Mapping[str, Sequence[Output]],
    *,
    model: str,
    weights: str,
    seconds: Mapping[str, float],
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Every pair of conditions against each other; its schema is manifests/compare.schema.json.

    Args:
        conditions: Name of the reference -> its outputs, the same texts and seeds in the same order.
        model: As it was named.
        weights: ``random``, or ``as given``.
        seconds: Length of every reference.
        notes: What was left out.

    Raises:
        ValueError: Conditions of other texts or seeds.
    """
    keys = {tuple((o.text, o.seed) for o in outputs) for outputs in conditions.values()}
    if len(keys) != 1:
        raise ValueError("conditions of other texts or seeds")
    return {
        "schema_version": SCHEMA_VERSION,
        "model": model,
        "weights": weights,
        "confidence": CONFIDENCE,
        "references": [
            {
                "name": name,
                "seconds": round(seconds[name], 3),
                "stops": dict(sorted(Counter(o.stop.value for o in outputs).items())),
                "outputs": [
                    {
                        "text": o.text,
                        "seed": o.seed,
                        "stop": o.stop.value,
                        "values": {k: _rounded(v) for k, v in o.values.items()},
                    }
                    for o in outputs
                ],
            }
            for name, outputs in conditions.items()
        ],
        "comparisons": [_compared(a, b, conditions) for a, b in combinations(conditions, 2)],
        "notes": [*notes, ACCENT],
    }


def comparison_lines(document: dict[str, Any]) -> list[str]:
    """Statements for people, one line each."""
    lines: list[str] = []
    if document["weights"] == "random":
        lines.append("note: the model's weights are random numbers: these are scores of noise")
    for row in document["references"]:
        stops = ", ".join(f"{n} {stop}" for stop, n in row["stops"].items())
        lines.append(f"{row['name']}: {row['seconds']:.1f} s of reference, {stops}")
    shown = 0
    for pair in document["comparisons"]:
        lines.append(f"A = {pair['a']}, B = {pair['b']}:")
        for found in pair["differences"]:
            lines.append(f"  {found['label']}: {found['statement']}")
            shown += found["is_shown"]
    total = sum(len(p["differences"]) for p in document["comparisons"])
    if total:
        lines.append(
            f"{shown} of {total} differences are shown; of intervals of {document['confidence']:.0%}, one in 20 leaves out "
            "0 by chance alone"
        )
    lines.append("The intervals are over seeds and these texts: they say nothing of other texts.")
    lines += [f"note: {note}" for note in document["notes"]]
    return lines


def statement(found: Difference, *, unit: str, digits: int) -> str:
    """A difference in words."""
    tail = f" {unit}" if unit else ""
    pairs = f"{found.pairs} pair{'' if found.pairs == 1 else 's'}"
    if found.low is None or found.high is None:
        return f"A - B {found.mean:+.{digits}f}{tail}, of {pairs}: too few for an interval (at least {MIN_PAIRS})"
    interval = f"A - B {found.mean:+.{digits}f}{tail}, {CONFIDENCE:.0%} interval {found.low:+.{digits}f} to {found.high:+.{digits}f}, {pairs}"
    if not found.is_shown:
        return f"no difference shown ({interval})"
    return f"{'A' if found.mean > 0 else 'B'} is higher ({interval})"


def _compared(a: str, b: str, conditions: Mapping[str, Sequence[Output]]) -> dict[str, Any]:
    one, other = conditions[a], conditions[b]
    names = dict.fromkeys(name for output in (*one, *other) for name in output.values)
    rows = []
    for name in names:
        found = paired_difference([o.values.get(name) for o in one], [o.values.get(name) for o in other])
        if found is None:
            continue
        measure = measure_of(name)
        rows.append(
            {
                "measure": name,
                "label": measure.label,
                "unit": measure.unit,
                "mean": _rounded(found.mean),
                "low": _rounded(found.low),
                "high": _rounded(found.high),
                "pairs": found.pairs,
                "is_shown": found.is_shown,
                "statement": statement(found, unit=measure.unit, digits=measure.digits),
            }
        )
    return {"a": a, "b": b, "differences": rows}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
