"""A JSON document written while its longest list is still being made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


def stream_object(
    before: Mapping[str, Any],
    name: str,
    items: Iterable[Any],
    after: Callable[[], Mapping[str, Any]],
    *,
    indent: int = 0,
) -> Iterator[str]:
    """A JSON object in parts: some members, a list of many items, and members known when the list is done.

    Args:
        before: Members in front of the list; at least one.
        name: Of the list.
        items: Of the list, taken one at a time.
        after: Gives the members behind it; asked when the items have run out.
        indent: Blanks in front of every line.

    Yields:
        Parts that end where a line ends, without the line feed.
    """
    yield _shifted("{\n" + _members(before) + f",\n  {json.dumps(name)}: [", indent)
    pending: str | None = None
    for item in items:
        if pending is not None:
            yield f"{pending},"
        pending = _shifted(json.dumps(item, ensure_ascii=False, indent=2), indent + 4)
    if pending is not None:
        yield pending
    members = after()
    yield _shifted("  ]" + (",\n" + _members(members) if members else "") + "\n}", indent)


def _members(members: Mapping[str, Any]) -> str:
    """Without the braces around them."""
    return json.dumps(members, ensure_ascii=False, indent=2)[2:-2]


def _shifted(text: str, blanks: int) -> str:
    # Line feeds inside strings are escaped: every one that is there ends a line.
    return "\n".join(" " * blanks + line for line in text.split("\n"))
