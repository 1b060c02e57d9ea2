"""What decodes, exactly."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from audio_files import noise, sndfile_bytes, tone, with_chunk, with_data_size

from refprep.pipeline.decode import decode_file, narrowest_format, pcm_sha256
from refprep.types import Downmix, SampleFormat


def decode(tmp_path, content: bytes, name: str = "clip.wav", **limits):
    path = tmp_path / name
    path.write_bytes(content)
    return decode_file(path, **limits)


@pytest.mark.parametrize(
    ("subtype", "codec", "sample_format", "bits"),
    [("PCM_16", "pcm_s16le", SampleFormat.PCM_16, 16), ("PCM_24", "pcm_s24le", SampleFormat.PCM_24, 24)],
)
@pytest.mark.parametrize("kind", ["WAV", "FLAC", "RF64", "W64", "AIFF", "CAF"])
def test_integer_pcm_is_exact(tmp_path, subtype, codec, sample_format, bits, kind):
    integers = np.random.default_rng(1).integers(-(2 ** (bits - 1)), 2 ** (bits - 1), 5000)
    integers[:2] = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    content = sndfile_bytes((integers << (32 - bits)).astype(np.int32), kind=kind, subtype=subtype)
    clip = decode(tmp_path, content)
    np.testing.assert_array_equal(clip.samples.astype(np.float64) * 2 ** (bits - 1), integers)
    assert clip.source.sample_format is sample_format
    assert not clip.source.is_narrowed
    assert clip.source.codec == (
        "flac" if kind == "FLAC" else codec.replace("le", "be" if kind in ("AIFF", "CAF") else "le")
    ) or (kind == "CAF")


def test_float_is_exact_beyond_full_scale(tmp_path):
    samples = np.random.default_rng(2).standard_normal(4000).astype(np.float32) * 3
    clip = decode(tmp_path, sndfile_bytes(samples, 44_100, subtype="FLOAT"))
    np.testing.assert_array_equal(clip.samples, samples)
    assert clip.source.sample_format is SampleFormat.FLOAT
    assert clip.sample_rate_hz == 44_100
    assert not clip.samples.flags.writeable
    assert clip.samples.dtype == np.float32


@pytest.mark.parametrize(("subtype", "dtype"), [("PCM_32", np.int32), ("DOUBLE", np.float64)])
def test_wide_samples_say_whether_they_were_narrowed(tmp_path, subtype, dtype):
    coarse = noise()
    exact = (
        (coarse.astype(np.float64) * 2**31).astype(np.int32)
        if dtype is np.int32
        else coarse.astype(np.float64)
    )
    clip = decode(tmp_path, sndfile_bytes(exact, subtype=subtype))
    np.testing.assert_array_equal(clip.samples, coarse)
    assert not clip.source.is_narrowed
    assert clip.source.sample_format is SampleFormat.PCM_16
    fine = exact + (np.ones_like(exact) if dtype is np.int32 else 1e-12)
    narrowed = decode(tmp_path, sndfile_bytes(fine.astype(dtype), subtype=subtype))
    assert narrowed.source.is_narrowed


@pytest.mark.parametrize("subtype", ["PCM_U8", "ULAW", "ALAW", "IMA_ADPCM", "MS_ADPCM", "GSM610"])
def test_coarse_codecs_decode_to_sixteen_bits(tmp_path, subtype):
    signal = tone(8000, 0.5)
    clip = decode(tmp_path, sndfile_bytes(signal, 8000, subtype=subtype))
    assert clip.source.sample_format is SampleFormat.PCM_16
    assert np.corrcoef(clip.samples[: len(signal)], signal)[0, 1] > 0.97


def test_big_endian_riff(tmp_path):
    content = sndfile_bytes(noise(), endian="BIG")
    assert content[:4] == b"RIFX"
    np.testing.assert_array_equal(decode(tmp_path, content).samples, noise())


def test_streamed_wav_is_read_to_its_end(tmp_path):
    wav = sndfile_bytes(noise())
    for size in (0, 0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF024):
        clip = decode(tmp_path, with_data_size(wav, size))
        np.testing.assert_array_equal(clip.samples, noise())
        assert clip.source.declared_duration_s is None


@pytest.mark.parametrize("is_padded", [True, False])
def test_odd_chunks_before_the_data(tmp_path, is_padded):
    wav = with_chunk(sndfile_bytes(noise()), b"LIST", b"INFOodd", is_padded=is_padded)
    np.testing.assert_array_equal(decode(tmp_path, wav).samples, noise())


def test_chunks_behind_the_data_are_not_audio(tmp_path):
    wav = sndfile_bytes(noise()) + b"LIST\x04\0\0\0INFO"
    np.testing.assert_array_equal(decode(tmp_path, wav).samples, noise())


def test_the_hash_of_the_file_is_of_its_bytes(tmp_path):
    content = sndfile_bytes(noise())
    assert decode(tmp_path, content).source.file_sha256 == hashlib.sha256(content).hexdigest()


def test_the_same_audio_has_the_same_id_in_any_lossless_container(tmp_path):
    ids = {
        decode(tmp_path, sndfile_bytes(noise(), kind=f)).id
        for f in ("WAV", "FLAC", "AIFF", "W64", "RF64", "AU")
    }
    assert len(ids) == 1


@pytest.mark.parametrize(
    ("kind", "subtype"),
    [("WAV", "PCM_16"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("MP3", "MPEG_LAYER_III")],
)
def test_large_files_are_read_from_disk(tmp_path, monkeypatch, kind, subtype):
    content = sndfile_bytes(noise(), kind=kind, subtype=subtype)
    small = decode(tmp_path, content)
    monkeypatch.setattr("refprep.pipeline.decoding.source.IN_MEMORY_BYTES", 10)
    large = decode(tmp_path, content)
    assert (large.id, large.source) == (small.id, small.source)


class TestDownmix:
    def test_equal_channels_keep_the_first(self, tmp_path):
        clip = decode(tmp_path, sndfile_bytes(np.stack([noise()] * 3, axis=1)))
        np.testing.assert_array_equal(clip.samples, noise())
        assert clip.source.downmix is Downmix.IDENTICAL
        assert clip.source.num_channels == 3

    @pytest.mark.parametrize("live", [0, 1])
    def test_a_dead_channel_is_left_out(self, tmp_path, live):
        channels = np.zeros((16_000, 2), np.float32)
        channels[:, live] = noise()
        channels[::7, 1 - live] = 2.0**-15  # the dither of a converter
        clip = decode(tmp_path, sndfile_bytes(channels))
        np.testing.assert_array_equal(clip.samples, noise())
        assert clip.source.downmix is Downmix.LIVE_CHANNEL
        assert clip.source.channel_peaks[live] > 0.1

    def test_inverted_channels_do_not_cancel(self, tmp_path):
        clip = decode(tmp_path, sndfile_bytes(np.stack([noise(), -noise()], axis=1)))
        np.testing.assert_array_equal(clip.samples, noise())
        assert clip.source.downmix is Downmix.INVERTED
        assert clip.source.channel_correlation == pytest.approx(-1.0)

    def test_other_channels_are_averaged(self, tmp_path):
        left, right = noise(seed=1), noise(seed=2)
        clip = decode(tmp_path, sndfile_bytes(np.stack([left, right], axis=1)))
        np.testing.assert_array_equal(
            clip.samples, ((left.astype(np.float64) + right) / 2).astype(np.float32)
        )
        assert clip.source.downmix is Downmix.MEAN
        assert clip.source.sample_format is SampleFormat.PCM_24  # half a step of 16 bits

    def test_silence_in_both_channels(self, tmp_path):
        clip = decode(tmp_path, sndfile_bytes(np.zeros((800, 2), np.float32)))
        assert clip.source.downmix is Downmix.IDENTICAL
        assert not clip.samples.any()


class TestHash:
    def test_negative_zero_is_zero(self):
        assert pcm_sha256(np.array([0.0, 0.5], np.float32), 16_000) == pcm_sha256(
            np.array([-0.0, 0.5], np.float32), 16_000
        )

    def test_the_rate_counts(self):
        assert pcm_sha256(noise(), 16_000) != pcm_sha256(noise(), 22_050)

    def test_it_is_this_very_hash(self):
        expected = hashlib.sha256(b"refprep-pcm/1 f32le mono 16000\n" + b"\0\0\0\0\0\0\0\x3f").hexdigest()
        assert pcm_sha256(np.array([0.0, 0.5], np.float32), 16_000) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, "PCM_16"),
        (-1.0, "PCM_16"),
        (1.0, "FLOAT"),
        (2.0**-23, "PCM_24"),
        (2.0**-24, "FLOAT"),
        (1.5, "FLOAT"),
    ],
)
def test_narrowest_format(value, expected):
    assert narrowest_format(np.array([0.0, value], np.float32)) == expected
