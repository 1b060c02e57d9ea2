"""Rule -> page and table row: what ``refprep explain`` prints and the README shows."""

from __future__ import annotations

from collections.abc import Iterable

from refprep.linter.rule import Rule

SECTIONS = (
    "What it checks",
    "Why it matters",
    "Example",
    "How to fix",
    "Fix safety",
    "Threshold and its source",
)


def page(rule: Rule) -> str:
    """A rule's page: its docstring, and its severity."""
    return f"{rule.page.strip()}\n\nSeverity: {rule.severity.value}. Fix: {rule.fix.value}.\n"


def sections(rule: Rule) -> dict[str, str]:
    """Heading -> body of a rule's page, in order."""
    found: dict[str, str] = {}
    for block in rule.page.split("\n## ")[1:]:
        heading, _, body = block.partition("\n")
        found[heading.strip()] = body.strip()
    return found


def rule_row(rule: Rule) -> dict[str, object]:
    """A rule as JSON."""
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "severity": rule.severity.value,
        "fix": rule.fix.value,
        "sections": sections(rule),
    }


def markdown_table(rules: Iterable[Rule]) -> str:
    """The README's table; a test compares it with the README."""
    lines = ["| code | name | what it finds | severity |", "| --- | --- | --- | --- |"]
    lines += [f"| {r.code} | {r.name} | {r.summary} | {r.severity.value} |" for r in rules]
    return "\n".join(lines)
