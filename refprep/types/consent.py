"""Whether the speaker agreed."""

from __future__ import annotations

from dataclasses import dataclass

_REFUSALS = frozenset({"no", "false", "0", "none", "refused", "denied", "withdrawn", "revoked"})
_UNKNOWN = frozenset({"", "unknown", "?", "n/a", "null", "todo"})


@dataclass(frozen=True, slots=True)
class ConsentCase:
    """What a clip's row says of its speaker's consent, and whether it has to say so.

    Attributes:
        statement: The row's ``consent``, as written; empty where there is none.
        is_required: A clip without one is refused.
    """

    statement: str
    is_required: bool

    @property
    def is_refused(self) -> bool:
        """The row says that the speaker does not agree."""
        return self.statement.strip().casefold() in _REFUSALS

    @property
    def is_stated(self) -> bool:
        """The row says that the speaker agrees, and how that is known."""
        return not self.is_refused and self.statement.strip().casefold() not in _UNKNOWN
