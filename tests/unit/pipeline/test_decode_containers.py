"""Containers, found by what is in them."""

from __future__ import annotations

import numpy as np
import pytest
from audio_files import av_bytes, noise, sndfile_bytes, tone, with_xing_frames

from refprep.pipeline.decode import decode_file
from refprep.types import SampleFormat

RATE_HZ = 48_000

# name, libav kind, encoder, has video, container, codec, is lossless
AV_FILES = [
    ("a.m4a", "ipod", "aac", False, "mp4", "aac", False),
    ("a.mp4", "mp4", "aac", True, "mp4", "aac", False),
    ("a.mov", "mov", "pcm_s16le", True, "mov", "pcm_s16le", True),
    ("alac.m4a", "ipod", "alac", False, "mp4", "alac", False),
    ("a.webm", "webm", "libopus", False, "webm", "opus", False),
    ("a.mkv", "matroska", "flac", True, "mkv", "flac", True),
    ("pcm.mkv", "matroska", "pcm_s16le", False, "mkv", "pcm_s16le", True),
    ("a.avi", "avi", "pcm_s16le", True, "avi", "pcm_s16le", True),
    ("mp3.avi", "avi", "mp3", True, "avi", "mp3", False),
    ("a.aac", "adts", "aac", False, "aac", "aac", False),
    ("a.ts", "mpegts", "aac", True, "mpegts", "aac", False),
    ("a.flv", "flv", "aac", False, "flv", "aac", False),
    ("a.wv", "wv", "wavpack", False, "wavpack", "wavpack", False),
    ("a.tta", "tta", "tta", False, "tta", "tta", False),
    ("mp3.wav", "wav", "mp3", False, "wav", "mp3", False),
    ("flac.ogg", "ogg", "flac", False, "ogg", "flac", True),
]


@pytest.mark.parametrize(("name", "kind", "encoder", "video", "container", "codec", "lossless"), AV_FILES)
def test_every_container(tmp_path, name, kind, encoder, video, container, codec, lossless):
    signal = noise(RATE_HZ, 0.5) if lossless else tone(RATE_HZ, 0.5)
    path = tmp_path / name
    path.write_bytes(av_bytes(signal, RATE_HZ, kind=kind, codec=encoder, video=video))
    clip = decode_file(path)
    assert (clip.source.container, clip.source.codec) == (container, codec)
    assert not clip.source.extension_lies
    assert clip.sample_rate_hz == RATE_HZ
    if lossless:
        np.testing.assert_array_equal(clip.samples, signal)
        assert clip.source.sample_format is SampleFormat.PCM_16
    else:
        assert clip.duration_s == pytest.approx(0.5, abs=0.05)
        spectrum = np.abs(np.fft.rfft(clip.samples * np.hanning(clip.num_samples)))
        assert np.argmax(spectrum) / clip.duration_s == pytest.approx(440, abs=5)
    assert decode_file(path).id == clip.id


@pytest.mark.parametrize(
    ("kind", "subtype", "container", "codec"),
    [
        ("OGG", "VORBIS", "ogg", "vorbis"),
        ("OGG", "OPUS", "ogg", "opus"),
        ("MP3", "MPEG_LAYER_III", "mp3", "mp3"),
        ("FLAC", "PCM_16", "flac", "flac"),
        ("AU", "PCM_16", "au", "pcm_s16be"),
        ("NIST", "PCM_16", "nist", "pcm_s16le"),
    ],
)
def test_the_name_does_not_matter(tmp_path, kind, subtype, container, codec):
    path = tmp_path / "reference.wav"
    path.write_bytes(sndfile_bytes(tone(RATE_HZ), RATE_HZ, kind=kind, subtype=subtype))
    source = decode_file(path).source
    assert (source.container, source.codec, source.extension_lies) == (container, codec, True)
    assert source.decoded_duration_s == pytest.approx(1.0, abs=0.03)
    assert not decode_file(path.rename(tmp_path / "reference")).source.extension_lies


def test_opus_has_one_rate_in_every_container(tmp_path):
    path = tmp_path / "a.opus"
    path.write_bytes(sndfile_bytes(tone(16_000), 16_000, kind="OGG", subtype="OPUS"))
    assert decode_file(path).sample_rate_hz == 48_000


@pytest.mark.parametrize("num_frames", [20, 2000])
def test_an_mp3_header_that_lies_changes_nothing_but_the_claim(tmp_path, num_frames):
    """A public reference called .wav is an MP3 whose header claims 40 s; 15 s decode."""
    mp3 = sndfile_bytes(tone(24_000, 3.0), 24_000, kind="MP3", subtype="MPEG_LAYER_III")
    path = tmp_path / "voice.wav"
    path.write_bytes(with_xing_frames(mp3, num_frames))
    source = decode_file(path).source
    assert source.declared_duration_s == pytest.approx(num_frames * 576 / 24_000)
    assert source.decoded_duration_s == pytest.approx(3.0, abs=0.1)
    assert source.extension_lies


@pytest.mark.parametrize("tag_bytes", [10, 100_000])
@pytest.mark.parametrize(("kind", "subtype"), [("FLAC", "PCM_16"), ("MP3", "MPEG_LAYER_III")])
def test_tags_before_the_audio(tmp_path, kind, subtype, tag_bytes):
    size = bytes((tag_bytes >> shift) & 0x7F for shift in (21, 14, 7, 0))
    content = sndfile_bytes(noise(), kind=kind, subtype=subtype)
    path = tmp_path / "tagged"
    path.write_bytes(content)
    plain = decode_file(path)
    path.write_bytes(b"ID3\x03\x00\x00" + size + b"\0" * tag_bytes + content)
    tagged = decode_file(path)
    assert tagged.id == plain.id
    assert tagged.source.container == kind.lower()
    assert tagged.source.declared_duration_s == plain.source.declared_duration_s


@pytest.mark.parametrize("subtype", ["VORBIS", "OPUS"])
def test_chained_ogg_is_decoded_to_its_end(tmp_path, subtype):
    link = sndfile_bytes(tone(RATE_HZ), RATE_HZ, kind="OGG", subtype=subtype)
    path = tmp_path / "radio.ogg"
    path.write_bytes(link)
    single = decode_file(path)
    path.write_bytes(link * 3)
    chained = decode_file(path)
    np.testing.assert_array_equal(chained.samples, np.tile(single.samples, 3))


def test_flac_of_unknown_length(tmp_path):
    """What an encoder writes to a pipe: no number of samples, no MD5."""
    flac = bytearray(sndfile_bytes(noise(), kind="FLAC"))
    flac[21] &= 0xF0
    flac[22:42] = bytes(20)
    path = tmp_path / "piped.flac"
    path.write_bytes(flac)
    clip = decode_file(path)
    np.testing.assert_array_equal(clip.samples, noise())
    assert clip.source.declared_duration_s is None
