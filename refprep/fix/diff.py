"""A correction -> what changes, for people: the text as a unified diff, a line for what is cut."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from refprep.fix.correction import Correction
from refprep.text.words import join_words, split_words

_WIDTH = 80
_MIN_ALIKE = 0.5  # another text: that both say "the" is no common ground


def correction_diff(correction: Correction) -> str:
    """What changes, in lines; the file names are the text's own and the copy's.

    A text is one line in its file. Here it is broken where the two texts begin and cease to differ, and elsewhere at 80
    characters, so that a line with a sign in front of it holds what changes and nothing else.
    """
    report, mended = correction.report, correction.mended
    lines: list[str] = []
    before, after = report.utterance.text, mended.text
    if before != after:
        utterance = report.utterance
        name = (
            (utterance.source or str(utterance.audio.with_suffix(".txt")))
            if before is not None
            else "/dev/null"
        )
        old, new = broken_alike(split_words(before or ""), split_words(after or ""))
        shown = difflib.unified_diff(
            old, new, name, str(correction.path.with_suffix(".txt")), n=1, lineterm=""
        )
        lines += shown
    start_s, end_s = correction.cuts_s
    duration_s = report.duration_s or 0.0
    spans = [
        f"{a:.2f}-{b:.2f} s" for a, b in ((0.0, start_s), (duration_s - end_s, duration_s)) if b - a > 0.0005
    ]
    if spans:
        verb = "are" if len(spans) > 1 else "is"
        lines.append(f"{report.path}: {' and '.join(spans)} {verb} cut")
    return "\n".join(lines)


def broken_alike(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    """Words as lines; what both texts have in common is broken at the same places."""
    old_lines: list[str] = []
    new_lines: list[str] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _MIN_ALIKE:
        return list(_wrapped(old)), list(_wrapped(new))
    for _, a, b, c, d in matcher.get_opcodes():
        old_lines += _wrapped(old[a:b])
        new_lines += _wrapped(new[c:d])
    return old_lines, new_lines


def _wrapped(words: Sequence[str]) -> Iterator[str]:
    line: list[str] = []
    for word in words:
        if line and len(join_words([*line, word])) > _WIDTH:
            yield join_words(line)
            line = []
        line.append(word)
    if line:
        yield join_words(line)
