"""A recording on disk has the very samples, and the description, that decode_file gives of the whole."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest
from audio_files import av_bytes, noise, sndfile_bytes, tone, with_chunk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refprep.errors import AudioDecodeError
from refprep.pipeline.decode import decode_file
from refprep.pipeline.decoding import reader
from refprep.pipeline.recording import as_recording, open_recording
from refprep.types import Downmix, Span

ANY_FILE = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
LEFT, RIGHT = noise(seed=1, duration_s=2.0), noise(seed=2, duration_s=2.0)
CHANNELS = {
    Downmix.NONE: LEFT,
    Downmix.IDENTICAL: np.stack([LEFT, LEFT], axis=1),
    Downmix.LIVE_CHANNEL: np.stack([np.zeros_like(LEFT), LEFT], axis=1),
    Downmix.INVERTED: np.stack([LEFT, -LEFT], axis=1),
    Downmix.MEAN: np.stack([LEFT, RIGHT], axis=1),
}


def assert_same(path, scratch):
    whole = decode_file(path)
    with open_recording(path, scratch) as recording:
        assert recording.source == whole.source
        assert (recording.sample_rate_hz, recording.num_samples) == (whole.sample_rate_hz, whole.num_samples)
        np.testing.assert_array_equal(recording.read(0, recording.num_samples), whole.samples)
        assert recording.cut(0, recording.num_samples).id == whole.id
    assert not scratch.exists()
    return whole


@pytest.mark.parametrize("group", [1, 1000, 1 << 16])
@pytest.mark.parametrize("downmix", CHANNELS)
def test_every_downmix_is_the_one_of_the_whole_file(tmp_path, monkeypatch, downmix, group):
    """Also where the file's beginning alone would ask for another one."""
    monkeypatch.setattr(reader, "_GROUP_SAMPLES", group)
    monkeypatch.setattr(reader.sndfile_reader, "_BLOCK_SAMPLES", 5000)
    channels = CHANNELS[downmix].copy()
    if channels.ndim > 1:
        channels[:8000] = channels[:8000, :1] if downmix is not Downmix.LIVE_CHANNEL else 0.0
    (tmp_path / "a.wav").write_bytes(sndfile_bytes(channels))
    found = assert_same(tmp_path / "a.wav", tmp_path / "scratch").source.downmix
    assert found is (Downmix.MEAN if downmix is Downmix.INVERTED else downmix)
    (tmp_path / "b.wav").write_bytes(sndfile_bytes(CHANNELS[downmix]))
    assert assert_same(tmp_path / "b.wav", tmp_path / "scratch").source.downmix is downmix


@ANY_FILE
@given(
    seed=st.integers(0, 2**32),
    num_samples=st.integers(1, 3000),
    num_channels=st.integers(1, 4),
    stored=st.sampled_from(["PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"]),
    cuts=st.lists(st.integers(0, 3000), min_size=2, max_size=6),
)
def test_any_part_is_that_part_of_the_whole(tmp_path, seed, num_samples, num_channels, stored, cuts):
    rng = np.random.default_rng(seed)
    channels = np.clip(rng.standard_normal((num_samples, num_channels)) * 0.2, -1.0, 1.0)
    path = tmp_path / "a.wav"
    path.write_bytes(sndfile_bytes(channels, subtype=stored))
    whole = assert_same(path, tmp_path / "scratch")
    with open_recording(path, tmp_path / "scratch") as recording:
        for start, stop in pairwise(cuts):
            if start <= stop:
                part = recording.cut(start, stop)
                np.testing.assert_array_equal(part.samples, whole.samples[start:stop])
                assert part.id == as_recording(whole).cut(start, stop).id


