"""Every way in which a file is refused, each with a message of its own."""

from __future__ import annotations

import io
import os
import socket
import zipfile

import numpy as np
import pytest
from audio_files import av_bytes, noise, sndfile_bytes, tone, with_data_size

from refprep.errors import AudioDecodeError
from refprep.pipeline.decode import decode_file


def refusal(path, **limits) -> AudioDecodeError:
    with pytest.raises(AudioDecodeError) as caught:
        decode_file(path, **limits)
    assert caught.value.where == str(path)
    assert caught.value.fix
    return caught.value


def refusal_of(tmp_path, content: bytes, name: str = "clip.wav", **limits) -> str:
    path = tmp_path / name
    path.write_bytes(content)
    return refusal(path, **limits).what


class TestFiles:
    def test_missing(self, tmp_path):
        assert refusal(tmp_path / "none.wav").what == "no such file"

    def test_dangling_link(self, tmp_path):
        (tmp_path / "link.wav").symlink_to(tmp_path / "gone.wav")
        assert "link to a file that does not exist" in refusal(tmp_path / "link.wav").what

    def test_folder(self, tmp_path):
        assert refusal(tmp_path).what == "is a folder"

    def test_a_file_as_folder(self, tmp_path):
        (tmp_path / "a.wav").write_bytes(b"x")
        assert "a file, not a folder" in refusal(tmp_path / "a.wav" / "b.wav").what

    @pytest.mark.timeout(10)
    def test_pipe_never_blocks(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.wav")
        assert "named pipe" in refusal(tmp_path / "pipe.wav").what

    def test_socket(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)  # the path of a socket is limited to 108 bytes
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("s.wav")
            assert refusal("s.wav").what == "is a socket"

    def test_device(self):
        assert refusal("/dev/zero").what == "is a device"

    def test_no_permission(self, tmp_path, monkeypatch):
        (tmp_path / "a.wav").write_bytes(sndfile_bytes(noise()))

        def denied(*_):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("refprep.pipeline.decoding.source.os.open", denied)  # root may read anything
        assert refusal(tmp_path / "a.wav").what == "no permission to read it"

    def test_broken_disk(self, tmp_path, monkeypatch):
        (tmp_path / "a.wav").write_bytes(sndfile_bytes(noise()))

        def broken(*_):
            raise OSError(5, "Input/output error")

        monkeypatch.setattr("refprep.pipeline.decoding.source.os.open", broken)
        assert "Input/output error" in refusal(tmp_path / "a.wav").what

    def test_nul_in_the_name(self):
        with pytest.raises(AudioDecodeError, match="is no path"):
            decode_file("a\0.wav")

    def test_empty(self, tmp_path):
        assert "empty" in refusal_of(tmp_path, b"")

    def test_changed_while_read(self, tmp_path, monkeypatch):
        path = tmp_path / "a.wav"
        path.write_bytes(sndfile_bytes(noise()))
        real_read = __import__("refprep.pipeline.decoding.source", fromlist=["_read"])._read

        def grow(*arguments):
            source = real_read(*arguments)
            with path.open("ab") as more:
                more.write(b"more")
            return source

        monkeypatch.setattr("refprep.pipeline.decoding.source._read", grow)
        assert "changed while it was read" in refusal(path).what


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "hello")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"hello, this is no audio at all\n", "plain text"),
        ("Größe, 音声".encode(), "plain text"),
        ("hello".encode("utf-16"), "plain text"),
        (zipped(), "zip archive"),
        (b"<!DOCTYPE html><html>404</html>", "HTML page"),
        (b'<?xml version="1.0"?><a/>', "XML document"),
        (b'{"error": "not found"}', "JSON text"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "PNG image"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "JPEG image"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "WebP image"),
        (b"%PDF-1.7", "PDF document"),
        (b"MThd\0\0\0\x06", "MIDI file"),
        (b"\x93NUMPY\x01\0", "NumPy array"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS pointer"),
        (b"#EXTM3U\nfile:///etc/passwd\n", "playlist"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "plain text"),
        (bytes(5000), "zero bytes"),
        (bytes([1, 2, 3, 250, 251]) * 100, "binary data"),
        (b"RIFF", "binary data|plain text"),
    ],
)
def test_no_audio_says_what_it_looks_like(tmp_path, content, kind):
    what = refusal_of(tmp_path, content)
    assert "is no audio file" in what
    assert any(k in what for k in kind.split("|"))


