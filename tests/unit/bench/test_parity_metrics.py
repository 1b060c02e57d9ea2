"""Metrics of parity on made-up arrays, and every limit failing for its own reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from refprep.bench.parity import (
    LogitAgreement,
    ModeParity,
    code_agreement,
    compare_logits,
    cosine,
    first_difference,
    margins,
    max_abs_diff,
    report,
)

PERFECT = LogitAgreement(argmax=1.0, confident=1.0, confident_of=5, rel_diff=0.0, max_diff=0.0)
KEPT = ModeParity(
    mode="icl.stream",
    dtype="float32",
    frames=4,
    talker=PERFECT,
    predictor=PERFECT,
    greedy_frames_equal=True,
    parted_at=None,
    parted_margin=None,
    prompt_max_abs_diff=0.0,
    peer_own_diff=0.0,
    token_ids_equal=True,
    tokenizer_swapped=False,
    codec_max_abs_diff=9e-6,
    xvector_cosine=0.999995,
    ref_code_agreement=1.0,
)


def test_equal_logits_agree_wholly():
    logits = np.array([[1.0, 5.0, 2.0], [4.0, 3.5, 0.0]], np.float32)
    assert compare_logits(logits, logits) == LogitAgreement(1.0, 1.0, 1, 0.0, 0.0)


def test_argmax_counts_positions_and_confident_only_clear_ones():
    peer = np.array([[0.0, 3.0], [0.0, 0.5], [0.0, 0.5], [2.0, 0.0]], np.float32)
    ours = np.array([[0.0, 3.0], [0.6, 0.5], [0.0, 0.5], [0.0, 2.0]], np.float32)
    found = compare_logits(ours, peer)
    assert found.argmax == 0.5
    assert (found.confident, found.confident_of) == (0.5, 2)


def test_a_margin_of_one_is_not_confident():
    logits = np.array([[0.0, 1.0]], np.float32)
    assert compare_logits(logits, logits).confident_of == 0


def test_no_confident_position_counts_as_kept_and_says_so():
    peer = np.array([[0.0, 0.5]], np.float32)
    found = compare_logits(peer[:, ::-1].copy(), peer)
    assert (found.argmax, found.confident, found.confident_of) == (0.0, 1.0, 0)


def test_differences_are_relative():
    peer = np.array([[3.0, 4.0]], np.float32)
    found = compare_logits(peer + np.array([[0.0, 0.5]], np.float32), peer)
    assert found.rel_diff == pytest.approx(0.1)
    assert found.max_diff == pytest.approx(0.125)


def test_no_frames_are_no_difference():
    empty = np.zeros((0, 15, 8), np.float32)
    assert compare_logits(empty, empty) == LogitAgreement(1.0, 1.0, 0, 0.0, 0.0)


def test_logits_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match="shapes"):
        compare_logits(np.zeros((2, 4), np.float32), np.zeros((3, 4), np.float32))


def test_margin_is_best_minus_second():
    assert margins(np.array([[1.0, 7.0, 4.0], [2.0, 2.0, -1.0]])).tolist() == [3.0, 0.0]


def test_first_difference_is_the_earliest_frame_then_codebook():
    peer = np.arange(12).reshape(3, 4)
    ours = peer.copy()
    assert first_difference(ours, peer) is None
    ours[2, 0] = ours[1, 3] = ours[1, 2] = -1
    assert first_difference(ours, peer) == (1, 2)


@pytest.mark.parametrize(("ours", "peer"), [(2, 3), (3, 2)])
def test_a_shorter_run_parts_where_it_ends(ours, peer):
    codes = np.arange(12).reshape(3, 4)
    assert first_difference(codes[:ours], codes[:peer]) == (2, 0)


def test_code_agreement_is_a_share_of_the_longer():
    codes = np.arange(8).reshape(2, 4)
    other = codes.copy()
    other[0, 1] = -1
    assert code_agreement(other, codes) == 7 / 8
    assert code_agreement(codes[:1], codes) == 0.5
    assert code_agreement(codes[:0], codes[:0]) == 1.0


def test_cosine_is_of_directions():
    a = np.array([1.0, 2.0], np.float32)
    assert cosine(a, 3 * a) == pytest.approx(1.0)
    assert cosine(a, -a) == pytest.approx(-1.0)
    assert cosine(a, 0 * a) == 0.0


def test_waves_of_other_lengths_are_infinitely_far_apart():
    assert max_abs_diff(np.zeros(3, np.float32), np.zeros(4, np.float32)) == float("inf")
    assert max_abs_diff(np.zeros(0, np.float32), np.zeros(0, np.float32)) == 0.0


def test_kept_limits_are_no_failures():
    assert KEPT.failures() == []


@pytest.mark.parametrize(
    ("change", "criterion"),
    [
        ({"talker": replace(PERFECT, max_diff=1.1e-4)}, "talker_max_diff"),
        ({"predictor": replace(PERFECT, max_diff=1.1e-4)}, "predictor_max_diff"),
        ({"predictor": replace(PERFECT, max_diff=float("nan"))}, "predictor_max_diff"),
        ({"talker": replace(PERFECT, confident=0.8)}, "talker_confident"),
        ({"predictor": replace(PERFECT, confident=0.8)}, "predictor_confident"),
        ({"greedy_frames_equal": False, "parted_at": (0, 3, 2)}, "greedy_frames_equal"),
        ({"token_ids_equal": False}, "token_ids_equal"),
        ({"codec_max_abs_diff": 1.1e-5}, "codec_max_abs_diff"),
        ({"codec_max_abs_diff": float("nan")}, "codec_max_abs_diff"),
        ({"xvector_cosine": 0.99998}, "xvector_cosine"),
        ({"xvector_cosine": float("nan")}, "xvector_cosine"),
        ({"ref_code_agreement": 0.999}, "ref_code_agreement"),
    ],
)
def test_each_limit_fails_by_itself(change, criterion):
    assert [f.criterion for f in replace(KEPT, **change).failures()] == [criterion]


@pytest.mark.parametrize("part", ["talker", "predictor"])
def test_bf16_is_held_to_relative_difference_and_clear_choices(part):
    bf16 = replace(
        KEPT, dtype="bfloat16", codec_max_abs_diff=None, xvector_cosine=None, ref_code_agreement=None
    )
    loose = replace(PERFECT, argmax=0.7, rel_diff=0.01, max_diff=0.2)
    assert replace(bf16, **{part: loose}, greedy_frames_equal=False).failures() == []
    off = replace(bf16, **{part: replace(loose, rel_diff=0.011)})
    assert [f.criterion for f in off.failures()] == [f"{part}_rel_diff"]
    unsure = replace(bf16, **{part: replace(loose, confident=0.99)})
    assert [f.criterion for f in unsure.failures()] == [f"{part}_confident"]


def test_a_swapped_tokenizer_is_no_failure():
    assert replace(KEPT, token_ids_equal=False, tokenizer_swapped=True).failures() == []


def test_a_parting_is_told_with_its_place_and_margin():
    parted = replace(KEPT, greedy_frames_equal=False, parted_at=(1, 3, 2), parted_margin=2e-6)
    (failure,) = parted.failures()
    assert "frame 3, codebook 2 of row 1" in failure.found
    assert "2.0e-06" in failure.found


def test_the_report_names_what_failed_and_has_every_field_per_mode():
    bad = replace(KEPT, mode="xvec.full", codec_max_abs_diff=1.0)
    found = report([KEPT, bad], {"checkpoint": "c"})
    assert (found["ok"], found["checkpoint"]) == (False, "c")
    assert [(f["mode"], f["criterion"]) for f in found["failures"]] == [("xvec.full", "codec_max_abs_diff")]
    asked = (
        "frames talker_argmax talker_confident talker_rel_diff predictor_argmax predictor_confident "
        "predictor_rel_diff greedy_frames_equal codec_max_abs_diff xvector_cosine ref_code_agreement"
    )
    for row in found["modes"]:
        assert set(asked.split()) <= row.keys()
    assert report([KEPT], {})["ok"] is True
