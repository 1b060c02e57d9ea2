"""Equal error rates on distributions whose answer is known, and what a run reports."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import soundfile
from fakes import FakeEncoder, FakeVoiceActivity
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.bench.identity import (
    IdentityPair,
    ScoredPair,
    embed_clips,
    read_pairs,
    score_pairs,
    summarise,
)
from refprep.errors import ManifestError
from refprep.identity.error_rates import equal_error_interval, equal_error_rate, threshold_at
from refprep.identity.verifier import Verifier
from refprep.pipeline.decode import decode_file
from refprep.types import Span

# On a grid of 1/64, so that shifts are exact and no two scores are nearly equal.
SCORES = st.lists(st.integers(-64, 64).map(lambda k: k / 64), min_size=1, max_size=40)


# --------------------------------------------------------------------------- equal error rate


@pytest.mark.parametrize(
    ("same", "different", "rate"),
    [
        ([0.9, 0.8], [0.1, 0.2], 0.0),
        ([0.1, 0.2], [0.8, 0.9], 1.0),
        ([0.5], [0.5], 0.5),
        ([0.2, 0.6, 0.8, 0.9], [0.1, 0.3, 0.4, 0.7], 0.25),
        ([0.4, 0.8], [0.2, 0.6], 0.5),
        ([0.4, 0.7, 0.8, 0.9], [0.1, 0.2, 0.3, 0.6], 0.25),
    ],
)
def test_known_rates(same, different, rate):
    found, threshold = equal_error_rate(same, different)
    assert found == pytest.approx(rate, abs=1e-6)
    assert min(*same, *different) <= threshold <= max(*same, *different) + 1e-5


def test_two_normal_distributions():
    """Means two standard deviations apart: the EER is Phi(-1), half-way between them."""
    rng = np.random.default_rng(0)
    same, different = rng.normal(1.0, 0.5, 20_000), rng.normal(0.0, 0.5, 20_000)
    rate, threshold = equal_error_rate(list(same), list(different))
    assert rate == pytest.approx(0.5 * math.erfc(1 / math.sqrt(2)), abs=0.005)
    assert threshold == pytest.approx(0.5, abs=0.02)


@settings(deadline=None)
@given(SCORES, SCORES, st.integers(-640, 640).map(lambda k: k / 64))
def test_shifted_scores_have_the_same_rate(same, different, shift):
    rate, threshold = equal_error_rate(same, different)
    moved_rate, moved = equal_error_rate([s + shift for s in same], [d + shift for d in different])
    assert moved_rate == pytest.approx(rate, abs=1e-9)
    assert moved == pytest.approx(threshold + shift, abs=1e-5)


@settings(deadline=None)
@given(SCORES, SCORES)
def test_the_rate_lies_where_misses_and_false_accepts_cross(same, different):
    rate, _ = equal_error_rate(same, different)
    errors = [
        (np.mean([s < t for s in same]), np.mean([d >= t for d in different]))
        for t in (*same, *different, 99.0)
    ]
    assert max(min(e) for e in errors) - 1e-9 <= rate <= min(max(e) for e in errors) + 1e-9


@settings(deadline=None)
@given(SCORES, SCORES)
def test_mirrored_scores_swap_the_sides(same, different):
    rate, _ = equal_error_rate(same, different)
    mirrored, _ = equal_error_rate([-d for d in different], [-s for s in same])
    # A score on the threshold counts as accepted: mirrored it falls on the other side, by one score at most.
    assert mirrored == pytest.approx(rate, abs=1.0 / min(len(same), len(different)) + 1e-9)


@pytest.mark.parametrize(("same", "different"), [([], [0.1]), ([0.1], []), ([], [])])
def test_one_side_alone_has_no_rate(same, different):
    with pytest.raises(ValueError, match="both same and different"):
        equal_error_rate(same, different)


@settings(deadline=None)
@given(SCORES, st.integers(0, 10).map(lambda k: k / 10))
def test_the_threshold_accepts_at_most_the_share_and_is_the_lowest_that_does(different, share):
    threshold = threshold_at(different, share)
    accepted = sum(d >= threshold for d in different)
    assert accepted <= share * len(different) + 1e-9
    lower = [d for d in different if d < threshold]
    if lower:
        assert sum(d >= max(lower) for d in different) > int(share * len(different))


def test_known_thresholds():
    scores = [k / 100 for k in range(100)]
    assert threshold_at(scores, 0.01) == pytest.approx(0.98)
    assert threshold_at(scores, 0.01) > 0.98
    assert threshold_at(scores, 0.0) > 0.99
    # Nothing has to be refused, on a scale that may have no lower end.
    assert threshold_at(scores, 1.0) == -math.inf
    assert threshold_at([], 0.01) == -math.inf


# --------------------------------------------------------------------------- its interval


@settings(deadline=None, max_examples=10)
@given(SCORES, SCORES)
def test_an_interval_is_ordered_and_the_same_every_time(same, different):
    low, high = equal_error_interval(same, different)
    assert 0.0 <= low <= high <= 1.0
    assert equal_error_interval(same, different) == (low, high)


def test_sides_that_do_not_meet_have_an_interval_of_no_width():
    assert equal_error_interval([0.8, 0.9], [0.1, 0.2]) == (0.0, 0.0)
    assert equal_error_interval([0.1, 0.2], [0.8, 0.9]) == (1.0, 1.0)


def test_the_interval_holds_the_rate_and_narrows_with_more_pairs_and_less_confidence():
    rng = np.random.default_rng(3)
    same, different = rng.normal(1.0, 0.5, 3000), rng.normal(0.0, 0.5, 3000)
    few = equal_error_interval(same[:100], different[:100])
    many = equal_error_interval(same, different)
    bold = equal_error_interval(same[:100], different[:100], confidence=0.5)
    for (low, high), count in ((few, 100), (many, 3000), (bold, 100)):
        assert low <= equal_error_rate(same[:count], different[:count])[0] <= high
    assert many[1] - many[0] < (few[1] - few[0]) / 2
    assert few[0] < bold[0] < bold[1] < few[1]
    # The rate of these distributions is Phi(-1) = 0.1587; its standard error from 3000 pairs a side is about 0.006.
    assert many[0] < 0.1587 < many[1]
    assert many[1] - many[0] == pytest.approx(4 * 0.006, rel=0.5)


@pytest.mark.parametrize(("same", "different"), [([], [0.1]), ([0.1], []), ([], [])])
def test_one_side_alone_has_no_interval(same, different):
    with pytest.raises(ValueError, match=r"."):
        equal_error_interval(same, different)


# --------------------------------------------------------------------------- the file of pairs


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def test_pairs_are_read(tmp_path):
    path = write(
        tmp_path / "pairs.csv",
        "\ufeffpath_a,path_b,same,kind\na.wav,d/b.wav,1,same_session\na.wav,c.wav, 0 ,diff\n",
    )
    assert read_pairs(path) == [
        IdentityPair(tmp_path / "a.wav", tmp_path / "d" / "b.wav", True, "same_session"),
        IdentityPair(tmp_path / "a.wav", tmp_path / "c.wav", False, "diff"),
    ]


def test_the_kind_may_be_missing(tmp_path):
    assert read_pairs(write(tmp_path / "p.csv", "path_a,path_b,same\na,b,1\n"))[0].kind == ""


@pytest.mark.parametrize(
    ("content", "missing"),
    [("path_a,path_b\na,b\n", "same"), ("", "path_a, path_b, same"), ("a;b;c\n", "path_a, path_b, same")],
)
def test_missing_columns_are_named(tmp_path, content, missing):
    path = write(tmp_path / "p.csv", content)
    with pytest.raises(ManifestError) as caught:
        read_pairs(path)
    assert caught.value.what == f"columns {missing} missing"
    assert caught.value.where == str(path)


@pytest.mark.parametrize("content", ["path_a,path_b,same\na.wav,b.wav\n", "path_a,path_b,same\na.wav\n"])
def test_a_short_row_is_a_manifest_error(tmp_path, content):
    with pytest.raises(ManifestError):
        read_pairs(write(tmp_path / "p.csv", content))


def test_a_label_that_is_neither_0_nor_1_is_a_manifest_error(tmp_path):
    """``true`` read as "different" would turn the figures over without a word."""
    with pytest.raises(ManifestError):
        read_pairs(write(tmp_path / "p.csv", "path_a,path_b,same\na.wav,b.wav,true\n"))


def test_a_file_that_is_not_there_is_an_error_of_the_call(tmp_path):
    with pytest.raises(ManifestError):
        read_pairs(tmp_path / "nobody.csv")


# --------------------------------------------------------------------------- a run


@pytest.fixture
def clips(tmp_path) -> dict[str, Path]:
    found = {}
    for number, (name, seconds) in enumerate({"a": 4.0, "b": 3.5, "c": 2.0, "d": 5.0}.items()):
        samples = np.random.default_rng(number).integers(-3000, 3000, int(seconds * 1000)) / 2**15
        soundfile.write(tmp_path / f"{name}.wav", samples, 1000, subtype="PCM_16")
        found[name] = tmp_path / f"{name}.wav"
    return found


def encoder_of(clips: dict[str, Path]) -> FakeEncoder:
    degrees = {"a": 0, "b": 10, "c": 20, "d": 90}
    return FakeEncoder(
        {
            decode_file(p).id: [math.cos(math.radians(degrees[n])), math.sin(math.radians(degrees[n]))]
            for n, p in clips.items()
        }
    )


def test_every_clip_is_embedded_once_and_pairs_are_scored(clips, tmp_path):
    pairs = [
        IdentityPair(clips["a"], clips["b"], True, "same"),
        IdentityPair(clips["a"], clips["d"], False, "diff"),
        IdentityPair(clips["c"], clips["a"], True, "same"),
        IdentityPair(clips["a"], tmp_path / "gone.wav", True, "same"),
    ]
    seen: list[str] = []
    encoder = encoder_of(clips)
    prints, failed = embed_clips(
        pairs, encoder, FakeVoiceActivity(default=[Span(0.0, 1.0)]), on_clip=seen.append
    )
    assert seen == [str(p) for p in (clips["a"], clips["b"], clips["d"], clips["c"], tmp_path / "gone.wav")]
    assert {p.name: seconds for p, (_, seconds) in prints.items()} == {
        "a.wav": 4.0, "b.wav": 3.5, "d.wav": 5.0, "c.wav": 2.0,
    }  # fmt: skip
    assert len(failed) == 1
    assert failed[0].startswith(f"{tmp_path / 'gone.wav'}: ")
    scored = score_pairs(pairs, prints, Verifier(encoder))
    assert [s.pair for s in scored] == pairs[:3]
    assert [s.score for s in scored] == pytest.approx(
        [math.cos(math.radians(10)), 0.0, math.cos(math.radians(20))], abs=1e-6
    )
    assert [s.shorter_s for s in scored] == [3.5, 4.0, 2.0]
    assert score_pairs(pairs, {}, Verifier(encoder)) == []


def scored(score: float, *, is_same: bool, kind: str, shorter_s: float = 4.0) -> ScoredPair:
    return ScoredPair(IdentityPair(Path("a"), Path("b"), is_same, kind), score, shorter_s)


RUN = [
    scored(0.9, is_same=True, kind="same_session"),
    scored(0.8, is_same=True, kind="same_session"),
    scored(0.75, is_same=True, kind="cross_session"),
    scored(0.6, is_same=True, kind="same_session", shorter_s=1.0),
    scored(0.3, is_same=False, kind="diff"),
    scored(0.2, is_same=False, kind="diff"),
    scored(0.78, is_same=False, kind="diff_hardest"),
    scored(0.5, is_same=False, kind="diff_8k_digits", shorter_s=1.5),
]


def sides(figures: dict[str, dict]) -> dict[str, tuple[int, int]]:
    return {name: (g["same"], g["different"]) for name, g in figures.items()}


def test_what_a_run_reports():
    found = summarise(RUN, threshold=0.7)
    assert found["threshold"] == 0.7
    assert sides(found["groups"]) == {
        "all": (4, 4),
        "3s": (3, 2),
        "3s_clean": (2, 2),
        "3s_with_hardest": (3, 3),
    }
    assert set(found["kinds"]) == {"same_session", "cross_session", "diff", "diff_hardest", "diff_8k_digits"}
    for name in ("all", "3s", "3s_clean"):
        assert found[f"eer_{name}"] == found["groups"][name]["eer"]
    assert found["eer_all"] == pytest.approx(0.25)
    assert (found["eer_3s"], found["eer_3s_clean"]) == (0.0, 0.0)


def test_the_figures_of_a_group():
    groups = summarise(RUN, threshold=0.7)["groups"]
    assert groups["3s"] == {
        "same": 3,
        "different": 2,
        "min_same": 0.75,
        "max_different": 0.3,
        "eer": 0.0,
        "eer_low": 0.0,
        "eer_high": 0.0,
        "eer_threshold": groups["3s"]["eer_threshold"],
        "threshold_at_1_percent_false_accepts": 0.3,
        "misses_there": 0.0,
        "false_accepts": 0.0,
        "misses": 0.0,
    }
    assert 0.3 <= groups["3s"]["eer_threshold"] <= 0.75
    assert groups["all"]["eer_low"] <= 0.25 <= groups["all"]["eer_high"]
    assert groups["all"]["false_accepts"] == 0.25
    assert groups["all"]["misses"] == 0.25
    assert groups["all"]["misses_there"] == 0.5  # 0.78 must be refused: 0.75 and 0.6 are missed


def test_eer_3s_leaves_out_the_short_and_those_chosen_for_being_hard():
    pairs = [
        scored(0.9, is_same=True, kind="same_session", shorter_s=3.0),
        scored(0.1, is_same=False, kind="diff", shorter_s=3.0),
        scored(0.95, is_same=False, kind="diff_hardest"),
        scored(0.95, is_same=False, kind="diff", shorter_s=2.99),
        scored(0.0, is_same=True, kind="same_session", shorter_s=2.99),
    ]
    found = summarise(pairs, threshold=None)
    assert (found["eer_3s"], sides(found["groups"])["3s"]) == (0.0, (1, 1))
    assert found["groups"]["3s_with_hardest"]["eer"] == 0.5
    assert found["eer_all"] > 0.4


def test_eer_3s_clean_is_one_session_against_ordinary_strangers():
    pairs = [
        scored(0.9, is_same=True, kind="same_session"),
        scored(0.1, is_same=True, kind="cross_session"),
        scored(0.3, is_same=False, kind="diff"),
        scored(0.4, is_same=False, kind="diff_same_sex"),
        scored(0.95, is_same=False, kind="diff_8k_digits"),
        scored(0.95, is_same=False, kind="diff_hardest"),
    ]
    found = summarise(pairs, threshold=None)
    assert (found["eer_3s_clean"], sides(found["groups"])["3s_clean"]) == (0.0, (1, 2))
    assert found["eer_3s"] > 0.3
    assert summarise(pairs[1:], threshold=None)["eer_3s_clean"] is None


@pytest.mark.parametrize(
    ("shorter_s", "bucket"),
    [
        (0.0, "0-2 s"),
        (1.999, "0-2 s"),
        (2.0, "2-3 s"),
        (3.0, "3-6 s"),
        (5.999, "3-6 s"),
        (6.0, "6 s and more"),
        (600.0, "6 s and more"),
    ],
)
def test_a_pair_counts_in_the_bucket_of_its_shorter_clip(shorter_s, bucket):
    lengths = summarise([scored(0.9, is_same=True, kind="", shorter_s=shorter_s)], threshold=None)["lengths"]
    assert list(lengths) == ["0-2 s", "2-3 s", "3-6 s", "6 s and more"]
    assert {name for name, row in lengths.items() if row["same"]} == {bucket}


@given(st.lists(st.floats(0.0, 20.0), max_size=12))
def test_every_pair_has_one_bucket(seconds):
    pairs = [scored(0.5, is_same=True, kind="", shorter_s=s) for s in seconds]
    assert sum(row["same"] for row in summarise(pairs, threshold=None)["lengths"].values()) == len(pairs)


def test_a_kind_is_held_against_all_pairs_of_the_other_label():
    kinds = summarise(RUN, threshold=0.7)["kinds"]
    assert kinds["same_session"] == {
        "pairs": 3, "is_same": True, "min": 0.6, "median": 0.8, "max": 0.9, "eer": pytest.approx(0.25, abs=0.1),
    }  # fmt: skip
    assert kinds["diff"]["is_same"] is False
    assert kinds["diff"]["eer"] == 0.0  # 0.3 at most, and nobody who is the same scores less than 0.6
    assert kinds["diff_hardest"]["eer"] == equal_error_rate([0.9, 0.8, 0.75, 0.6], [0.78])[0]
    assert summarise(RUN[:2], threshold=None)["kinds"]["same_session"]["eer"] is None


def test_a_scale_nobody_measured_a_threshold_for_has_no_figures_at_one():
    found = summarise(RUN, threshold=None)
    assert found["threshold"] is None
    assert "eer" in found["groups"]["all"]
    assert not {"misses", "false_accepts"} & set(found["groups"]["all"])


def test_a_group_of_one_side_has_no_rate():
    found = summarise(RUN[:2], threshold=0.7)
    assert found["groups"]["all"] == {"same": 2, "different": 0, "min_same": 0.8, "max_different": None}
    assert found["eer_all"] is None
    nothing = summarise([], threshold=0.7)
    assert (nothing["eer_all"], nothing["kinds"], sides(nothing["groups"])["all"]) == (None, {}, (0, 0))
