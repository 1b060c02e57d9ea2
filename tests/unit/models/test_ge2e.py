from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_kit import clip_of, save_ge2e, voice, whole
from hypothesis import given
from hypothesis import strategies as st

from refprep.errors import AudioDecodeError, BackendError
from refprep.models.ge2e import Ge2eEncoder, partial_starts
from refprep.models.windows import gather_speech, unit_rows, window_ranges
from refprep.types import Span


class Explosive:
    """Unpickled, it would write a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.mark,))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Ge2eEncoder:
    return Ge2eEncoder(save_ge2e(tmp_path_factory.mktemp("ge2e")))


@given(st.integers(1, 60 * 16_000))
def test_partials_cover_the_track(num_samples: int) -> None:
    starts = partial_starts(num_samples)
    assert starts == list(range(0, 77 * len(starts), 77))
    # A rest of up to three quarters of a partial is left out, less what the partial before it covered.
    assert starts[-1] * 160 < num_samples
    assert num_samples - (starts[-1] + 160) * 160 <= max(0, (120 - 160 + 77) * 160)


@given(st.integers(1, 500_000), st.integers(1, 50_000), st.integers(1, 50_000))
def test_windows_cover_the_track_without_padding(num_samples: int, window: int, hop: int) -> None:
    ranges = window_ranges(num_samples, window, min(hop, window))
    assert ranges[0][0] == 0
    assert ranges[-1][1] == num_samples
    assert {stop - start for start, stop in ranges} == {min(window, num_samples)}
    assert all(b[0] <= a[1] for a, b in pairwise(ranges))


def test_a_window_across_a_cut_pause_spans_it_on_the_clips_clock() -> None:
    clip = voice(4.0, sample_rate_hz=16_000)
    track = gather_speech(clip, (Span(0.5, 1.5), Span(3.0, 3.5)), sample_rate_hz=16_000, margin_s=0.1)
    assert track.num_samples == 19 * 1_600
    assert track.clip_span(0, 12 * 1_600) == Span(0.4, 1.6)
    assert track.clip_span(8 * 1_600, 16 * 1_600) == Span(1.2, 3.3)
    assert track.clip_span(12 * 1_600, 99 * 1_600) == Span(2.9, 3.6)
    np.testing.assert_array_equal(track.samples[12 * 1_600 :], clip.samples[round(2.9 * 16_000) : 57_600])


def test_margins_that_meet_keep_the_pause_whole() -> None:
    clip = voice(2.0, sample_rate_hz=16_000)
    track = gather_speech(clip, (Span(0.05, 0.9), Span(1.0, 1.99)), sample_rate_hz=16_000, margin_s=0.1)
    np.testing.assert_array_equal(track.samples, clip.samples)


def test_speech_outside_the_clip_is_a_bug_of_the_caller() -> None:
    with pytest.raises(ValueError, match="outside the clip"):
        gather_speech(voice(1.0), (Span(5.0, 6.0),), sample_rate_hz=16_000, margin_s=0.03)


@pytest.mark.parametrize("row", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_a_vector_without_direction_is_noticed(row: list[float]) -> None:
    with pytest.raises(ValueError, match="no direction"):
        unit_rows(np.array([[1.0, 0.0], row]))


def test_the_whole_is_the_mean_of_its_windows(encoder: Ge2eEncoder) -> None:
    clip = voice(5.0)
    got = encoder.embed(clip, whole(clip))
    mean = got.window_vectors.mean(axis=0)
    np.testing.assert_allclose(got.vector, mean / np.linalg.norm(mean), atol=1e-6)
    assert got.windows[1].start_s == pytest.approx(0.77)
    assert got.windows[0].duration_s == pytest.approx(1.6)


def test_digital_silence_called_speech_has_no_level_to_raise(encoder: Ge2eEncoder) -> None:
    silence = clip_of(np.zeros(48_000, dtype=np.float32), 24_000)
    got = encoder.embed(silence, whole(silence))
    assert np.isfinite(got.vector).all()


def test_not_a_number_is_refused(encoder: Ge2eEncoder) -> None:
    broken = clip_of(np.full(48_000, np.nan, dtype=np.float32), 24_000)
    with pytest.raises(AudioDecodeError, match="no direction"):
        encoder.embed(broken, whole(broken))


def test_the_clip_is_not_changed(encoder: Ge2eEncoder) -> None:
    clip = voice(2.0, sample_rate_hz=16_000)
    before = clip.samples.tobytes()
    encoder.embed(replace(clip), whole(clip))
    assert clip.samples.tobytes() == before


def test_a_checkpoint_that_runs_code_is_refused(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    torch.save({"model_state": {}, "x": Explosive(mark)}, tmp_path / "pretrained.pt")
    with pytest.raises(BackendError, match="more than tensors"):
        Ge2eEncoder(tmp_path)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: s.pop("lstm.weight_hh_l2"), "Missing key"),
        (lambda s: s.update(extra=torch.zeros(1)), "Unexpected key"),
        (lambda s: s.update({"linear.bias": torch.zeros(3)}), "size mismatch"),
    ],
)
def test_weights_that_do_not_fit_are_refused(change, says: str, tmp_path: Path) -> None:
    path = save_ge2e(tmp_path) / "pretrained.pt"
    content = torch.load(path, weights_only=True)
    change(content["model_state"])
    torch.save(content, path)
    with pytest.raises(BackendError, match=says):
        Ge2eEncoder(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", None])
def test_a_file_that_is_no_checkpoint_is_refused(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "pretrained.pt").write_bytes(content)
    with pytest.raises(BackendError):
        Ge2eEncoder(tmp_path)


@pytest.mark.parametrize("content", [{"other": 1}, [torch.zeros(1)], {"model_state": 3}])
def test_a_checkpoint_of_another_layout_is_refused(content: object, tmp_path: Path) -> None:
    torch.save(content, tmp_path / "pretrained.pt")
    with pytest.raises(BackendError, match="holds no"):
        Ge2eEncoder(tmp_path)
