"""What a lint rule is: a frozen value with a pure check over one noun."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from refprep.types import Span


class Severity(enum.StrEnum):
    """How bad a finding is.

    ERROR: an engine will likely fail or speak in the wrong voice. WARNING: it will sound worse. INFO: worth knowing.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Higher is worse."""
        return {"info": 0, "warning": 1, "error": 2}[self.value]


class FixAvailability(enum.StrEnum):
    """Whether refprep can mend it: a SAFE fix keeps every spoken word and every sample of speech."""

    NONE = "none"
    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Hit:
    """What a check saw, before it is known in which file.

    Attributes:
        message: What is wrong, with the numbers, in one clause.
        remedy: What to do about it, in one clause.
        span: Where in the audio; None for the whole file.
        evidence: The numbers behind it, by name.
        suggested_text: What the text should be; None where the text is not the matter.
    """

    message: str
    remedy: str
    span: Span | None = None
    evidence: Mapping[str, float | int | str | None] = field(default_factory=dict)
    suggested_text: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        code: ``RP`` and three digits; the hundred is the topic. Never reused.
        name: Kebab case; reads well after "allow".
        summary: One line for tables.
        severity: Of its findings.
        fix: Whether a fix exists.
        noun: The type its check reads.
        check: Pure function of one value of that type.
        page: The page ``refprep explain`` prints (sections as in ``refprep.linter.explain.SECTIONS``).
        is_preview: It runs only when asked for, by ``--preview`` or by its whole code: an upgrade fails nobody's CI.
    """

    code: str
    name: str
    summary: str
    severity: Severity
    fix: FixAvailability
    noun: type
    check: Callable[[Any], Iterator[Hit]]
    page: str
    is_preview: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's hit in a file."""

    code: str
    name: str
    severity: Severity
    path: str
    message: str
    remedy: str
    span: Span | None = None
    evidence: Mapping[str, float | int | str | None] = field(default_factory=dict)
    suggested_text: str | None = None
