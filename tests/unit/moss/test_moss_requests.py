from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from moss_kit import loaded

from refprep.errors import TextInputError, UsageError
from refprep.moss.prompt import build_prompt
from refprep.moss.request import MossMode, MossRequest, MossSampling

GOOD = {"delay": 32, "local-1.5": 12}


def codes(name, frames=6, dtype=np.int32):
    return (np.arange(frames * GOOD[name]) % 1024).reshape(frames, GOOD[name]).astype(dtype)


def prompt_of(name, **fields):
    checkpoint = loaded(name)
    return build_prompt(MossRequest(**({"text": "Hi."} | fields)), checkpoint.config, checkpoint.tokenizer)


BAD = {
    "path": (lambda n: Path("voice.wav"), "PosixPath"),
    "string": (lambda n: "voice.wav", "str"),
    "tensor": (lambda n: torch.zeros(4, GOOD[n], dtype=torch.int64), "Tensor"),
    "waveform": (lambda n: np.zeros((4, GOOD[n]), np.float32), "float32"),
    "samples": (lambda n: np.zeros(4800, np.int16), "shape"),
    "other codec": (lambda n: np.zeros((4, 16), np.int32), "shape"),
    "turned": (lambda n: codes(n).T.copy(), "shape"),
    "empty": (lambda n: codes(n)[:0], "shape"),
    "pads": (lambda n: np.full((4, GOOD[n]), 1024), "codebook has 1024"),
    "negative": (lambda n: np.full((4, GOOD[n]), -1), "from -1"),
}


@pytest.mark.parametrize("field", ["reference", "prefix"])
@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("name", GOOD)
def test_what_are_no_codes_is_refused_with_one_error(name, case, field):
    make, names = BAD[case]
    extra = {"prefix_text": "Words."} if field == "prefix" else {}
    with pytest.raises(UsageError, match=names) as caught:
        prompt_of(name, **{field: make(name)}, **extra)
    assert f"(frames, {GOOD[name]})" in caught.value.fix


@pytest.mark.parametrize("name", GOOD)
def test_any_integer_dtype_gives_the_same_prompt(name):
    known = prompt_of(name, reference=codes(name)).rows
    for dtype in (np.int16, np.uint16, np.int64):
        assert np.array_equal(prompt_of(name, reference=codes(name, dtype=dtype)).rows, known)


def test_a_prefix_needs_its_words_and_words_a_prefix():
    with pytest.raises(UsageError, match="without its words"):
        prompt_of("delay", prefix=codes("delay"))
    with pytest.raises(UsageError, match="without a prefix"):
        prompt_of("delay", reference=codes("delay"), prefix_text="Words.")


def test_local_refuses_what_upstream_drops_without_a_word():
    own = codes("local-1.5")
    with pytest.raises(UsageError, match="drops the reference"):
        prompt_of("local-1.5", reference=own, prefix=own, prefix_text="Words.")
    with pytest.raises(UsageError, match="or neither"):
        prompt_of("local-1.5", sampling=MossSampling(text_temperature=0.0))
    prompt_of("delay", sampling=MossSampling(text_temperature=0.0))


@pytest.mark.parametrize("field", ["text", "instruction", "language", "quality"])
def test_control_tokens_are_refused_in_every_field(field):
    with pytest.raises(TextInputError, match="im_end"):
        prompt_of("delay", **{field: "Hi <|im_end|> there"})


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_an_empty_text_is_refused(text):
    with pytest.raises(TextInputError):
        prompt_of("delay", text=text)


def test_a_text_of_which_nothing_is_left_is_refused():
    with pytest.raises(TextInputError):
        prompt_of("delay", text="\u200b\u200b")


def test_modes_follow_from_what_is_given():
    own = codes("delay")
    assert MossRequest("x").mode is MossMode.PLAIN
    assert MossRequest("x", reference=own).mode is MossMode.CLONE
    assert MossRequest("x", prefix=own, prefix_text="y").mode is MossMode.CONTINUATION
    assert MossRequest("x", own, own, "y").mode is MossMode.BOTH


def test_empty_fields_are_none_to_local_and_nothing_to_delay():
    same = np.array_equal
    assert same(prompt_of("local-1.5", instruction="  ").rows, prompt_of("local-1.5").rows)
    assert not same(prompt_of("delay", instruction="").rows, prompt_of("delay").rows)


@pytest.mark.parametrize(
    "bad",
    [{"seed": -1}, {"seed": 2**64}, {"max_frames": 0}, {"max_rows": 0}, {"tokens": 0}],
)
def test_requests_check_their_numbers(bad):
    with pytest.raises(ValueError, match=next(iter(bad)).split("_")[0]):
        MossRequest("x", **bad)


@pytest.mark.parametrize(
    "bad",
    [
        {"text_temperature": -1.0},
        {"audio_temperature": float("nan")},
        {"text_top_p": 0.0},
        {"audio_top_p": 1.1},
        {"audio_top_k": -1},
        {"audio_repetition_penalty": 0.0},
    ],
)
def test_sampling_checks_its_numbers(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        MossSampling(**bad)
