"""Every rule there is, by code, in numeric order."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from refprep.errors import UsageError
from refprep.linter import rules
from refprep.linter.rule import Rule, Severity


@cache
def all_rules() -> dict[str, Rule]:
    """Code -> Rule, in numeric order: one for every module ``rpNNN`` of ``refprep.linter.rules``."""
    found: dict[str, Rule] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(rules.__path__) if m.name.startswith("rp")):
        rule: Rule = importlib.import_module(f"{rules.__name__}.{module}").RULE
        found[rule.code] = rule
    return found


def select_rules(
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    *,
    preview: bool = False,
    severity: Mapping[str, str] | None = None,
) -> dict[str, Rule]:
    """The rules that codes and prefixes name (``RP1`` is every RP1xx).

    Args:
        select: What to run; empty for all.
        ignore: What to leave out of it.
        preview: Run preview rules, too; one that is selected by its whole code runs without.
        severity: Code or prefix -> severity that its findings get instead of their own.

    Raises:
        UsageError: A code or prefix that names no rule, or a severity there is not.
    """
    known = all_rules()
    severities = {code.upper(): _severity(name) for code, name in (severity or {}).items()}
    for name in (*select, *ignore, *severities):
        # An empty name, say of an unset shell variable, would match every rule.
        if not name or not any(code.startswith(name.upper()) for code in known):
            raise UsageError(
                f"{name!r} names no rule", where="--select/--ignore", fix="See `refprep explain --all`."
            )
    wanted, unwanted = tuple(s.upper() for s in select), tuple(i.upper() for i in ignore)
    chosen: dict[str, Rule] = {}
    for code, rule in known.items():
        is_wanted = (not wanted or code.startswith(wanted)) and not (unwanted and code.startswith(unwanted))
        if not is_wanted or (rule.is_preview and not preview and code not in wanted):
            continue
        fitting = [c for c in severities if code.startswith(c)]
        # The longest prefix knows best.
        chosen[code] = replace(rule, severity=severities[max(fitting, key=len)]) if fitting else rule
    return chosen


def _severity(name: str) -> Severity:
    try:
        return Severity(name)
    except ValueError as error:
        raise UsageError(
            f"{name!r} is no severity", where="severity", fix="Write error, warning or info."
        ) from error
