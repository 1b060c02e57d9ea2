"""The tree of errors: exit codes, messages, and the way through a process pool."""

from __future__ import annotations

import copy
import inspect
import multiprocessing

import pytest

from refprep import errors
from refprep.errors import BusyError, MachineError, NoReferenceError, RefprepError

EXIT_CODES = {
    "RefprepError": 2,
    "UsageError": 2,
    "ConfigError": 2,
    "ManifestError": 2,
    "AudioDecodeError": 2,
    "TextInputError": 2,
    "NoReferenceError": 1,
    "UncoveredReferenceError": 1,
    "NoUtteranceError": 1,
    "MachineError": 3,
    "WeightsMissing": 3,
    "IntegrityError": 3,
    "DeviceError": 3,
    "BusyError": 3,
    "BackendError": 3,
}
KINDS = [k for _, k in inspect.getmembers(errors, inspect.isclass) if issubclass(k, Exception)]


def fail(name: str) -> None:
    """Raise an error in a worker process."""
    raise getattr(errors, name)("a fault", where="worker", fix="Mend it.")


def test_every_error_has_its_exit_code():
    assert {k.__name__: k.exit_code for k in KINDS} == EXIT_CODES


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_one_tree(kind):
    assert issubclass(kind, RefprepError)
    assert (kind.exit_code == 3) == issubclass(kind, MachineError)
    assert kind.__doc__


def test_the_tree_in_the_docstring_names_every_error():
    for kind in KINDS:
        assert kind.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_the_message_says_what_where_and_what_to_do(kind):
    error = kind("no audio stream", where="ana_03.mp4", fix="Re-export it as WAV.")
    assert str(error) == "ana_03.mp4: no audio stream. Re-export it as WAV."
    assert (error.what, error.where, error.fix) == ("no audio stream", "ana_03.mp4", "Re-export it as WAV.")
    with pytest.raises(TypeError):
        kind("no audio stream")


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_errors_survive_copies(kind, copied):
    error = copied(kind("it broke", where="here", fix="Mend it."))
    assert type(error) is kind
    assert (error.what, error.where, error.fix) == ("it broke", "here", "Mend it.")


def test_when_to_try_again_survives_copies():
    error = BusyError("the queue is full", where="the engine", fix="Try again.", retry_after_s=1.5)
    assert copy.deepcopy(error).retry_after_s == 1.5  # as it crosses to another process


def test_errors_come_back_from_a_process_pool():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for name in EXIT_CODES:
            with pytest.raises(RefprepError, match=r"^worker: a fault\. Mend it\.$") as caught:
                pool.apply(fail, (name,))
            assert type(caught.value).__name__ == name


def test_every_error_of_the_package_is_in_the_tree():
    """Errors that modules add for themselves inherit an exit code, and survive copying (as a process pool does)."""
    from refprep.pipeline.candidate import NoVoiceError

    assert issubclass(NoVoiceError, NoReferenceError)
    error = copy.deepcopy(NoVoiceError("none", where="here", fix="Add clips."))
    assert type(error) is NoVoiceError
    assert (error.what, error.candidates) == ("none", ())
