"""Whose voice: groups, anchors, leave-one-out means, windows, controls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fakes import FakeEncoder, unit
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.errors import UsageError
from refprep.identity import measure
from refprep.identity.groups import VoiceGroups, group_voices
from refprep.identity.measure import centroid
from refprep.identity.verifier import Verifier
from refprep.types import Identity, Span, Voiceprint

VERIFIER = Verifier(FakeEncoder(name="fake"))


def cosine_matrix(prints):
    return VERIFIER.matrix(prints)


def group(prints, *, threshold: float, anchor: int | None = None) -> VoiceGroups:
    return group_voices(
        cosine_matrix(prints), [p.speech_s for p in prints], threshold=threshold, anchor=anchor
    )


def measure_identity(index, prints, target, controls) -> Identity:
    return measure.measure_identity(index, prints, cosine_matrix(prints), target, controls, VERIFIER)


def voiceprint(
    vector, speech_s: float = 3.0, *, windows=None, model: str = "fake", clip_id: str = "id"
) -> Voiceprint:
    rows = [unit(w) for w in (windows if windows is not None else [vector])]
    return Voiceprint(
        clip_id=clip_id,
        model=model,
        vector=unit(vector),
        window_vectors=np.stack(rows) if rows else np.zeros((0, len(vector)), np.float32),
        windows=tuple(Span(float(k), float(k + 1)) for k in range(len(rows))),
        speech_s=speech_s,
    )


def at_degrees(angle: float, speech_s: float = 3.0, **more) -> Voiceprint:
    return voiceprint([math.cos(math.radians(angle)), math.sin(math.radians(angle))], speech_s, **more)


def test_cosines_are_symmetric_with_ones():
    cosines = cosine_matrix([at_degrees(a) for a in (0, 60, 90)])
    assert cosines.dtype == np.float64
    assert cosines == pytest.approx(
        np.array([[1.0, 0.5, 0.0], [0.5, 1.0, math.cos(math.pi / 6)], [0.0, math.cos(math.pi / 6), 1.0]]),
        abs=1e-6,
    )
    assert np.array_equal(cosines, cosines.T)
    assert np.diag(cosines) == pytest.approx(1.0, abs=1e-6)


def test_no_clips():
    assert cosine_matrix([]).shape == (0, 0)
    groups = group([], threshold=0.7)
    assert (groups.target, dict(groups.others), groups.rival_share) == ((), {}, 0.0)
    assert centroid([]) is None


def test_two_encoders_are_refused():
    mixed = [at_degrees(0, model="ge2e"), at_degrees(1, model="wavlm")]
    with pytest.raises(UsageError, match="fake and ge2e and wavlm"):
        cosine_matrix(mixed)


def test_the_target_is_the_group_with_most_speech_not_with_most_clips():
    prints = [
        at_degrees(0, 10.0),
        at_degrees(90, 2.0),
        at_degrees(95, 2.0),
        at_degrees(5, 9.0),
        at_degrees(92, 2.0),
    ]
    groups = group(prints, threshold=0.7)
    assert groups.target == (0, 3)
    assert dict(groups.others) == {1: 1, 2: 1, 4: 1}
    assert groups.rival_share == pytest.approx(6.0 / 19.0)
    assert groups.rival_clips == 3


def test_an_anchor_decides():
    prints = [at_degrees(0, 10.0), at_degrees(90, 2.0), at_degrees(95, 2.0)]
    groups = group(prints, threshold=0.7, anchor=2)
    assert groups.target == (1, 2)
    assert dict(groups.others) == {0: 1}
    assert groups.rival_share == pytest.approx(10.0 / 4.0)


def test_other_groups_are_numbered_by_their_speech():
    prints = [at_degrees(0, 10.0), at_degrees(180, 1.0), at_degrees(90, 5.0)]
    assert dict(group(prints, threshold=0.7).others) == {2: 1, 1: 2}


def test_a_single_clip_is_its_own_target():
    groups = group([at_degrees(10)], threshold=0.7)
    assert groups.target == (0,)
    assert groups.rival_share == 0.0


@pytest.mark.parametrize(("threshold", "size"), [(0.49, 2), (0.51, 1)])
def test_the_threshold_is_a_cosine(threshold, size):
    assert len(group([at_degrees(0, 5.0), at_degrees(60)], threshold=threshold).target) == size


def test_groups_go_by_the_mean_of_their_pairs():
    # 0-40-80 degrees: neighbours at 0.77, the ends at 0.17. Single linkage would chain them at 0.7.
    prints = [at_degrees(0, 5.0), at_degrees(40, 5.0), at_degrees(80, 3.0)]
    assert len(group(prints, threshold=0.7).target) == 2


@settings(deadline=None)
@given(
    angles=st.lists(st.integers(0, 20), min_size=1, max_size=5),
    strangers=st.lists(st.integers(120, 140), max_size=4),
    random=st.randoms(use_true_random=False),
)
def test_the_target_does_not_depend_on_the_order(angles, strangers, random):
    people = [(a, 10.0) for a in angles] + [(a, 1.0) for a in strangers]
    random.shuffle(people)
    groups = group([at_degrees(a, s) for a, s in people], threshold=0.7)
    assert [people[i][0] for i in groups.target] == [a for a, _ in people if a <= 20]
    assert set(groups.target) | set(groups.others) == set(range(len(people)))
    assert not set(groups.target) & set(groups.others)


def test_the_mean_is_weighted_by_speech():
    mean = centroid([at_degrees(0, 3.0), at_degrees(90, 1.0)])
    assert mean == pytest.approx(np.array([3.0, 1.0]) / math.sqrt(10.0), abs=1e-6)


def test_opposite_voices_have_no_mean():
    assert centroid([voiceprint([1.0, 0.0], 2.0), voiceprint([-1.0, 0.0], 2.0)]) is None


def test_a_clip_is_left_out_of_its_own_mean():
    prints = [at_degrees(0, 100.0), at_degrees(20), at_degrees(50)]
    identity = measure_identity(0, prints, (0, 1, 2), {})
    assert identity.centroid_score == pytest.approx(math.cos(math.radians(35)), abs=1e-6)
    assert identity.min_pairwise_score == pytest.approx(math.cos(math.radians(50)), abs=1e-6)
    mean = (math.cos(math.radians(20)) + math.cos(math.radians(50))) / 2
    assert identity.mean_pairwise_score == pytest.approx(mean, abs=1e-6)
    assert identity.clip_id == "id"
    assert identity.model == "fake"


def test_a_stranger_is_held_against_the_whole_target():
    prints = [at_degrees(0), at_degrees(20), at_degrees(100)]
    identity = measure_identity(2, prints, (0, 1), {})
    assert identity.centroid_score == pytest.approx(math.cos(math.radians(90)), abs=1e-6)
    assert identity.min_pairwise_score == pytest.approx(math.cos(math.radians(100)), abs=1e-6)


def test_the_worst_window_is_named():
    windows = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]
    prints = [at_degrees(0, windows=windows), at_degrees(0)]
    identity = measure_identity(0, prints, (0, 1), {})
    assert identity.min_window_score == pytest.approx(0.0, abs=1e-6)
    assert identity.worst_window == Span(1.0, 2.0)


def test_a_clip_without_windows_has_no_worst_one():
    identity = measure_identity(0, [at_degrees(0, windows=[]), at_degrees(0)], (0, 1), {})
    assert identity.min_window_score is None
    assert identity.worst_window is None


def test_a_single_clip_has_controls_and_nothing_else():
    identity = measure_identity(0, [at_degrees(0)], (0,), {"eva": at_degrees(60)})
    assert identity.min_pairwise_score is None
    assert identity.mean_pairwise_score is None
    assert identity.centroid_score is None
    assert identity.min_window_score is None
    assert identity.control_scores == pytest.approx({"eva": 0.5}, abs=1e-6)
    assert identity.margin is None


def test_the_margin_is_to_the_nearest_control():
    prints = [at_degrees(0), at_degrees(0)]
    controls = {"eva": at_degrees(60), "kim": at_degrees(90)}
    identity = measure_identity(0, prints, (0, 1), controls)
    assert identity.margin == pytest.approx(0.5, abs=1e-6)
    assert measure_identity(0, prints, (0, 1), {}).margin is None