@pytest.mark.parametrize(
    "content",
    [
        sndfile_bytes(np.stack([LEFT, RIGHT], axis=1), kind="FLAC", subtype="PCM_24"),
        sndfile_bytes(np.stack([LEFT, RIGHT], axis=1), kind="OGG", subtype="VORBIS"),
        sndfile_bytes(tone(48_000, 2.0), 48_000, kind="OGG", subtype="OPUS"),
        sndfile_bytes(LEFT, kind="OGG", subtype="VORBIS") * 3,
        sndfile_bytes(tone(48_000, 2.0, 2), 48_000, kind="MP3", subtype="MPEG_LAYER_III"),
        sndfile_bytes(LEFT, kind="RF64", subtype="PCM_24"),
        sndfile_bytes(LEFT, kind="AIFF"),
        av_bytes(tone(48_000, 2.0), 48_000, kind="mp4", codec="aac", video=True),
        av_bytes(tone(48_000, 2.0), 48_000, kind="matroska", codec="flac"),
        av_bytes(tone(48_000, 2.0), 48_000, kind="flac", codec="flac"),
        with_chunk(sndfile_bytes(LEFT), b"odd ", b"abc", is_padded=False),
    ],
    ids=["flac", "vorbis", "opus", "chain", "mp3", "rf64", "aiff", "mp4", "mkv", "streamed-flac", "unpadded"],
)  # fmt: skip
def test_every_container(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    assert_same(tmp_path / "a", tmp_path / "scratch")


def test_pieces_lie_on_whole_seconds_with_a_second_around(tmp_path):
    recording = as_recording(decode_clip(tmp_path, noise(duration_s=10.0)))
    clip, start_s = recording.around(Span(4.25, 6.5))
    assert (start_s, clip.duration_s) == (3.0, 5.0)
    clip, start_s = recording.around(Span(0.1, 9.9))
    assert (start_s, clip.num_samples) == (0.0, recording.num_samples)


def decode_clip(tmp_path, samples):
    (tmp_path / "clip.wav").write_bytes(sndfile_bytes(samples))
    return decode_file(tmp_path / "clip.wav")


def refusal(path, scratch, **options) -> str:
    with pytest.raises(AudioDecodeError) as caught, open_recording(path, scratch, **options):
        pass
    assert not scratch.exists()
    assert caught.value.where == str(path)
    return caught.value.what


class TestRefused:
    def test_a_file_that_changes_between_the_passes(self, tmp_path):
        """Neither its size nor its time tells."""
        path = tmp_path / "a.wav"
        path.write_bytes(sndfile_bytes(LEFT))
        times = path.stat()

        def change(at_s, of_s):
            content = bytearray(path.read_bytes())
            content[20_000] ^= 1
            with path.open("r+b") as file:
                file.write(content)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

        assert "changed while it was read" in refusal(path, tmp_path / "scratch", on_time=change)

    def test_a_file_that_grows(self, tmp_path):
        path = tmp_path / "a.mp3"
        path.write_bytes(sndfile_bytes(LEFT, kind="MP3", subtype="MPEG_LAYER_III"))

        def grow(at_s, of_s):
            with path.open("ab") as file:
                file.write(b"more")

        assert "changed while it was read" in refusal(path, tmp_path / "scratch", on_time=grow)

    def test_damage_in_the_middle_says_where(self, tmp_path):
        mp3 = bytearray(sndfile_bytes(noise(duration_s=8.0), kind="MP3", subtype="MPEG_LAYER_III"))
        middle = len(mp3) // 2
        mp3[middle : middle + 300] = b"\x55" * 300
        (tmp_path / "a.mp3").write_bytes(mp3)
        what = refusal(tmp_path / "a.mp3", tmp_path / "scratch")
        at_s = float(what.split("damaged ")[1].split(" s in")[0])
        assert at_s == pytest.approx(4.0, abs=0.3)

    @pytest.mark.parametrize("kind", ["WAV", "FLAC"])
    def test_a_cut_file(self, tmp_path, kind):
        content = sndfile_bytes(LEFT, kind=kind)
        (tmp_path / "a").write_bytes(content[: len(content) * 2 // 3])
        assert "truncated" in refusal(tmp_path / "a", tmp_path / "scratch")

    def test_no_audio(self, tmp_path):
        (tmp_path / "a.txt").write_text("hello, this is no audio")
        assert "is no audio file" in refusal(tmp_path / "a.txt", tmp_path / "scratch")

    def test_samples_that_are_none(self, tmp_path):
        samples = LEFT.copy()
        samples[20_000] = np.nan
        (tmp_path / "a.wav").write_bytes(sndfile_bytes(samples, subtype="FLOAT"))
        assert "the first at 1.250 s" in refusal(tmp_path / "a.wav", tmp_path / "scratch")
