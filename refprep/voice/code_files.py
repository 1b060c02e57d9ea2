"""The ``codes`` folder of a voice: copies of the cache's entries, so that the voice works where the encoder is not.

An entry belongs to samples and weights, never to a path: one of other samples is stale and never used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from refprep.atomic import write_bytes
from refprep.errors import AudioDecodeError, IntegrityError
from refprep.linter.registry import all_rules
from refprep.linter.rule import Finding, Rule, Severity
from refprep.linter.run import run_rules
from refprep.pipeline.code_file import SUFFIX, entry_name, pack_entry, read_entry
from refprep.pipeline.decode import decode_file
from refprep.pipeline.encode import codes_case
from refprep.types import CodeCacheEntry, CodesCase, DamagedCodes, Samples
from refprep.voice.names import CODES_NAME
from refprep.voice.read import Voice, load_voice


def read_codes(folder: Path) -> Iterator[tuple[Path, CodeCacheEntry | DamagedCodes]]:
    """Every file of a voice's ``codes`` folder, in the order of names, with what it holds."""
    for path in sorted((folder / CODES_NAME).glob("*")):
        if path.name.startswith("."):
            continue
        try:
            if path.suffix != SUFFIX:
                yield path, DamagedCodes(str(path), "it is no entry of codes")
            else:
                yield path, read_entry(path)
        except FileNotFoundError:
            continue
        except IntegrityError as error:
            yield path, DamagedCodes(str(path), error.what)


def store_codes(voice: Voice, entry: CodeCacheEntry) -> Path:
    """Copy an entry into its voice's folder, whole or not at all; one that is there stays as it is.

    Raises:
        IntegrityError: The voice was built anew meanwhile.
        MachineError: The disk refused.
    """
    path = voice.folder / CODES_NAME / entry_name(entry.key)
    try:
        read_entry(path)
    except (FileNotFoundError, IntegrityError):
        write_bytes(path, pack_entry(entry))
    if load_voice(voice.folder).document["audio"]["pcm_sha256"] != entry.key.audio_sha256:
        path.unlink(missing_ok=True)
        raise IntegrityError(
            "the voice was built anew while it was encoded",
            where=str(voice.folder),
            fix="Encode it again; no codes of the old one were left in it.",
        )
    return path


def code_rules() -> dict[str, Rule]:
    """The rules on codes: RP5xx."""
    return {code: rule for code, rule in all_rules().items() if rule.noun in (CodesCase, DamagedCodes)}


def judge_codes(case: CodesCase, *, path: str) -> tuple[Finding, ...]:
    """Findings of an entry beside its reference."""
    return run_rules([case], code_rules(), path=path)


def code_problems(folder: Path, samples: Samples, sample_rate_hz: int) -> Iterator[tuple[str, str]]:
    """(file, what is wrong) of every file in ``codes`` with an error, for `refprep verify`."""
    for path, found in read_codes(folder):
        case = _noun(found, samples, sample_rate_hz)
        for finding in run_rules([case], code_rules(), path=str(path)):
            if finding.severity is Severity.ERROR:
                yield f"{CODES_NAME}/{path.name}", finding.message.removeprefix(f"{case.name}: ")


def code_nouns(folder: Path, audio: Path) -> Iterator[CodesCase | DamagedCodes]:
    """What the rules read of a voice's ``codes`` folder; nothing where the reference cannot be read (RP001 says so).

    Args:
        folder: Of the voice.
        audio: Its reference.
    """
    entries = list(read_codes(folder))
    if not entries:
        return
    try:
        clip = decode_file(audio)
    except AudioDecodeError:
        return
    for _, found in entries:
        yield _noun(found, clip.samples, clip.sample_rate_hz)


def _noun(
    found: CodeCacheEntry | DamagedCodes, samples: Samples, sample_rate_hz: int
) -> CodesCase | DamagedCodes:
    return found if isinstance(found, DamagedCodes) else codes_case(found, samples, sample_rate_hz)