def test_tag_without_audio(tmp_path):
    assert "ID3 tag without any audio" in refusal_of(tmp_path, b"ID3\x03\0\0\0\0\0\x0a" + bytes(10))


def test_video_without_audio(tmp_path):
    content = av_bytes(None, 0, kind="mp4", codec=None, video=True)
    assert refusal_of(tmp_path, content, "film.mp4") == "a video without an audio stream"


class TestTruncated:
    def test_wav_says_how_much_is_left(self, tmp_path):
        wav = sndfile_bytes(noise(duration_s=2.0))
        what = refusal_of(tmp_path, wav[: len(wav) // 2])
        assert "declares 2.000 s" in what
        assert "0.999 s are present" in what

    def test_one_missing_sample_is_enough(self, tmp_path):
        assert "truncated" in refusal_of(tmp_path, sndfile_bytes(noise())[:-2])

    def test_header_alone(self, tmp_path):
        assert "without a data chunk" in refusal_of(tmp_path, sndfile_bytes(noise())[:36])

    def test_data_without_fmt(self, tmp_path):
        assert "without a fmt chunk" in refusal_of(tmp_path, b"RIFF\x10\0\0\0WAVEdata\x04\0\0\0abcd")

    def test_flac_says_how_much_is_left(self, tmp_path):
        flac = sndfile_bytes(noise(duration_s=2.0), kind="FLAC")
        what = refusal_of(tmp_path, flac[: len(flac) // 2])
        assert "truncated" in what
        assert "declares 2.000 s" in what

    def test_flac_header(self, tmp_path):
        assert "truncated within its header" in refusal_of(tmp_path, sndfile_bytes(noise(), kind="FLAC")[:30])

    @pytest.mark.parametrize("subtype", ["VORBIS", "OPUS"])
    def test_ogg(self, tmp_path, subtype):
        ogg = sndfile_bytes(tone(48_000, 3.0), 48_000, kind="OGG", subtype=subtype)
        assert "truncated" in refusal_of(tmp_path, ogg[: len(ogg) * 2 // 3])

    @pytest.mark.parametrize(
        ("kind", "codec"),
        [("mp4", "aac"), ("mov", "aac"), ("matroska", "flac"), ("webm", "libopus"), ("avi", "mp3")],
    )
    def test_boxes(self, tmp_path, kind, codec):
        content = av_bytes(tone(48_000), 48_000, kind=kind, codec=codec)
        assert "truncated" in refusal_of(tmp_path, content[: len(content) // 2])

    def test_mp4_without_its_index(self, tmp_path):
        content = av_bytes(tone(48_000), 48_000, kind="mp4", codec="aac")
        assert "index (moov) is missing" in refusal_of(tmp_path, content[: content.index(b"moov") - 4])

    @pytest.mark.parametrize("kind", ["AIFF", "W64", "AU", "RF64"])
    def test_other_pcm(self, tmp_path, kind):
        content = sndfile_bytes(noise(), kind=kind)
        assert "truncated" in refusal_of(tmp_path, content[: len(content) // 2])


class TestDamaged:
    @pytest.mark.parametrize("has_md5", [True, False])
    def test_flac(self, tmp_path, has_md5):
        flac = bytearray(sndfile_bytes(noise(duration_s=3.0), kind="FLAC"))
        middle = len(flac) // 2
        flac[middle : middle + 20] = b"\x55" * 20
        if not has_md5:
            flac[26:42] = bytes(16)
        what = refusal_of(tmp_path, bytes(flac))
        assert "damaged" in what or "decoding failed" in what

    def test_flac_with_another_sample(self, tmp_path):
        """One bit of the MD5 stands for any wrong sample that still decodes."""
        flac = bytearray(sndfile_bytes(noise(), kind="FLAC"))
        flac[26] ^= 1
        assert "not what was encoded" in refusal_of(tmp_path, bytes(flac))

    @pytest.mark.parametrize("subtype", ["VORBIS", "OPUS"])
    def test_ogg(self, tmp_path, subtype):
        ogg = bytearray(sndfile_bytes(tone(48_000, 3.0), 48_000, kind="OGG", subtype=subtype))
        ogg[len(ogg) // 2] ^= 0xFF
        assert "damaged" in refusal_of(tmp_path, bytes(ogg))

    def test_mp3(self, tmp_path):
        mp3 = bytearray(sndfile_bytes(noise(duration_s=3.0), kind="MP3", subtype="MPEG_LAYER_III"))
        middle = len(mp3) // 2
        mp3[middle : middle + 200] = b"\x55" * 200
        assert "damaged" in refusal_of(tmp_path, bytes(mp3))

    def test_foreign_errors_stay_the_cause(self, tmp_path):
        path = tmp_path / "a.mp4"
        path.write_bytes(b"\0\0\0\x10ftypisom" + bytes(200))
        assert refusal(path).__cause__ is not None


class TestSamples:
    def test_none_at_all(self, tmp_path):
        assert "no samples" in refusal_of(tmp_path, sndfile_bytes(np.zeros(0, np.float32)))

    def test_none_but_a_chunk_behind(self, tmp_path):
        content = sndfile_bytes(np.zeros(0, np.float32)) + b"LIST\x04\0\0\0INFO"
        assert "no samples" in refusal_of(tmp_path, with_data_size(content, 0))

    @pytest.mark.parametrize(
        ("value", "kind"), [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")]
    )
    @pytest.mark.parametrize("subtype", ["FLOAT", "DOUBLE"])
    def test_not_finite(self, tmp_path, value, kind, subtype):
        samples = noise()
        samples[8000] = value
        what = refusal_of(tmp_path, sndfile_bytes(samples, subtype=subtype))
        assert kind in what
        assert "1 of 16000 samples" in what
        assert "at 0.500 s" in what

    @pytest.mark.parametrize("value", [5e26, -5e26])
    def test_bytes_that_are_no_samples(self, tmp_path, value):
        content = sndfile_bytes(np.array([0.0, value], np.float32), subtype="FLOAT")
        assert "1 of 2 samples are beyond any level of sound" in refusal_of(tmp_path, content)

    def test_floats_scaled_as_integers_are_samples(self, tmp_path):
        (tmp_path / "a.wav").write_bytes(
            sndfile_bytes(np.array([0.0, -(2.0**31)], np.float32), subtype="FLOAT")
        )
        assert decode_file(tmp_path / "a.wav").samples[1] == -(2.0**31)

    @pytest.mark.parametrize("rate_hz", [1, 999, 768_001, 746_594_113])
    def test_a_rate_of_no_audio_is_refused_before_resampling_takes_all_memory(self, tmp_path, rate_hz):
        content = bytearray(sndfile_bytes(np.zeros(1600, np.float32)))
        at = content.index(b"fmt ") + 12
        content[at : at + 4] = rate_hz.to_bytes(4, "little")
        assert f"{rate_hz} samples a second are no sample rate" in refusal_of(tmp_path, bytes(content))

    def test_beyond_float32(self, tmp_path):
        assert "infinite" in refusal_of(tmp_path, sndfile_bytes(np.array([0.0, 1e300]), subtype="DOUBLE"))

    def test_silence_is_no_error(self, tmp_path):
        (tmp_path / "a.wav").write_bytes(sndfile_bytes(np.zeros(1600, np.float32)))
        assert decode_file(tmp_path / "a.wav").num_samples == 1600


class TestLimits:
    @pytest.mark.parametrize(
        ("kind", "subtype"),
        [("WAV", "PCM_16"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("MP3", "MPEG_LAYER_III")],
    )
    def test_too_long(self, tmp_path, kind, subtype):
        content = sndfile_bytes(noise(duration_s=3.0), kind=kind, subtype=subtype)
        path = tmp_path / "long"
        path.write_bytes(content)
        error = refusal(path, max_duration_s=1.0)
        assert "over the limit of 1 s (max_duration_s)" in error.what
        assert "refprep split" in error.fix

    def test_a_chain_is_too_long_together(self, tmp_path):
        link = sndfile_bytes(noise(duration_s=1.0), kind="OGG", subtype="VORBIS")
        assert "over the limit of 2 s" in refusal_of(tmp_path, link * 3, max_duration_s=2.0)

    def test_a_lying_header_is_not_believed(self, tmp_path):
        from audio_files import with_xing_frames

        mp3 = with_xing_frames(sndfile_bytes(noise(), kind="MP3", subtype="MPEG_LAYER_III"), 10**6)
        (tmp_path / "a.mp3").write_bytes(mp3)
        assert decode_file(tmp_path / "a.mp3", max_duration_s=2.0).duration_s == pytest.approx(1.0, abs=0.1)

    def test_too_large(self, tmp_path):
        what = refusal_of(tmp_path, sndfile_bytes(noise()), max_bytes=1000)
        assert "max_bytes" in what
