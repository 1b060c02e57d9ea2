"""Reports of a run -> corrected copies, each checked again before it stays where it was written."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TextIO

from refprep.errors import RefprepError
from refprep.fix.correction import Correction, manifest_row
from refprep.fix.settle import Mended, PairMender
from refprep.linter.registry import all_rules
from refprep.linter.rule import FixAvailability, Severity
from refprep.linter.run import FileReport
from refprep.manifest import Utterance
from refprep.pipeline.decode import decode_file
from refprep.pipeline.wav import write_wav
from refprep.types import Clip, Transcript


class PairLint(Protocol):
    """Checks one pair at a time, under the settings of the run that found the faults."""

    def lint(self, utterance: Utterance, *, at: Path) -> FileReport:
        """Check a pair whose audio will stand at another place: messages and per-file ignores go by that one."""

    def codes(self, utterance: Utterance) -> Collection[str]:
        """Codes of all its findings, also of those that a baseline knows."""

    def transcribe(self, clip: Clip, *, language: str) -> Transcript:
        """What is said in it."""


class Fixer:
    """Is told of every report of a run, and writes a corrected copy where that comes out clean.

    Args:
        scratch: Folder that is filled.
        rows: Its manifest.
        shown: Where the folder will be, for people and for per-file ignores.
        linter: Checks copies.
        unsafe: Also what puts a recogniser's text in place of a user's, or loses speech.
        fail_on: Findings this bad must not be left in a copy; None bears all.
        free_name: Stem -> a name that no other pair has.
        on_correction: Told of each copy.
        on_refusal: Told of each pair with a fault that is not corrected, and why.

    Attributes:
        num_fixed: Pairs that were corrected.
        num_refused: Pairs that could not be.
        num_waiting: Findings that only an unsafe fix would mend.
    """

    def __init__(
        self,
        scratch: Path,
        rows: TextIO,
        shown: Path,
        linter: PairLint,
        *,
        unsafe: bool,
        fail_on: Severity | None,
        free_name: Callable[[str], str],
        on_correction: Callable[[Correction], None] = lambda _: None,
        on_refusal: Callable[[str, str], None] = lambda *_: None,
    ) -> None:
        self._scratch = scratch
        self._rows = rows
        self._shown = shown
        self._linter = linter
        self._unsafe = unsafe
        self._fail_on = fail_on
        self._free_name = free_name
        self._on_correction = on_correction
        self._on_refusal = on_refusal
        self.num_fixed = self.num_refused = self.num_waiting = 0

    def fix(self, report: FileReport) -> FileReport:
        """The same report; where a corrected copy was written it says which findings are gone there."""
        kinds = [all_rules()[f.code].fix for f in report.findings]
        waiting = 0 if self._unsafe else kinds.count(FixAvailability.UNSAFE)
        if report.source is None or len(kinds) == waiting + kinds.count(FixAvailability.NONE):
            self.num_waiting += waiting
            return report
        name = self._free_name(_plain_name(report.utterance.audio.stem))
        found = self._correct(report, name)
        if isinstance(found, str):
            for suffix in (".wav", ".txt"):
                (self._scratch / f"{name}{suffix}").unlink(missing_ok=True)
            self.num_refused += 1
            self.num_waiting += waiting
            self._on_refusal(report.path, found)
            return report
        path = self._shown / f"{name}.wav"
        fixed = replace(report, fixed=tuple(sorted(found.codes)), fixed_to=str(path))
        if not self._unsafe:
            kinds = [all_rules()[f.code].fix for f in fixed.left]
            self.num_waiting += kinds.count(FixAvailability.UNSAFE)
        self.num_fixed += 1
        self._on_correction(Correction(report, found, path))
        return fixed

    def _correct(self, report: FileReport, name: str) -> Mended | str:
        """Mend a pair and write it, or say why not."""
        utterance = report.utterance
        try:
            clip = decode_file(utterance.audio)
        except RefprepError as error:
            return error.what
        if report.source is None or clip.source.file_sha256 != report.source.file_sha256:
            return "the file changed while it was being checked"
        # The copy's row states the language that was heard: nobody has to guess it again.
        languages = [utterance.language or (report.check.given.language if report.check else "")]

        def lint(draft: Clip, text: str | None) -> FileReport:
            self._write(draft, text, name)
            written = replace(
                utterance, audio=self._scratch / f"{name}.wav", text=text, language=languages[-1]
            )
            return self._linter.lint(written, at=self._shown / f"{name}.wav")

        def transcribe(draft: Clip) -> str:
            heard = self._linter.transcribe(draft, language=languages[-1])
            languages.append(languages[-1] or heard.language)
            return heard.text

        mender = PairMender(
            report,
            clip,
            known=self._linter.codes(utterance) if report.num_known else {f.code for f in report.findings},
            unsafe=self._unsafe,
            fail_on=self._fail_on,
            lint=lint,
            transcribe=transcribe,
        )
        try:
            found = mender.mend()
        except UnicodeEncodeError:
            return "its text holds a lone surrogate, which no file can"
        if isinstance(found, Mended):
            self._write(found.clip, found.text, name)
            row = manifest_row(Correction(report, found, Path(f"{name}.wav")), language=languages[-1])
            self._rows.write(json.dumps(row, ensure_ascii=False) + "\n")
        return found

    def _write(self, clip: Clip, text: str | None, name: str) -> None:
        write_wav(self._scratch / f"{name}.wav", clip.samples, clip.sample_rate_hz, clip.source.sample_format)
        if text is not None:
            (self._scratch / f"{name}.txt").write_text(f"{text}\n", encoding="utf-8", newline="\n")


def _plain_name(stem: str) -> str:
    """A stem that any disk takes and no reader skips: UTF-8, not hidden."""
    plain = stem.encode("utf-8", "surrogateescape").decode("utf-8", "replace").lstrip(".")
    return plain or "clip"
