"""Joined references: lengths in samples, clips bit for bit, silence where it is declared."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import make_clip
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.errors import UsageError
from refprep.pipeline.join import join_clips
from refprep.pipeline.silence_policy import SilencePolicy
from refprep.types import SampleFormat

NO_GAP = SilencePolicy.parse("zeros-0ms", option="--gap")
FORMATS = list(SampleFormat)


def clip_of(num_samples: int, seed: int = 0, rate_hz: int = 16_000, sample_format=SampleFormat.PCM_16):
    """Random samples without a zero among them, so that a gap cannot hide in a clip."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], num_samples)
    return make_clip(
        (signs * rng.integers(1, 2**15, num_samples) / 2**15).astype(np.float32),
        rate_hz,
        path=f"clip_{seed}.wav",
        sample_format=sample_format,
    )


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(1, 4000), min_size=1, max_size=6),
    gap_ms=st.integers(0, 2000),
    tail_ms=st.integers(0, 2000),
    rate_hz=st.sampled_from([8000, 11_025, 16_000, 22_050, 44_100]),
)
def test_joined_length_ranges_and_silence(lengths, gap_ms, tail_ms, rate_hz):
    clips = [clip_of(n, seed, rate_hz) for seed, n in enumerate(lengths)]
    gap = SilencePolicy.parse(f"zeros-{gap_ms}ms", option="--gap")
    tail = SilencePolicy.parse(f"zeros-{tail_ms}ms", option="--tail")
    joined = join_clips(clips, ["text"] * len(clips), gap=gap, tail=tail, language="en")
    gap_samples, tail_samples = round(gap_ms * rate_hz / 1000), round(tail_ms * rate_hz / 1000)
    assert len(joined.samples) == sum(lengths) + gap_samples * (len(lengths) - 1) + tail_samples
    assert joined.duration_s == len(joined.samples) / rate_hz
    silent = np.ones(len(joined.samples), dtype=bool)
    at = 0
    for clip, place in zip(clips, joined.clips, strict=True):
        assert (place.start_sample, place.end_sample) == (at, at + clip.num_samples)
        assert joined.samples[place.start_sample : place.end_sample].tobytes() == clip.samples.tobytes()
        assert (place.clip_id, place.path) == (clip.id, clip.source.path)
        silent[place.start_sample : place.end_sample] = False
        at = place.end_sample + gap_samples
    assert not np.any(joined.samples[silent])
    assert np.all(joined.samples[~silent])
    assert joined.sample_rate_hz == rate_hz
    assert not joined.samples.flags.writeable


@pytest.mark.parametrize(
    ("formats", "widest"),
    [
        (("PCM_16", "PCM_16"), "PCM_16"),
        (("PCM_16", "PCM_24"), "PCM_24"),
        (("PCM_24", "PCM_16"), "PCM_24"),
        (("FLOAT", "PCM_24", "PCM_16"), "FLOAT"),
    ],
)
def test_the_widest_format_holds_them_all(formats, widest):
    clips = [clip_of(10, k, sample_format=SampleFormat(f)) for k, f in enumerate(formats)]
    joined = join_clips(clips, ["t"] * len(clips), gap=NO_GAP, tail=NO_GAP, language="en")
    assert joined.sample_format is SampleFormat(widest)


def test_texts_and_policies_are_kept():
    gap = SilencePolicy.parse("zeros-120ms", option="--gap")
    joined = join_clips(
        [clip_of(9, 1), clip_of(7, 2)],
        ["It was  the best.", "It was the worst."],
        gap=gap,
        tail=NO_GAP,
        language="en-GB",
    )
    assert joined.text == "It was the best. It was the worst."
    assert [c.text for c in joined.clips] == ["It was  the best.", "It was the worst."]
    assert (joined.gap_policy, joined.tail_policy, joined.language) == ("zeros-120ms", "zeros-0ms", "en-GB")


def test_chinese_texts_are_joined_without_a_space():
    joined = join_clips(
        [clip_of(9, 1), clip_of(7, 2)], ["今天。", "明天。"], gap=NO_GAP, tail=NO_GAP, language="zh"
    )
    assert joined.text == "今天。明天。"


def test_two_rates_are_refused():
    with pytest.raises(UsageError, match="8000 and 16000 Hz"):
        join_clips([clip_of(9, 1), clip_of(9, 2, 8000)], ["a", "b"], gap=NO_GAP, tail=NO_GAP, language="")


@pytest.mark.parametrize(("num_clips", "texts"), [(0, []), (1, []), (1, ["a", "b"]), (2, ["a"])])
def test_a_text_for_every_clip(num_clips, texts):
    with pytest.raises(UsageError, match=f"{num_clips} clips and {len(texts)} texts"):
        join_clips([clip_of(9, k) for k in range(num_clips)], texts, gap=NO_GAP, tail=NO_GAP, language="")


@given(st.integers(0, 2000))
def test_policies_parse(milliseconds):
    policy = SilencePolicy.parse(f"zeros-{milliseconds}ms", option="--gap")
    assert policy.duration_s == milliseconds / 1000
    assert policy.name == f"zeros-{milliseconds}ms"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "room-tone-",
        "zeros-ms",
        "zeros-120",
        "120ms",
        "zeros--1ms",
        "zeros-1.5ms",
        "zeros-2001ms",
        "room-120ms",
        " zeros-120ms",
        "zeros-120ms ",
        "ZEROS-120ms",
        "zeros-120ms\n",
        "zeros-\u0661\u0662\u0660ms",
    ],
)
def test_other_names_are_refused(name):
    with pytest.raises(UsageError) as caught:
        SilencePolicy.parse(name, option="--tail")
    assert caught.value.where == "--tail"
    assert "zeros-120ms" in caught.value.fix
