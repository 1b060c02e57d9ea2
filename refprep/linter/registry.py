"""Every rule there is, by code, in numeric order."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from refprep.errors import UsageError
from refprep.linter import rules
from refprep.linter.rule import Rule


@cache
def all_rules() -> dict[str, Rule]:
    """Code -> Rule, in numeric order: one for every module ``rpNNN`` of ``refprep.linter.rules``."""
    found: dict[str, Rule] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(rules.__path__) if m.name.startswith("rp")):
        rule: Rule = importlib.import_module(f"{rules.__name__}.{module}").RULE
        found[rule.code] = rule
    return found


def select_rules(select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()) -> dict[str, Rule]:
    """The rules that codes and prefixes name (``RP1`` is every RP1xx).

    Args:
        select: What to run; empty for all.
        ignore: What to leave out of it.

    Raises:
        UsageError: A code or prefix that names no rule.
    """
    known = all_rules()
    for name in (*select, *ignore):
        # An empty name, say of an unset shell variable, would match every rule.
        if not name or not any(code.startswith(name.upper()) for code in known):
            raise UsageError(
                f"{name!r} names no rule", where="--select/--ignore", fix="See `refprep explain --all`."
            )
    chosen = {c: r for c, r in known.items() if not select or any(c.startswith(s.upper()) for s in select)}
    return {c: r for c, r in chosen.items() if not any(c.startswith(i.upper()) for i in ignore)}
