"""What holds for any audio."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile
from audio_files import av_bytes, noise, sndfile_bytes, tone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from refprep.errors import AudioDecodeError
from refprep.pipeline.decode import decode_file, pcm_sha256
from refprep.types import Downmix

ANY_FILE = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@ANY_FILE
@given(
    seed=st.integers(0, 2**32),
    num_samples=st.integers(1, 3000),
    num_channels=st.integers(1, 6),
    rate_hz=st.sampled_from([8000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000, 192_000, 12_345]),
    stored=st.sampled_from(["PCM_16", "PCM_24", "FLOAT"]),
    kind=st.sampled_from(["WAV", "FLAC", "RF64", "W64", "CAF"]),
)
def test_stored_samples_come_back_bit_for_bit(
    tmp_path, seed, num_samples, num_channels, rate_hz, stored, kind
):
    if stored == "FLOAT" and kind == "FLAC":
        kind = "WAV"
    rng = np.random.default_rng(seed)
    if stored == "FLOAT":
        channels = rng.standard_normal((num_samples, num_channels)).astype(np.float32)
    else:
        bits = int(stored[4:])
        integers = rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), (num_samples, num_channels))
        channels = (integers / 2.0 ** (bits - 1)).astype(np.float32)
    buffer = io.BytesIO()
    raw = channels if stored == "FLOAT" else (channels.astype(np.float64) * 2**31).astype(np.int32)
    soundfile.write(buffer, raw, rate_hz, format=kind, subtype=stored)
    path = tmp_path / "clip"
    path.write_bytes(buffer.getvalue())
    clip = decode_file(path)
    assert (clip.sample_rate_hz, clip.num_samples, clip.source.num_channels) == (
        rate_hz,
        num_samples,
        num_channels,
    )
    assert decode_file(path).id == clip.id
    if clip.source.downmix is Downmix.MEAN:
        np.testing.assert_array_equal(
            clip.samples, channels.astype(np.float64).mean(axis=1).astype(np.float32)
        )
    else:
        assert any(np.array_equal(clip.samples, channels[:, c]) for c in range(num_channels))


@given(
    seed=st.integers(0, 2**32),
    num_samples=st.integers(1, 200),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_the_hash_changes_with_any_sample(seed, num_samples, data):
    samples = np.random.default_rng(seed).standard_normal(num_samples).astype(np.float32)
    index = data.draw(st.integers(0, num_samples - 1))
    other = samples.copy()
    other[index] = np.nextafter(other[index], np.float32(np.inf))
    assert pcm_sha256(samples, 16_000) != pcm_sha256(other, 16_000)
    assert pcm_sha256(samples, 16_000) != pcm_sha256(np.append(samples, np.float32(0)), 16_000)


def made() -> dict[str, bytes]:
    files = {
        f"{kind}-{subtype}": sndfile_bytes(noise(duration_s=0.3), kind=kind, subtype=subtype)
        for kind, subtype in (
            ("WAV", "PCM_16"),
            ("WAV", "IMA_ADPCM"),
            ("RF64", "PCM_24"),
            ("FLAC", "PCM_16"),
            ("OGG", "VORBIS"),
            ("MP3", "MPEG_LAYER_III"),
            ("AIFF", "PCM_16"),
            ("CAF", "PCM_16"),
        )
    }
    for kind, codec in (
        ("mp4", "aac"),
        ("matroska", "flac"),
        ("adts", "aac"),
        ("avi", "mp3"),
        ("flv", "aac"),
    ):
        files[f"{kind}-{codec}"] = av_bytes(tone(48_000, 0.3), 48_000, kind=kind, codec=codec)
    return files


FILES = made()


@ANY_FILE
@pytest.mark.parametrize("kind", sorted(FILES))
@example(seed=626)  # a WAV whose header then claims 64-bit integers
@given(seed=st.integers(0, 2**32))
def test_any_damage_is_decoded_or_refused(tmp_path, kind, seed):
    """Never another exception: whatever the bytes, the user is told about the file."""
    rng = np.random.default_rng(seed)
    content = bytearray(FILES[kind])
    if rng.random() < 0.3:
        content = content[: rng.integers(1, len(content))]
    for _ in range(rng.integers(1, 20)):
        where = len(content) if rng.random() < 0.5 else min(len(content), 120)
        content[rng.integers(0, where)] = rng.integers(0, 256)
    path = tmp_path / "damaged"
    path.write_bytes(bytes(content))
    try:
        clip = decode_file(path, max_duration_s=60.0)
    except AudioDecodeError:
        return
    assert clip.num_samples > 0
    assert np.isfinite(clip.samples).all()
