"""Every error a caller can act on.

RefprepError                     exit 2   the call cannot be carried out as written
├── UsageError                            arguments that contradict each other
├── ConfigError                           refprep.toml, pyproject.toml: unknown key, wrong type
├── ManifestError                         a manifest row or a voice.json that cannot be read
├── AudioDecodeError                      a file that is no audio, is cut short, holds NaN, ...
├── TextInputError                        a text file that is not UTF-8, or holds no words
├── NoReferenceError             exit 1   no admissible reference exists among the clips
├── UncoveredReferenceError      exit 1   a reference whose text is not what its audio says
├── NoUtteranceError             exit 1   no utterance of a recording is complete
└── MachineError                 exit 3   this machine or a remote service failed
    ├── WeightsMissing                    a model that was not pulled yet
    ├── IntegrityError                    a file whose SHA-256 is not the recorded one
    ├── DeviceError                       a device that is not there or out of memory
    ├── BusyError                         a queue that is full
    └── BackendError                      a library or a service that failed

Exit 0 means nothing was found, 1 findings, 4 a bug in refprep (any other exception), 130 interrupted.
"""

from __future__ import annotations

from typing import ClassVar


class RefprepError(Exception):
    """Base of every error a caller can act on.

    Attributes:
        what: The fault, in one clause.
        where: The file, row, option or device it sits in.
        fix: What to do about it.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, *, where: str, fix: str) -> None:
        super().__init__(f"{where}: {what}. {fix}")
        self.what = what
        self.where = where
        self.fix = fix

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling that process pools use.
        return (_rebuild, (type(self), self.what, self.where, self.fix))


def _rebuild(cls: type[RefprepError], what: str, where: str, fix: str) -> RefprepError:
    return cls(what, where=where, fix=fix)


class UsageError(RefprepError):
    """Arguments that cannot be carried out together."""


class ConfigError(RefprepError):
    """A configuration file with an unknown key or a value of the wrong type."""


class ManifestError(RefprepError):
    """A manifest, or a voice.json, that cannot be read as one."""


class AudioDecodeError(RefprepError):
    """A file that does not decode to usable audio."""


class TextInputError(RefprepError):
    """A text that cannot be read or holds nothing to compare."""


class NoReferenceError(RefprepError):
    """No set of the given clips makes an admissible reference."""

    exit_code = 1


class UncoveredReferenceError(RefprepError):
    """A reference whose text and audio differ: a talker in context would run away with it."""

    exit_code = 1


class NoUtteranceError(RefprepError):
    """A recording without one utterance whose text covers it."""

    exit_code = 1


class MachineError(RefprepError):
    """This machine, or a remote service, could not do its part."""

    exit_code = 3


class WeightsMissing(MachineError):  # noqa: N818  # the name of the situation, as design and messages use it
    """A model that a command needs was not pulled yet."""


class IntegrityError(MachineError):
    """A file whose content is not what its recorded hash says."""


class DeviceError(MachineError):
    """A device that is absent or ran out of memory."""


class BusyError(MachineError):
    """A queue that is full: what was refused may be asked again.

    Attributes:
        retry_after_s: When a place is likely to be free; None where nothing is known yet.
    """

    def __init__(self, what: str, *, where: str, fix: str, retry_after_s: float | None = None) -> None:
        super().__init__(what, where=where, fix=fix)
        self.retry_after_s = retry_after_s

    def __reduce__(self) -> tuple[object, ...]:
        return (*super().__reduce__(), {"retry_after_s": self.retry_after_s})


class BackendError(MachineError):
    """A library or service underneath that failed."""
