"""What was measured of an utterance -> its findings, less what is ignored or known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from refprep.linter.baseline import Baseline
from refprep.linter.profiles import EngineProfile, profile_cases
from refprep.linter.registry import all_rules
from refprep.linter.rule import Finding, Rule
from refprep.linter.run import run_rules
from refprep.linter.speakers import SpeakerRoll
from refprep.linter.waivers import apply_waivers, read_waivers
from refprep.manifest import Utterance
from refprep.types import AudioSource


@dataclass(frozen=True, slots=True)
class Judge:
    """The rules of a run and everything that is known before a file is opened.

    Attributes:
        rules: Code -> Rule: those that run.
        roll: Who the rows say they are.
        per_file_ignores: Glob -> codes or prefixes. A glob without a slash is held against the file's name, another one
            against its whole path, and against its path from the folder of the settings.
        folder: Of the settings; globs are relative to it.
        baseline: Known findings.
        profiles: Engines that the clips are meant for.
    """

    rules: Mapping[str, Rule]
    roll: SpeakerRoll
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    folder: str = ""
    baseline: Baseline | None = None
    profiles: tuple[EngineProfile, ...] = ()

    def judge(
        self, utterance: Utterance, nouns: Iterable[object], source: AudioSource | None
    ) -> tuple[tuple[Finding, ...], int]:
        """Findings of an utterance.

        Args:
            utterance: What was measured.
            nouns: What was measured of it.
            source: Of the audio; None where it did not decode.

        Returns:
            The findings, and how many more the baseline knows.
        """
        path = str(utterance.audio)
        rules = self._rules_for(utterance.audio)
        measured = tuple(nouns)
        cases = profile_cases(self.profiles, utterance.text, measured)
        found = run_rules([utterance, self.roll.claim(utterance), *measured, *cases], rules, path=path)
        waivers = read_waivers(utterance)
        if waivers:
            found, use = apply_waivers(found, waivers, codes=rules, known=all_rules())
            found = (*run_rules([use], rules, path=path), *found)
        new = found if self.baseline is None else self.baseline.new_among(found, utterance, source)
        return new, len(found) - len(new)

    def _rules_for(self, audio: Path) -> Mapping[str, Rule]:
        ignored = tuple(
            code
            for glob, codes in self.per_file_ignores.items()
            if self._matches(audio, glob)
            for code in codes
        )
        if not ignored:
            return self.rules
        return {code: rule for code, rule in self.rules.items() if not code.startswith(ignored)}

    def _matches(self, audio: Path, glob: str) -> bool:
        if "/" not in glob:
            return fnmatchcase(audio.name, glob)
        if fnmatchcase(audio.as_posix(), glob):
            return True
        absolute, folder = audio.absolute(), Path(self.folder).absolute()
        return absolute.is_relative_to(folder) and fnmatchcase(absolute.relative_to(folder).as_posix(), glob)
