"""Which clips an engine gets: the fullest set of whole ones, proved against every set there is."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.errors import NoReferenceError
from refprep.export.plan import VoiceShape, fullest_set, plan_clips, plan_joined
from refprep.linter.profiles import PROFILES, EngineProfile, TextUse

RATE_HZ = 100
SHAPES = st.lists(st.tuples(st.integers(1, 900), st.integers(0, 60)), min_size=1, max_size=7).map(
    lambda rows: VoiceShape(tuple(n for n, _ in rows), tuple(gap for _, gap in rows), RATE_HZ)
)
LIMIT_S = st.none() | st.floats(0.1, 30.0)
PROFILE = st.builds(
    EngineProfile,
    name=st.just("engine"),
    text=st.sampled_from(TextUse),
    longer_than_s=LIMIT_S,
    min_s=LIMIT_S,
    max_s=LIMIT_S,
    max_with_text_s=LIMIT_S,
    kept_s=LIMIT_S,
)


def shape(*lengths_s: float, gap_s: float = 0.1, tail_s: float = 0.2, rate_hz: int = RATE_HZ) -> VoiceShape:
    silences_s = [gap_s] * (len(lengths_s) - 1) + [tail_s]
    return VoiceShape(
        tuple(round(s * rate_hz) for s in lengths_s), tuple(round(s * rate_hz) for s in silences_s), rate_hz
    )


def every_set(voice: VoiceShape) -> list[tuple[int, ...]]:
    indices = voice.everything
    return [c for n in range(1, len(indices) + 1) for c in itertools.combinations(indices, n)]


def bounds_s(profile: EngineProfile) -> list[float]:
    with_text = profile.max_with_text_s if profile.text is not TextUse.IGNORED else None
    return [s for s in (profile.max_s, with_text, profile.kept_s) if s is not None]


@given(SHAPES, st.integers(0, 4000))
def test_no_set_comes_closer_to_the_limit(voice, limit):
    chosen = fullest_set(voice, limit)
    fitting = [voice.joined_samples(c) for c in every_set(voice) if voice.joined_samples(c) <= limit]
    assert bool(chosen) == bool(fitting)
    if chosen:
        assert voice.joined_samples(chosen) == max(fitting)
        assert list(chosen) == sorted(set(chosen))


@given(SHAPES, st.integers(0, 4000))
def test_among_equal_sets_the_earliest_clips_are_taken(voice, limit):
    chosen = fullest_set(voice, limit)
    if chosen:
        equal = [c for c in every_set(voice) if voice.joined_samples(c) == voice.joined_samples(chosen)]
        taken = [tuple(i in c for i in voice.everything) for c in equal]
        assert tuple(i in chosen for i in voice.everything) == max(taken)


@given(SHAPES, PROFILE)
def test_what_is_planned_is_taken(voice, profile):
    try:
        plan = plan_joined(voice, profile, where="voice")
    except NoReferenceError:
        return
    seconds = voice.joined_s(plan.clips)
    assert profile.min_s is None or seconds >= profile.min_s - 1e-9
    assert profile.longer_than_s is None or seconds > profile.longer_than_s
    is_cut_inside = any("cut inside" in w for w in plan.warnings)
    if is_cut_inside:
        assert profile.text is TextUse.IGNORED
        assert profile.kept_s is not None
        assert not any(voice.joined_s((i,)) <= profile.kept_s for i in voice.everything)
    bounds = bounds_s(dataclasses.replace(profile, kept_s=None) if is_cut_inside else profile)
    assert all(seconds <= s + 1e-9 for s in bounds)
    if plan.clips != voice.everything:
        assert any(w.startswith("only ") for w in plan.warnings)


@given(SHAPES, PROFILE)
def test_a_voice_that_fits_is_never_cut(voice, profile):
    whole = voice.everything
    seconds = voice.joined_s(whole)
    if all(seconds <= s for s in bounds_s(profile)) and seconds > max(
        profile.min_s or 0.0, profile.longer_than_s or 0.0
    ):
        assert plan_joined(voice, profile, where="voice").clips == whole


@given(SHAPES, PROFILE)
def test_it_is_refused_only_where_no_set_fits(voice, profile):
    try:
        plan_joined(voice, profile, where="voice")
    except NoReferenceError:
        low_s = max(profile.min_s or 0.0, (profile.longer_than_s or 0.0) + 1e-12)
        high_s = min(bounds_s(profile), default=float("inf"))
        assert not any(low_s <= voice.joined_s(c) <= high_s for c in every_set(voice))


@pytest.mark.parametrize(
    ("engine", "lengths_s", "expected"),
    [
        ("gpt-sovits", (4.0, 3.0, 5.0), (0, 2)),  # 9.3 s; with all of them 12.4 s
        ("gpt-sovits", (4.0, 5.5), (0, 1)),  # 9.8 s, the whole voice
        ("gpt-sovits", (4.0, 5.7, 9.7), (0, 1)),  # 10.0 s to the sample
        ("f5-tts", (7.0, 4.0, 4.7), (0, 2)),  # 12.0 s to the sample
        ("f5-tts", (7.0, 4.0, 4.71), (0, 1)),  # one sample more
        ("index-tts", (20.0, 6.0, 7.0), (1, 2)),
        ("omnivoice", (12.0, 12.0, 7.0), (0, 2)),
        ("chatterbox", (11.0, 12.0), (0, 1)),  # no clip is short enough, and it reads no text
        ("cosyvoice", (16.0, 15.0, 14.0), (1, 2)),  # 29.3 s
        ("qwen3-tts", (16.0, 15.0, 14.0), (0, 1, 2)),
        ("chatterbox-turbo", (2.0, 3.0), (0, 1)),
    ],
)
def test_engines(engine, lengths_s, expected):
    assert plan_joined(shape(*lengths_s), PROFILES[engine], where="voice").clips == expected


@pytest.mark.parametrize(
    ("engine", "lengths_s", "says", "advice"),
    [
        ("gpt-sovits", (11.0, 12.0), "the shortest clip has 11.20 s", "split --max"),
        ("gpt-sovits", (1.0, 1.2), "refuses less than 3 s", "more clips"),
        ("gpt-sovits", (2.0, 9.9), "refuses less than 3 s", "more clips"),  # 9.9 s and the tail are too many
        ("chatterbox-turbo", (2.0, 2.7), "refuses 5 s and less", "more clips"),
        ("f5-tts", (12.0,), "uses only the first 12 s, and the shortest clip has 12.20 s", "split --max"),
        ("cosyvoice", (31.0,), "refuses more than 30 s", "split --max"),
    ],
)
def test_no_set_fits(engine, lengths_s, says, advice):
    with pytest.raises(NoReferenceError) as caught:
        plan_joined(shape(*lengths_s), PROFILES[engine], where="voices/ana")
    assert says in caught.value.what
    assert advice in caught.value.fix
    assert caught.value.where == "voices/ana"
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(
    ("engine", "lengths_s", "rate_hz", "says"),
    [
        ("f5-tts", (7.0, 8.0), 16_000, ["only 1 of 2 clips are exported (8.20 of 15.30 s)"]),
        ("chatterbox", (7.0,), 24_000, ["the conditioning of chatterbox uses only the first 6 s of 7.20 s"]),
        ("chatterbox", (3.0,), 24_000, ["does not read the text"]),
        ("chatterbox", (12.0,), 24_000, ["no clip is that short", "does not read the text"]),
        ("cosyvoice", (5.0,), 8000, ["16000 Hz or more", "this is 8000 Hz"]),
        ("cosyvoice", (5.0,), 16_000, []),
        ("f5-tts", (5.0,), 8000, []),
    ],
)
def test_warnings(engine, lengths_s, rate_hz, says):
    plan = plan_joined(shape(*lengths_s, rate_hz=rate_hz), PROFILES[engine], where="voice")
    assert all(any(part in w for w in plan.warnings) for part in says)
    assert bool(plan.warnings) == bool(says)


def test_clips_of_their_own_need_not_fit():
    plan = plan_clips(shape(20.0, 30.0), PROFILES["fish-speech"])
    assert plan.clips == (0, 1)
    assert plan.warnings == ("fish-speech advises 10 to 30 s; this is 50.00 s",)


def test_two_hundred_clips_at_a_high_rate_are_planned_at_once():
    voice = shape(*[1.37 + 0.013 * k for k in range(200)], rate_hz=48_000)
    chosen = fullest_set(voice, 30 * 48_000)
    assert 29.9 * 48_000 < voice.joined_samples(chosen) <= 30 * 48_000
