"""Findings that somebody decided to live with, and why.

A row of a manifest carries them: ``"ignore": {"RP303": "one-speaker corpus"}``; in a CSV the cell
``RP303: one-speaker corpus; RP205: room tone is wanted``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from refprep.linter.rule import Finding
from refprep.manifest import Utterance

KEY = "ignore"
_CODE = re.compile(r"RP\d{0,3}")


@dataclass(frozen=True, slots=True)
class Waiver:
    """One code or prefix that is not to be reported for one utterance.

    Attributes:
        code: Upper case; what was written where it is no code.
        reason: May be empty, which is a finding of its own.
    """

    code: str
    reason: str

    @property
    def is_code(self) -> bool:
        """It looks like a code or a prefix of one."""
        return _CODE.fullmatch(self.code) is not None

    def covers(self, code: str) -> bool:
        """The finding's code is the one, or begins with it."""
        return self.is_code and code.startswith(self.code)


@dataclass(frozen=True, slots=True)
class WaiverUse:
    """What became of an utterance's waivers.

    Attributes:
        stale: Waivers of rules that ran and found nothing.
        malformed: Waivers without a reason, or of no rule there is.
    """

    stale: tuple[Waiver, ...]
    malformed: tuple[Waiver, ...]


def read_waivers(utterance: Utterance) -> tuple[Waiver, ...]:
    """The waivers that an utterance's row carries."""
    written = utterance.extra.get(KEY)
    if isinstance(written, Mapping):
        pairs = [(str(code), "" if reason is None else str(reason)) for code, reason in written.items()]
    elif isinstance(written, str):
        pairs = [(code, reason) for part in written.split(";") for code, _, reason in [part.partition(":")]]
    elif isinstance(written, list):
        pairs = [(str(code), "") for code in written]
    else:
        pairs = [] if written is None else [(str(written), "")]
    return tuple(Waiver(code.strip().upper(), reason.strip()) for code, reason in pairs if code.strip())


def apply_waivers(
    findings: Sequence[Finding], waivers: Sequence[Waiver], *, codes: Iterable[str], known: Iterable[str]
) -> tuple[tuple[Finding, ...], WaiverUse]:
    """Take out what is waived.

    Args:
        findings: Of the utterance.
        waivers: Of the utterance.
        codes: Rules that ran.
        known: Every rule there is.

    Returns:
        The findings that are left, and what became of the waivers. A waiver of a rule that did not run is not stale.
    """
    ran, there = tuple(codes), tuple(known)
    kept = tuple(f for f in findings if not any(w.covers(f.code) for w in waivers))
    malformed = [w for w in waivers if not w.reason or not any(w.covers(c) for c in there)]
    stale = [
        w for w in waivers if any(w.covers(c) for c in ran) and not any(w.covers(f.code) for f in findings)
    ]
    return kept, WaiverUse(tuple(stale), tuple(malformed))
